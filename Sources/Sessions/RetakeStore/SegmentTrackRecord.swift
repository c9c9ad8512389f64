package import RetakeCore

/// The description of a track within a segment.
package struct SegmentTrackRecord: StoredRow {
  package var segment = 0
  package var track = 0
  /// Index of the stream in the media file.
  package var streamIndex = 0
  /// `MediaStream.storedCodec`: `"h264"`.
  package var codec = ""
  package var profile: Int?
  package var extradata: [UInt8]?
  package var width = 1
  package var height = 1
  /// FFmpeg's name: `"yuv420p"`.
  package var pixelFormat = ""
  /// `"limited"` or `"full"`; nil when the stream does not specify it, and limited is assumed.
  package var range: String?
  /// As in `ColorMatrix`; nil when the stream does not specify it, and it is assumed from the
  /// height.
  package var matrix: String?
  /// Clockwise: 0, 90, 180 or 270.
  package var rotationDegrees = 0
  package var aspectNumerator = 1
  package var aspectDenominator = 1
  package var timeBase = TimeBase(1, 1)
  /// Number of frames that the decoder delays.
  package var delay = 0

  package init() {}

  package init(
    segment: Int, track: Int, streamIndex: Int, codec: String, profile: Int? = nil,
    extradata: [UInt8]? = nil, width: Int, height: Int, pixelFormat: String, range: String? = nil,
    matrix: String? = nil, rotationDegrees: Int = 0, aspectNumerator: Int = 1,
    aspectDenominator: Int = 1, timeBase: TimeBase, delay: Int = 0
  ) {
    (self.segment, self.track, self.streamIndex, self.codec) = (segment, track, streamIndex, codec)
    (self.profile, self.extradata, self.width, self.height) = (profile, extradata, width, height)
    (self.pixelFormat, self.range, self.matrix) = (pixelFormat, range, matrix)
    (self.rotationDegrees, self.aspectNumerator) = (rotationDegrees, aspectNumerator)
    (self.aspectDenominator, self.timeBase, self.delay) = (aspectDenominator, timeBase, delay)
  }

  package static let table = Schema.Table(
    "segment_track", keyCount: 2, of: SegmentTrackRecord(),
    references: [
      "FOREIGN KEY (\"segment\") REFERENCES segment (\"index\")"
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("segment", &segment)
    try row.column("track", &track, "$ >= 0")
    try row.column("stream_index", &streamIndex, "$ >= 0") {
      try $0.int(in: 0...Self.streamIndexMax)
    }
    try row.column("codec", &codec, "$ <> ''")
    try row.column("profile", &profile) { try $0.ifAny { try $0.int(in: Self.profiles) } }
    try row.column("extradata", &extradata)
    try row.column("width", &width, "$ > 0") { try $0.int(in: 1...Self.pixelsMax) }
    // The area is bounded and not each side alone: two sides at their limit would be 2^56 pixels.
    let heightMax = Self.pixelsMax / Int64(max(1, width))
    try row.column("height", &height, "$ > 0") { try $0.int(in: 1...heightMax) }
    try row.column("pixel_format", &pixelFormat, "$ <> ''")
    try row.column("range", &range, "$ IN ('limited', 'full')")
    try row.column("matrix", &matrix, "$ IN ('bt601', 'bt709', 'bt2020', 'identity')")
    try row.column("rotation", &rotationDegrees, "$ IN (0, 90, 180, 270)") {
      try $0.int(among: [0, 90, 180, 270])
    }
    try row.column("aspect_numerator", &aspectNumerator, "$ > 0") { Int(try $0.positive()) }
    try row.column("aspect_denominator", &aspectDenominator, "$ > 0") { Int(try $0.positive()) }
    try row.column("time_base_numerator", &timeBase.numerator, "$ > 0")
    try row.column("time_base_denominator", &timeBase.denominator, "$ > 0")
    try row.column("delay", &delay, "$ >= 0") { try $0.int(in: 0...Self.delayMax) }
  }

  /// FFmpeg's own limit of the pixels of a frame.
  private static let pixelsMax: Int64 = 1 << 28
  private static let streamIndexMax: Int64 = 1 << 16
  /// Frames that a decoder delays; H.264 allows 16.
  private static let delayMax: Int64 = 1 << 10
  /// FFmpeg's numbers; -99 is unknown.
  private static let profiles: ClosedRange<Int64> = -99...Int64(Int32.max)
}
