/// A place in a bag. Parts that are not known are left out.
package struct BagPlace: Hashable, Sendable, CustomStringConvertible {
  /// The path of the bag's file.
  package var file: String
  /// In MCAP files the position of the record, counted from the beginning of the file, or of the
  /// chunk that holds it.
  package var byteOffset: UInt64?
  /// The topic's name.
  package var topic: String?
  /// Of an SQLite bag the row's `id`, of an MCAP file the message's place in its topic, from 0.
  package var message: Int64?

  /// A place in a file; parts that are `nil` are not in `description`.
  package init(
    file: String, byteOffset: UInt64? = nil, topic: String? = nil, message: Int64? = nil
  ) {
    (self.file, self.byteOffset) = (file, byteOffset)
    (self.topic, self.message) = (topic, message)
  }

  /// The parts after the file.
  var part: String? {
    let parts = [
      byteOffset.map { "byte \($0)" }, topic.map { "topic \($0)" }, message.map { "message \($0)" },
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// Without the folder, because a session stores it.
  package var description: String {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    return part.map { "\(name), \($0)" } ?? name
  }
}
