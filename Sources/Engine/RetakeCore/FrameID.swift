/// Identifies a frame by its track and its rank on that track.
///
/// `sequence` counts per track at the source, including frames that are known to be lost. It is
/// fixed when a session is imported or recorded.
public struct FrameID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// The number of the track in its session; in an imported session, the stream's number in the
  /// file.
  public var track: Int
  /// Counts from 0 on each track; frames that are known to be lost have a number, too.
  public var sequence: Int

  /// Readers, sources and live sessions assign IDs. Create one to request a frame, or in a test.
  public init(track: Int, sequence: Int) {
    self.track = track
    self.sequence = sequence
  }

  /// Orders frames by track, then by sequence.
  public static func < (left: FrameID, right: FrameID) -> Bool {
    (left.track, left.sequence) < (right.track, right.sequence)
  }

  /// `"0:12"`.
  public var description: String { "\(track):\(sequence)" }
}
