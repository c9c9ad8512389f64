/// A file of the session's folder whose digest the database stores.
package struct FileRecord: Hashable, Sendable {
  /// Relative to the session's folder, with forward slashes.
  package var path: String
  /// `media`: the imported file.
  package var role: String
  /// 32 bytes.
  package var sha256: [UInt8]

  package init(path: String, role: String, sha256: [UInt8]) {
    precondition(sha256.count == 32, "a SHA-256 is 32 bytes")
    self.path = path
    self.role = role
    self.sha256 = sha256
  }
}
