/// Identifies a frame by its track and its rank on that track.
///
/// `sequence` counts per track at the source, including frames that are known to be lost. It is
/// fixed when a session is imported or recorded.
public struct FrameID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public var track: Int
  public var sequence: Int

  public init(track: Int, sequence: Int) {
    self.track = track
    self.sequence = sequence
  }

  public static func < (left: FrameID, right: FrameID) -> Bool {
    (left.track, left.sequence) < (right.track, right.sequence)
  }

  /// `"0:12"`.
  public var description: String { "\(track):\(sequence)" }
}
