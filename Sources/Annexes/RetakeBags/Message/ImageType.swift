/// The types of messages that hold images, and how they are written.
package struct ImageType: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case rosImage, rosCompressed
    /// A packet of video, as the plugin ffmpeg_image_transport publishes it.
    case ffmpegPacket
    case foxgloveRaw, foxgloveCompressed, foxgloveVideo
    /// The bytes of a file.
    case file

    /// How messages of the type are written.
    fileprivate var encodings: [MessageEncoding] {
      switch self {
      case .rosImage, .rosCompressed, .ffmpegPacket: [.cdr, .ros1]
      case .foxgloveRaw, .foxgloveCompressed, .foxgloveVideo: [.cdr, .protobuf]
      case .file: [.file]
      }
    }
  }

  let kind: Kind
  let encoding: MessageEncoding

  init(_ kind: Kind, _ encoding: MessageEncoding = .cdr) {
    (self.kind, self.encoding) = (kind, encoding)
  }

  /// - Throws: `TopicRefusal` if the messages are written in an encoding that is not read.
  /// - Returns: nil for a topic without images.
  package init?(_ topic: BagTopic) throws {
    guard let kind = Self.kind(of: topic) else { return nil }
    guard let encoding = kind.encodings.first(where: { $0.rawValue == topic.encoding }) else {
      let names = kind.encodings.map(\.rawValue).joined(separator: " or ")
      throw TopicRefusal(reason: "its messages are written as '\(topic.encoding)', not as \(names)")
    }
    self.init(kind, encoding)
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
