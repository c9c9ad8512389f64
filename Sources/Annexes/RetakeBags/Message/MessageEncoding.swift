/// How the messages of a topic are written.
enum MessageEncoding: String, Hashable, Sendable {
  /// ROS 2.
  case cdr
  /// ROS 1: the fields one after another, without padding.
  case ros1
  /// Foxglove's messages.
  case protobuf
  /// An image as its file has it.
  case file

  /// How a bag names the language of a type's definition.
  var definitionName: String { self == .ros1 ? "ros1msg" : "ros2msg" }
}
