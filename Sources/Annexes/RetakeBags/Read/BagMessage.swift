/// A topic of a bag: a stream of messages of one type.
struct BagTopic: Hashable, Sendable {
  /// Such as `/camera/image_raw`.
  var name: String
  /// Such as `sensor_msgs/msg/Image` or `foxglove.CompressedVideo`.
  var type: String
  /// How messages are written: `cdr`, `protobuf`, `json`.
  var encoding: String
  /// The definition of the type; empty if the bag has none.
  var schema = ""
  /// How the definition is written: `ros2msg`.
  var schemaEncoding = ""
  /// Number of messages, if the bag says it.
  var count: Int64?

  /// The topic without what may differ between the files of one bag.
  var identity: String { "\(name)\n\(type)\n\(encoding)" }
}

/// One message of a bag.
struct BagMessage: Sendable {
  /// The topic's number in the bag.
  var topic: Int
  /// When the recorder of the bag received it; by its clock, since 1970 as a rule.
  var logNanoseconds: Int64
  /// When it was published, if the bag says it.
  var publishNanoseconds: Int64?
  /// The message as its encoding writes it.
  var bytes: ArraySlice<UInt8>
  var place: BagPlace
}

/// What a reader passes on, in the order of the file.
enum BagItem {
  case message(BagMessage)
  /// Something that cannot be read; reading continues behind it.
  case loss(BagError)
}

/// One file of a bag.
protocol BagFile {
  var path: String { get }
  /// Size of the file in bytes.
  var bytes: Int64 { get }
  /// The topics that the file has. Reading may find no others.
  var topics: [BagTopic] { get }
  /// Whether it ends as the format says, as far as that is known before it is read.
  var isWhole: Bool { get }
  /// Passes on all messages, in the order of the file.
  ///
  /// - Parameter position: Called now and then with the bytes that were read so far.
  /// - Throws: what `body` throws.
  func read(position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws
}
