package import RetakeCore

/// One packet of a track, in decode order.
package struct PacketRecord: StoredRow {
  package struct Flags: OptionSet, Hashable, Sendable {
    package var rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let key = Flags(rawValue: 1)
    package static let discard = Flags(rawValue: 2)
    package static let corrupt = Flags(rawValue: 4)
  }

  package var track = 0
  /// The packet's number in its track, over all segments of the session.
  package var index = 0
  package var segment = 0
  /// The packet's number among the track's packets in the segment's media file, in demuxer order.
  package var ordinal = 0
  /// In the track's time base.
  package var pts: Int64?
  package var dts: Int64?
  package var duration: Int64 = 0
  package var flags = Flags()
  /// Size in bytes.
  package var size = 0
  /// Digest of the packet's bytes.
  package var digest = Digest128.zero
  /// Set only if the packet's bytes are at this offset in the media file, unchanged.
  package var offset: Int64?
  package var sideData: [UInt8]?

  package init() {}

  package init(
    track: Int, index: Int, segment: Int, ordinal: Int, pts: Int64?, dts: Int64?,
    duration: Int64, flags: Flags, size: Int, digest: Digest128, offset: Int64? = nil,
    sideData: [UInt8]? = nil
  ) {
    (self.track, self.index, self.segment, self.ordinal) = (track, index, segment, ordinal)
    (self.pts, self.dts, self.duration, self.flags, self.size) = (pts, dts, duration, flags, size)
    (self.digest, self.offset, self.sideData) = (digest, offset, sideData)
  }

  package static let table = Schema.Table(
    "packet", keyCount: 2, of: PacketRecord(),
    references: [
      "FOREIGN KEY (\"segment\", \"track\") REFERENCES segment_track (\"segment\", \"track\")"
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("track", &track, "$ >= 0")
    try row.column("index", &index, "$ >= 0")
    try row.column("segment", &segment)
    try row.column("ordinal", &ordinal, "$ >= 0")
    try row.column("pts", &pts)
    try row.column("dts", &dts)
    try row.column("duration", &duration)
    try row.column("flags", &flags.rawValue, "$ BETWEEN 0 AND 7") { try $0.int(in: 0...7) }
    try row.column("size", &size, "$ >= 0") { try $0.int(in: 0...Self.sizeMax) }
    try row.column("digest", &digest, "length($) = 16")
    try row.column("offset", &offset, "$ >= 0") { try $0.ifAny { Int64(try $0.count()) } }
    try row.column("side_data", &sideData)
  }

  /// FFmpeg uses 32 bits for a packet's size, and adds 64 bytes of padding.
  private static let sizeMax = Int64(Int32.max) - 64
}
