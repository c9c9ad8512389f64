package import Foundation

/// A key or a string value of a document, and its place in the text.
package struct WordPlace: Hashable, Sendable {
  /// The keys and indices that lead to it; the last one is the key, or the key or index of the
  /// value.
  package var path: [String]
  package var isKey: Bool
  package var text: String
  /// Counted from 1.
  package var line: Int
  /// The place of the first byte of `text`, without a quotation mark.
  package var offset: Int

  package init(path: [String], isKey: Bool, text: String, line: Int, offset: Int) {
    (self.path, self.isKey, self.text) = (path, isKey, text)
    (self.line, self.offset) = (line, offset)
  }
}

extension WordPlace {
  /// The keys and strings of a JSON document that are written without escapes.
  ///
  /// - Returns: `nil` for data that is not JSON.
  package static func places(inJSON data: Data) -> [WordPlace]? {
    // The parser bounds the depth, so the walk is bounded, too.
    guard (try? JSONValue(parsing: data)) != nil else { return nil }
    var walk = JSONWalk(bytes: Array(data))
    walk.value(at: [])
    return walk.places
  }
}

/// Walks over the bytes of a document that is valid JSON.
private struct JSONWalk {
  let bytes: [UInt8]
  private var next = 0
  private var line = 1
  private(set) var places: [WordPlace] = []

  init(bytes: [UInt8]) { self.bytes = bytes }

  private var byte: UInt8 { next < bytes.count ? bytes[next] : 0 }

  private mutating func skipSpace() {
    while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
      if byte == 0x0A { line += 1 }
      next += 1
    }
  }

  mutating func value(at path: [String]) {
    skipSpace()
    switch byte {
    case UInt8(ascii: "{"): object(at: path)
    case UInt8(ascii: "["): array(at: path)
    case UInt8(ascii: "\""): _ = string(at: path, isKey: false)
    default:
      while next < bytes.count, !",]} \t\r\n".utf8.contains(byte) { next += 1 }
    }
  }

  private mutating func object(at path: [String]) {
    next += 1
    skipSpace()
    while next < bytes.count, byte != UInt8(ascii: "}") {
      let key = string(at: path, isKey: true)
      skipSpace()
      next += 1  // The colon.
      value(at: path + [key])
      skipSpace()
      if byte == UInt8(ascii: ",") { next += 1 }
      skipSpace()
    }
    next += 1
  }

  private mutating func array(at path: [String]) {
    next += 1
    skipSpace()
    var index = 0
    while next < bytes.count, byte != UInt8(ascii: "]") {
      value(at: path + [String(index)])
      index += 1
      skipSpace()
      if byte == UInt8(ascii: ",") { next += 1 }
      skipSpace()
    }
    next += 1
  }

  private mutating func string(at path: [String], isKey: Bool) -> String {
    next += 1
    let first = next
    var isPlain = true
    while next < bytes.count, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") {
        isPlain = false
        next += 1
      }
      next += 1
    }
    let text = String(decoding: bytes[first..<min(next, bytes.count)], as: UTF8.self)
    next += 1
    if isPlain {
      places.append(
        WordPlace(
          path: isKey ? path + [text] : path, isKey: isKey, text: text, line: line, offset: first))
    }
    return text
  }
}
