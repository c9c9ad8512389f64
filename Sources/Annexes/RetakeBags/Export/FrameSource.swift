import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// The frames of a track as messages, each encoded when it is written.
final class ExportFrameSource: ExportSource {
  private let reader: SessionReader
  private let track: Int
  private let codec: BagExportOptions.Codec
  private let clock: ExportClock
  private let channel: Int
  private let fetcher: PacketFetcher
  private let scaler = MediaScaler()
  private var encoder: MediaEncoder?
  private var shape: (width: Int, height: Int)?
  private var sinceKey = 0
  private var encoded: Int64 = 0
  private var page: ArraySlice<FrameRecord> = []
  private var next = 0

  private static let pageRows = 512
  private static let framesPerKey = 30
  /// Of 1 to 31; looks like the original.
  private static let jpegQuality = 3

  init(
    _ reader: SessionReader, track: Int, topic: String, codec: BagExportOptions.Codec,
    clock: ExportClock, writer: MCAPWriter
  ) throws {
    (self.reader, self.track, self.codec, self.clock) = (reader, track, codec, clock)
    try reader.index.requireTrack(track)
    fetcher = PacketFetcher(table: IndexedTrack(index: reader.index, track: track))
    let isVideo = codec == .h264
    channel = writer.add(
      topic: topic + (isVideo ? "/video" : "/compressed"), encoding: "cdr",
      type: isVideo ? "foxglove_msgs/msg/CompressedVideo" : "sensor_msgs/msg/CompressedImage",
      schemaEncoding: "ros2msg",
      schema: isVideo ? ExportSchemas.compressedVideo : ExportSchemas.compressedImage)
    try fill()
  }

  var nextTime: Int64? { page.first?.arrivalNanoseconds }

  /// Skips frames without pixels, because they have no image to export.
  private func fill() throws {
    while page.isEmpty {
      let rows = try reader.index.store.frames(track: track, from: next, count: Self.pageRows)
      guard let last = rows.last else { return }
      next = last.sequence + 1
      page = rows.filter { $0.packet != nil && $0.cause == nil }[...]
    }
  }

  func write(to writer: MCAPWriter) throws {
    guard let row = page.popFirst() else { return }
    let data = try codec == .jpeg ? jpeg(row) : h264(row)
    var message = CDRWriter()
    message.stamp(clock.unix(row.ptsNanoseconds))
    message.string("camera\(track)")
    switch codec {
    case .jpeg:
      message.string("jpeg")
      message.sequence(data)
    case .h264:
      message.sequence(data)
      message.string("h264")
    }
    try writer.add(message.bytes, channel: channel, time: clock.logTime(row.arrivalNanoseconds))
    try fill()
  }

  private func frame(_ row: FrameRecord) throws -> Frame {
    try reader.frame(FrameID(track: track, sequence: row.sequence))
  }

  private func jpeg(_ row: FrameRecord) throws -> [UInt8] {
    if let packet = row.packet, let (stored, view) = try fetcher.packet(packet),
      view.stream.codec == "mjpeg"
    {
      return stored.bytes
    }
    // JPEG is full range and BT.601 (JFIF, ITU-T T.871), whatever the frame is.
    let original = try frame(row)
    var colors = try scaler.scale(original, format: .rgb)
    colors.matrix = .bt601
    return try encode(try scaler.scale(colors, format: .i420), isKey: true)
  }

  private func h264(_ row: FrameRecord) throws -> [UInt8] {
    let original = try frame(row)
    let picture = original.format == .i420 ? original : try scaler.scale(original, format: .i420)
    if let shape, shape != (picture.width, picture.height) { encoder = nil }
    let isKey = encoder == nil || sinceKey >= Self.framesPerKey
    sinceKey = isKey ? 1 : sinceKey + 1
    return try encode(picture, isKey: isKey)
  }

  private func encode(_ picture: Frame, isKey: Bool) throws -> [UInt8] {
    if let shape, shape != (picture.width, picture.height) { encoder = nil }
    let encoder = try self.encoder ?? MediaEncoder(Self.settings(codec, picture))
    (self.encoder, shape) = (encoder, (picture.width, picture.height))
    let packets = try encoder.encode(picture, pts: encoded, duration: 1, isKey: isKey)
    encoded += 1
    // Without B frames and lookahead, an encoder returns one packet for each frame.
    guard packets.count == 1 else {
      throw BagError.exportDiffers(
        path: reader.folder.path,
        cause: "the encoder returned \(counted(packets.count, "packet")) for a frame")
    }
    return packets[0].bytes
  }

  private static func settings(_ codec: BagExportOptions.Codec, _ frame: Frame) -> EncoderSettings {
    var settings = EncoderSettings(
      encoder: codec == .jpeg ? "mjpeg" : "libx264", for: frame, timeBase: .milliseconds)
    switch codec {
    case .jpeg:
      settings.quantizer = jpegQuality
      settings.keyFrameInterval = 1
    case .h264:
      settings.keyFrameInterval = framesPerKey
      // Parameter sets before each key frame, as Foxglove requires.
      settings.headersInContainer = false
      settings.options = [
        .init("preset", "veryfast"), .init("crf", "20"), .init("forced-idr", "1"),
      ]
    }
    return settings
  }
}

/// Definitions of the messages that are written, as ROS 2 has them.
enum ExportSchemas {
  private static let line = String(repeating: "=", count: 80)

  static let compressedImage = """
    std_msgs/Header header
    string format
    uint8[] data
    \(line)
    MSG: std_msgs/Header
    builtin_interfaces/Time stamp
    string frame_id
    \(line)
    MSG: builtin_interfaces/Time
    int32 sec
    uint32 nanosec
    """

  static let compressedVideo = """
    builtin_interfaces/Time timestamp
    string frame_id
    uint8[] data
    string format
    \(line)
    MSG: builtin_interfaces/Time
    int32 sec
    uint32 nanosec
    """

  /// For JSON messages, whose fields are described in docs/bags.md.
  static func json(_ title: String) -> String { #"{"title":"\#(title)","type":"object"}"# }
}
