/// The tags of an XML file, one after another.
///
/// It knows no more of XML than annotations need: no entities that a file declares, and no external
/// entities. Foundation's parser would need another library in the program.
struct XMLTags {
  struct Tag {
    /// `box` or `/box`.
    var name: String
    var attributes: [String: String] = [:]
    /// `<box/>`.
    var isClosed = false
  }

  private static let entities: [Substring: Character] = [
    "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'",
  ]

  private let file: String
  private let bytes: [UInt8]
  private var position = 0
  /// The line of the last tag, from 1.
  private(set) var line = 1
  /// The text before the last tag.
  private(set) var text = ""

  init(_ bytes: [UInt8], file: String) { (self.bytes, self.file) = (bytes, file) }

  /// The next tag; `nil` at the end. Declarations and comments are skipped.
  mutating func next() throws -> Tag? {
    while true {
      let start = bytes[position...].firstIndex(of: UInt8(ascii: "<"))
      text = try decoded(bytes[position..<(start ?? bytes.count)])
      advance(to: start ?? bytes.count)
      guard start != nil else { return nil }
      if bytes[position...].starts(with: "<!--".utf8) {
        try skip("-->")
      } else if bytes[position...].starts(with: "<![CDATA[".utf8) {
        throw bad("CDATA is not read here")
      } else {
        let content = try tag()
        if let first = content.first, first != UInt8(ascii: "?"), first != UInt8(ascii: "!") {
          return try parsed(content)
        }
      }
    }
  }

  func bad(_ problem: String) -> LabelError { .line(file, line, problem) }

  private mutating func advance(to end: Int) {
    for byte in bytes[position..<end] where byte == 0x0a { line += 1 }
    position = end
  }

  private mutating func skip(_ mark: String) throws {
    let mark = Array(mark.utf8)
    var end = position
    while end < bytes.count, !bytes[end...].starts(with: mark) { end += 1 }
    guard end < bytes.count else { throw bad("the file ends inside a comment") }
    advance(to: end + mark.count)
  }

  /// The bytes between `<` and `>`; quoted values may contain `>`.
  private mutating func tag() throws -> ArraySlice<UInt8> {
    var quote: UInt8?
    for index in (position + 1)..<bytes.count {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        let content = bytes[(position + 1)..<index]
        advance(to: index + 1)
        return content
      }
    }
    throw bad("the file ends inside a tag")
  }

  private func parsed(_ content: ArraySlice<UInt8>) throws -> Tag {
    var rest = content
    let isClosed = rest.last == UInt8(ascii: "/")
    if isClosed { rest = rest.dropLast() }
    let name = rest.prefix { !Self.isSpace($0) }
    var tag = Tag(name: String(decoding: name, as: UTF8.self), isClosed: isClosed)
    rest = rest.dropFirst(name.count)
    // Ends: each round consumes a `=` and two quotes.
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let key = rest[..<equals].filter { !Self.isSpace($0) }
      rest = rest[(equals + 1)...].drop(while: Self.isSpace)
      guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
        let end = rest.dropFirst().firstIndex(of: quote)
      else { throw bad("an attribute has no value in quotes") }
      tag.attributes[String(decoding: key, as: UTF8.self)] = try decoded(
        rest[(rest.startIndex + 1)..<end])
      rest = rest[(end + 1)...]
    }
    return tag
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
  }

  private func decoded(_ bytes: ArraySlice<UInt8>) throws -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains("&") else { return text }
    var parts = text.split(separator: "&", omittingEmptySubsequences: false)[...]
    var result = String(parts.removeFirst())
    for part in parts {
      guard let end = part.firstIndex(of: ";"), let character = Self.character(part[..<end]) else {
        throw bad("'&\(part.prefix(12))' is not a character of XML")
      }
      result.append(character)
      result += part[part.index(after: end)...]
    }
    return result
  }

  private static func character(_ name: Substring) -> Character? {
    if let known = entities[name] { return known }
    guard name.hasPrefix("#") else { return nil }
    let digits = name.dropFirst()
    let number =
      digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return number.flatMap { Unicode.Scalar($0) }.map { Character($0) }
  }
}
