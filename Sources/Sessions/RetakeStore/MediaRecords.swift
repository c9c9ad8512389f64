package import RetakeCore

/// A stretch of the recording with one set of codec parameters in one media file.
///
/// Segments of one file follow each other: if a track's size or codec changes within a file, a new
/// segment of the same file begins.
package struct SegmentRecord: Hashable, Sendable {
  package var index: Int
  /// Relative to the session's folder, with forward slashes.
  package var file: String
  package var startedNanoseconds: Int64
  package var isClosed: Bool
  /// Bytes of the media file that belong to committed packets; the file's size once closed.
  package var bytes: Int64
  /// Why the segment begins: nil for the first.
  package var reason: String?

  /// The segment before was long enough, and nothing is lost between the two.
  package static let limitReason = "limit"

  package init(
    index: Int, file: String, startedNanoseconds: Int64 = 0, isClosed: Bool, bytes: Int64,
    reason: String? = nil
  ) {
    self.index = index
    self.file = file
    self.startedNanoseconds = startedNanoseconds
    self.isClosed = isClosed
    self.bytes = bytes
    self.reason = reason
  }
}

/// The description of a track within a segment.
package struct SegmentTrackRecord: Hashable, Sendable {
  package var segment: Int
  package var track: Int
  /// Index of the stream in the media file.
  package var streamIndex: Int
  /// `MediaStream.storedCodec`: `"h264"`.
  package var codec: String
  package var profile: Int?
  package var extradata: [UInt8]?
  package var width: Int
  package var height: Int
  /// FFmpeg's name: `"yuv420p"`.
  package var pixelFormat: String
  /// `"limited"` or `"full"`; nil when the stream does not specify it, and limited is assumed.
  package var range: String?
  /// As in `ColorMatrix`; nil when the stream does not specify it, and it is assumed from the
  /// height.
  package var matrix: String?
  /// Clockwise: 0, 90, 180 or 270.
  package var rotationDegrees: Int
  package var aspectNumerator: Int
  package var aspectDenominator: Int
  package var timeBase: TimeBase
  /// Number of frames that the decoder delays.
  package var delay: Int

  package init(
    segment: Int, track: Int, streamIndex: Int, codec: String, profile: Int? = nil,
    extradata: [UInt8]? = nil, width: Int, height: Int, pixelFormat: String, range: String? = nil,
    matrix: String? = nil, rotationDegrees: Int = 0, aspectNumerator: Int = 1,
    aspectDenominator: Int = 1, timeBase: TimeBase, delay: Int = 0
  ) {
    self.segment = segment
    self.track = track
    self.streamIndex = streamIndex
    self.codec = codec
    self.profile = profile
    self.extradata = extradata
    self.width = width
    self.height = height
    self.pixelFormat = pixelFormat
    self.range = range
    self.matrix = matrix
    self.rotationDegrees = rotationDegrees
    self.aspectNumerator = aspectNumerator
    self.aspectDenominator = aspectDenominator
    self.timeBase = timeBase
    self.delay = delay
  }
}

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
  /// The packet's number in the whole session, per track.
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
  /// The picture's number among those that its packet gives. Most packets give one, with number 0.
  /// A picture that is shown again gets the next number of its packet.
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
