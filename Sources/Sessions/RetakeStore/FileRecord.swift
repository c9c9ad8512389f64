/// A file of the session's folder whose digest the database stores.
package struct FileRecord: StoredRow {
  /// Relative to the session's folder, with forward slashes.
  package var path = ""
  /// `media`: the imported file.
  package var role = ""
  /// 32 bytes.
  package var sha256: [UInt8] = []

  package init() {}

  package init(path: String, role: String, sha256: [UInt8]) {
    precondition(sha256.count == 32, "a SHA-256 is 32 bytes")
    (self.path, self.role, self.sha256) = (path, role, sha256)
  }

  package static let table = Schema.Table(
    "file", keyCount: 1, of: FileRecord())

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("path", &path, "$ <> ''")
    try row.column("role", &role, "$ <> ''")
    try row.column("sha256", &sha256, "length($) = 32") {
      let bytes = try $0.blob()
      guard bytes.count == 32 else { throw RowDamage(table: "file", column: "sha256") }
      return bytes
    }
  }
}
