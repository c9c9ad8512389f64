/// The content of a file in a store, named by its digest.
package struct StoredObject: Hashable, Sendable {
  /// SHA-256, in 64 lowercase hexadecimal digits.
  package var sha256: String
  package var bytes: Int64

  /// The object's place in a store, relative to the store's folder `objects`.
  var path: String { "\(sha256.prefix(2))/\(sha256)" }

  static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}
