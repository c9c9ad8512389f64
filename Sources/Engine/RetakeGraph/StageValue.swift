public import RetakeCore

/// A user's own value. Its name, version and canonical bytes make it digestible and storable.
public protocol StageValue: PipelineValue {
  /// Unique among the values of a pipeline, such as `"lane-markings"`.
  static var typeName: String { get }
  /// Must be increased whenever the meaning of the bytes changes.
  static var typeVersion: Int { get }
  /// The value as bytes; equal values have equal bytes.
  func encoded() -> [UInt8]
  /// The inverse of `encoded`.
  ///
  /// - Throws: Any error, if the bytes are not a value of this type.
  init(decoding bytes: [UInt8]) throws
}

extension StageValue {
  /// `ValueKind.user`, with the type's name and version.
  public static var valueKind: ValueKind { .user(name: typeName, version: typeVersion) }

  /// Appends the bytes of `encoded()`.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(encoded())
  }

  /// One `user` fact: `typeName@typeVersion` and the digest.
  public var facts: [ResultFact] {
    [.user(kind: "\(Self.typeName)@\(Self.typeVersion)", digest: digest)]
  }
}
