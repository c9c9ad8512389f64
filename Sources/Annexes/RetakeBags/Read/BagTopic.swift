/// A topic of a bag: a stream of messages of one type.
package struct BagTopic: Hashable, Sendable {
  /// Such as `/camera/image_raw`.
  var name: String
  /// Such as `sensor_msgs/msg/Image` or `foxglove.CompressedVideo`.
  var type: String
  /// How messages are written: `cdr`, `protobuf`, `json`.
  var encoding: String
  /// The definition of the type; empty if the bag has no definition.
  var schema = ""
  /// How the definition is written: `ros2msg`.
  var schemaEncoding = ""
  /// The unit of all numbers, if the bag says it.
  var unit = ""
  /// Number of messages, if the bag says it.
  var count: Int64?

  /// Equal for the same topic in different files of one bag, whose other properties may differ.
  var identity: String { "\(name)\n\(type)\n\(encoding)" }
}
