package import RetakeCore

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
