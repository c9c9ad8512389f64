package import RetakeCore

/// One captured frame of a track, in presentation order.
package struct FrameRecord: Hashable, Sendable {
  /// Values that were missing or irregular in the file, and were assumed.
  package struct Assumed: OptionSet, Hashable, Sendable {
    package var rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    /// No pts: the decoder's best-effort timestamp is used.
    package static let ptsBestEffort = Assumed(rawValue: 1)
    /// No pts: the previous time plus one duration is used.
    package static let ptsFromDuration = Assumed(rawValue: 2)
    /// Imported: the arrival equals the pts.
    package static let arrival = Assumed(rawValue: 4)
    /// Another frame of the track has the same pts.
    package static let ptsDuplicate = Assumed(rawValue: 8)
    /// The decoder returned this frame after one with a later pts.
    package static let ptsBackwards = Assumed(rawValue: 16)
    /// The times were moved onto the clock of another camera: `session join`.
    package static let moved = Assumed(rawValue: 32)
  }

  package var track: Int
  package var sequence: Int
  package var pts: Int64?
  /// Not shifted.
  package var ptsNanoseconds: Int64
  package var arrivalNanoseconds: Int64
  /// The packet that contains the frame; nil when its pixels were shed.
  package var packet: Int?
  /// The packet from which decoding reproduces this frame's exact pixels.
  package var entry: Int?
  /// XXH3-128 of the visible bytes.
  package var pixelHash: Digest128?
  /// A stable code: why the frame has no pixels, or why they cannot be trusted.
  package var cause: String?
  package var assumed: Assumed
  /// The picture's number among the pictures of its packet. Most packets have one picture, with
  /// number 0. A picture that is shown again gets the next number of its packet.
  package var shown: Int

  package init(
    track: Int, sequence: Int, pts: Int64?, ptsNanoseconds: Int64, arrivalNanoseconds: Int64,
    packet: Int?, entry: Int? = nil, pixelHash: Digest128? = nil, cause: String? = nil,
    assumed: Assumed = [], shown: Int = 0
  ) {
    self.track = track
    self.sequence = sequence
    self.pts = pts
    self.ptsNanoseconds = ptsNanoseconds
    self.arrivalNanoseconds = arrivalNanoseconds
    self.packet = packet
    self.entry = entry
    self.pixelHash = pixelHash
    self.cause = cause
    self.assumed = assumed
    self.shown = shown
  }
}
