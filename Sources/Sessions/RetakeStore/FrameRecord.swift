package import RetakeCore

/// One captured frame of a track, in presentation order.
package struct FrameRecord: StoredRow {
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

  package var track = 0
  package var sequence = 0
  package var pts: Int64?
  /// Not shifted.
  package var ptsNanoseconds: Int64 = 0
  package var arrivalNanoseconds: Int64 = 0
  /// The packet that contains the frame; nil when its pixels were shed.
  package var packet: Int?
  /// The packet from which decoding reproduces this frame's exact pixels.
  package var entry: Int?
  /// XXH3-128 of the visible bytes.
  package var pixelHash: Digest128?
  /// A stable code: why the frame has no pixels, or why they cannot be trusted.
  package var cause: String?
  package var assumed = Assumed()
  /// The picture's number among the pictures of its packet. Most packets have one picture, with
  /// number 0. A picture that is shown again gets the next number of its packet.
  package var shown = 0

  package init() {}

  package init(
    track: Int, sequence: Int, pts: Int64?, ptsNanoseconds: Int64, arrivalNanoseconds: Int64,
    packet: Int?, entry: Int? = nil, pixelHash: Digest128? = nil, cause: String? = nil,
    assumed: Assumed = [], shown: Int = 0
  ) {
    (self.track, self.sequence, self.pts) = (track, sequence, pts)
    (self.ptsNanoseconds, self.arrivalNanoseconds) = (ptsNanoseconds, arrivalNanoseconds)
    (self.packet, self.entry, self.pixelHash, self.cause) = (packet, entry, pixelHash, cause)
    (self.assumed, self.shown) = (assumed, shown)
  }

  package static let table = Schema.Table(
    "frame", keyCount: 2, of: FrameRecord(),
    references: [
      "FOREIGN KEY (\"track\", \"packet\") REFERENCES packet (\"track\", \"index\")",
      "FOREIGN KEY (\"track\", \"entry\") REFERENCES packet (\"track\", \"index\")",
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("track", &track, "$ >= 0")
    try row.column("sequence", &sequence, "$ >= 0")
    try row.column("pts", &pts)
    try row.time("pts_ns", &ptsNanoseconds)
    try row.time("arrival_ns", &arrivalNanoseconds)
    try row.column("packet", &packet)
    try row.column("entry", &entry, "$ <= \"packet\"")
    try row.column("pixel_hash", &pixelHash, "length($) = 16")
    try row.column("cause", &cause, "$ <> ''") { try $0.ifAny { try $0.code() } }
    try row.column("assumed", &assumed.rawValue, "$ BETWEEN 0 AND 255") { try $0.int(in: 0...255) }
    let id = FrameID(track: track, sequence: sequence)
    try row.column("shown", &shown, "$ >= 0", since: Schema.firstVersionWithShown) {
      try $0.shown(of: id)
    }
  }
}
