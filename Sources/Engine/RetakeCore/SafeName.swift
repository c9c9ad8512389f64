extension String {
  /// Whether this may be the name of a folder: `[A-Za-z0-9][A-Za-z0-9._-]*`, at most 64 characters.
  package var isSafeName: Bool {
    guard let first = utf8.first, utf8.count <= 64 else { return false }
    func isPlain(_ byte: UInt8) -> Bool {
      (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte)
    }
    // A leading `.` would make a hidden folder or `..`, a leading `-` an option of a command.
    return isPlain(first) && utf8.allSatisfy { isPlain($0) || [45, 46, 95].contains($0) }
  }

  /// The string as one word of a shell command: in single quotes if it needs them.
  package var shellWord: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy {
        (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0)
          || "/._-+:@=".utf8.contains($0)
      }
    // A shell has no escapes within single quotes: the quote ends them, is escaped, and opens them
    // again.
    // By bytes: a quote before a combining mark is another Character, and the shell would end the
    // word there.
    let bytes = utf8.flatMap { $0 == 39 ? Array("'\\''".utf8) : [$0] }
    return isPlain ? self : "'" + String(decoding: bytes, as: UTF8.self) + "'"
  }
}
