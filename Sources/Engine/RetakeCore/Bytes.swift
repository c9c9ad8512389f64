/// Bytes whose meaning is only known to their producer.
public struct Bytes: Hashable, Sendable, Codable {
  /// The kind in results, next to the digest.
  public var name: String
  /// Results contain a digest of name and bytes in place of the bytes.
  public var content: [UInt8]

  /// Neither argument is checked; `content` may be empty.
  public init(name: String, content: [UInt8]) {
    self.name = name
    self.content = content
  }
}
