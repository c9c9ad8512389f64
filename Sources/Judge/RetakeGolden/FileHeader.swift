import Foundation

/// The first line of decision and digest files: `#retake 1 key=… field=…`.
struct FileHeader {
  var version = 1
  var key: String
  var field: String

  func text(_ name: String) -> String {
    "#retake \(version) key=\(key.replacing(" ", with: "%20")) \(name)=\(field)\n"
  }

  /// Reads the first line.
  ///
  /// - Parameter newest: The version that is written. Earlier versions are also read.
  init(
    _ reader: TextLineReader, field name: String, newest: Int = 1
  ) throws {
    let line = try reader.next() ?? Data()
    let words = String(decoding: line, as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
    let expected = "'#retake \(newest) key=… \(name)=…'"
    guard words.count >= 2, words[0] == "#retake", let version = Int(words[1]) else {
      throw reader.damaged(line, expected)
    }
    // Before the fields: a later version may have other fields, and the message must name the
    // version rather than call the file damaged.
    guard (1...newest).contains(version) else {
      throw GoldenError.version(file: reader.file, version: version)
    }
    guard words.count == 4, words[2].hasPrefix("key="), words[3].hasPrefix(name + "=") else {
      throw reader.damaged(line, expected)
    }
    self.version = version
    key = String(words[2].dropFirst(4)).replacing("%20", with: " ")
    field = String(words[3].dropFirst(name.count + 1))
  }

  init(version: Int = 1, key: String, field: String) {
    self.version = version
    self.key = key
    self.field = field
  }
}
