import Foundation
import RetakeCore

/// The first line of decisions and digests files: `#retake 1 key=… field=…`.
struct FileHeader {
  static let version = 1

  var key: String
  var field: String

  func text(_ name: String) -> String {
    "#retake \(Self.version) key=\(key.replacing(" ", with: "%20")) \(name)=\(field)\n"
  }

  /// Reads the first line.
  init(_ reader: LineReader, field name: String) throws(GoldenError) {
    let line = try reader.next() ?? Data()
    let words = String(decoding: line, as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
    let expected = "'#retake \(Self.version) key=… \(name)=…'"
    guard words.count >= 2, words[0] == "#retake", let version = Int(words[1]) else {
      throw reader.damaged(line, expected)
    }
    guard version == Self.version else { throw .version(file: reader.file, version: version) }
    guard words.count == 4, words[2].hasPrefix("key="), words[3].hasPrefix(name + "=") else {
      throw reader.damaged(line, expected)
    }
    key = String(words[2].dropFirst(4)).replacing("%20", with: " ")
    field = String(words[3].dropFirst(name.count + 1))
  }

  init(key: String, field: String) {
    self.key = key
    self.field = field
  }
}
