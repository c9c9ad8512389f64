/// The types of messages that hold images, and how they are written.
struct ImageType: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case rosImage, rosCompressed
    /// A packet of video, as the plugin ffmpeg_image_transport publishes it.
    case ffmpegPacket
    case foxgloveRaw, foxgloveCompressed, foxgloveVideo
    /// The bytes of a file.
    case file
  }

  let kind: Kind
  let encoding: MessageEncoding

  init(_ kind: Kind, _ encoding: MessageEncoding = .cdr) {
    (self.kind, self.encoding) = (kind, encoding)
  }

  /// - Throws: `Refusal` if the messages are written in an encoding that is not read.
  /// - Returns: nil for a topic without images.
  init?(_ topic: BagTopic) throws {
    guard let kind = Self.kind(of: topic) else { return nil }
    let encoding = MessageEncoding(rawValue: topic.encoding)
    switch (kind, encoding) {
    case (.rosImage, .cdr?), (.rosCompressed, .cdr?), (.ffmpegPacket, .cdr?),
      (.rosImage, .ros1?), (.rosCompressed, .ros1?), (.ffmpegPacket, .ros1?),
      (.foxgloveRaw, .cdr?), (.foxgloveCompressed, .cdr?), (.foxgloveVideo, .cdr?),
      (.file, .file?), (.foxgloveRaw, .protobuf?), (.foxgloveCompressed, .protobuf?),
      (.foxgloveVideo, .protobuf?):
      self.init(kind, encoding ?? .cdr)
    default: throw Refusal(reason: "its messages are written as '\(topic.encoding)'")
    }
  }

  struct Refusal: Error, Hashable {
    var reason: String
  }

  /// Whether the messages of a topic hold images.
  static func hasImages(_ topic: BagTopic) -> Bool { kind(of: topic) != nil }

  private static func kind(of topic: BagTopic) -> Kind? {
    switch MessageDefinition.plain(topic.type) {
    case "sensor_msgs/Image": .rosImage
    case "sensor_msgs/CompressedImage": .rosCompressed
    case ImageFolder.imageType: .file
    case "ffmpeg_image_transport_msgs/FFMPEGPacket": .ffmpegPacket
    case "foxglove_msgs/RawImage", "foxglove.RawImage": .foxgloveRaw
    case "foxglove_msgs/CompressedImage", "foxglove.CompressedImage": .foxgloveCompressed
    case "foxglove_msgs/CompressedVideo", "foxglove.CompressedVideo": .foxgloveVideo
    default: nil
    }
  }
}
