package import RetakeCore

/// One packet of a track, in decode order.
package struct PacketRecord: Hashable, Sendable {
  package struct Flags: OptionSet, Hashable, Sendable {
    package var rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let key = Flags(rawValue: 1)
    package static let discard = Flags(rawValue: 2)
    package static let corrupt = Flags(rawValue: 4)
  }

  package var track: Int
  /// The packet's number in its track, over all segments of the session.
  package var index: Int
  package var segment: Int
  /// The packet's number among the track's packets in the segment's media file, in demuxer order.
  package var ordinal: Int
  /// In the track's time base.
  package var pts: Int64?
  package var dts: Int64?
  package var duration: Int64
  package var flags: Flags
  /// Size in bytes.
  package var size: Int
  /// Digest of the packet's bytes.
  package var digest: Digest128
  /// Set only if the packet's bytes are at this offset in the media file, unchanged.
  package var offset: Int64?
  package var sideData: [UInt8]?

  package init(
    track: Int, index: Int, segment: Int, ordinal: Int, pts: Int64?, dts: Int64?,
    duration: Int64, flags: Flags, size: Int, digest: Digest128, offset: Int64? = nil,
    sideData: [UInt8]? = nil
  ) {
    self.track = track
    self.index = index
    self.segment = segment
    self.ordinal = ordinal
    self.pts = pts
    self.dts = dts
    self.duration = duration
    self.flags = flags
    self.size = size
    self.digest = digest
    self.offset = offset
    self.sideData = sideData
  }
}
