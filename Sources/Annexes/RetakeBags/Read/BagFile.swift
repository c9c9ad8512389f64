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
  /// - Throws: The errors of `body`.
  func read(position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws
}
