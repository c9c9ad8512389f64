/// The types of messages that hold images.
enum ImageType: Hashable, Sendable {
  case rosImage, rosCompressed
  case foxgloveRaw(isProtobuf: Bool)
  case foxgloveCompressed(isProtobuf: Bool)
  case foxgloveVideo(isProtobuf: Bool)

  /// nil for a topic without images.
  init?(_ topic: BagTopic) {
    let isProtobuf = topic.encoding == "protobuf"
    switch topic.type.replacing("/msg/", with: "/") {
    case "sensor_msgs/Image": self = .rosImage
    case "sensor_msgs/CompressedImage": self = .rosCompressed
    case "foxglove_msgs/RawImage", "foxglove.RawImage":
      self = .foxgloveRaw(isProtobuf: isProtobuf)
    case "foxglove_msgs/CompressedImage", "foxglove.CompressedImage":
      self = .foxgloveCompressed(isProtobuf: isProtobuf)
    case "foxglove_msgs/CompressedVideo", "foxglove.CompressedVideo":
      self = .foxgloveVideo(isProtobuf: isProtobuf)
    default: return nil
    }
  }

  /// Why messages of this type cannot be read if they are written in that encoding.
  func refusal(encoding: String) -> String? {
    let isFoxglove =
      switch self {
      case .rosImage, .rosCompressed: false
      default: true
      }
    guard encoding == "cdr" || (isFoxglove && encoding == "protobuf") else {
      return "its messages are written as '\(encoding)', not as "
        + (isFoxglove ? "cdr or protobuf" : "cdr")
    }
    return nil
  }
}
