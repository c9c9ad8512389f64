/// A strict JSON parser (RFC 8259): no trailing commas, no duplicate keys, and errors with the line
/// and column.
struct JSONParser {
  /// The deepest nesting of arrays and objects.
  static let depthMax = 256

  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // RFC 8259, section 8.1: a parser may ignore a byte order mark instead of refusing the
    // document.
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
  }

  /// The single value of the document.
  mutating func document() throws -> JSONValue {
    let value = try value()
    guard next == nil else { throw problem("there is more after the end") }
    return value
  }

  /// The next byte that is not white space. It is not consumed.
  private var next: UInt8? {
    mutating get {
      while position < bytes.count {
        switch bytes[position] {
        case 0x20, 0x09, 0x0a, 0x0d: position += 1
        default: return bytes[position]
        }
      }
      return nil
    }
  }

  private mutating func take(_ character: Character) -> Bool {
    guard next == character.asciiValue else { return false }
    position += 1
    return true
  }

  private mutating func value() throws -> JSONValue {
    switch next {
    case UInt8(ascii: "{"):
      return try nested { parser in try parser.object() }
    case UInt8(ascii: "["): return try nested { parser in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte):
      return try number()
    case nil: throw problem("the JSON ends too early")
    default:
      // The caller checks the text after the word: `truely` fails because neither a comma nor the
      // end follows `true`.
      for (word, value) in [
        ("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null),
      ]
      where bytes[position...].starts(with: word.utf8) {
        position += word.utf8.count
        return value
      }
      throw problem("a value is expected here")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws -> JSONValue
  ) throws -> JSONValue {
    depth += 1
    // Each level is a recursion. Without a bound, a document of brackets would overflow the stack.
    guard depth <= Self.depthMax else { throw problem("nested more than \(Self.depthMax) deep") }
    position += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func array() throws -> JSONValue {
    var values: [JSONValue] = []
    if take("]") { return .array(values) }
    repeat { values.append(try value()) } while take(",")
    guard take("]") else { throw problem("a comma or ] is expected here") }
    return .array(values)
  }

  private mutating func object() throws -> JSONValue {
    var members: [String: JSONValue] = [:]
    if take("}") { return .object(members) }
    repeat {
      guard next == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected here") }
      let start = position
      let key = try string()
      // RFC 8259, section 4: parsers differ in which of two equal keys counts, so neither is taken.
      guard members[key] == nil else {
        position = start
        throw problem("the key '\(key)' is there twice")
      }
      guard take(":") else { throw problem("a colon is expected after '\(key)'") }
      members[key] = try value()
    } while take(",")
    guard take("}") else { throw problem("a comma or } is expected here") }
    return .object(members)
  }

  /// An error at the current position.
  private func problem(_ text: String) -> DecodingError {
    let before = bytes.prefix(position)
    let lineStart = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    let line = before.count { $0 == 0x0a } + 1
    // Continuation bytes of a character are not counted.
    let column = before[lineStart...].count { $0 & 0xc0 != 0x80 } + 1
    return DecodingError.dataCorrupted(
      .init(codingPath: [], debugDescription: "line \(line), column \(column): \(text)"))
  }
}

// MARK: - Numbers and strings

extension JSONParser {
  private mutating func number() throws -> JSONValue {
    let start = position
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    let whole = digits()
    guard whole > 0, whole == 1 || bytes[position - whole] != UInt8(ascii: "0") else {
      position = start
      throw problem("this is not a number")
    }
    var isWhole = true
    if at(".") {
      isWhole = false
      guard digits() > 0 else { throw problem("a digit is expected here") }
    }
    if at("e") || at("E") {
      isWhole = false
      if !at("-") { _ = at("+") }
      guard digits() > 0 else { throw problem("a digit is expected here") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    // A larger integer continues as a Double, so that the reader of its key can say that it is too
    // large (`StrictDecoder.integer`).
    if isWhole, let value = Int64(text) { return .integer(value) }
    // `Double` parses 1e999 to infinity, which JSON does not have.
    guard let value = Double(text), value.isFinite else {
      position = start
      throw problem("the number is out of range")
    }
    // 2.0 and 2 are the same value in a document.
    return Int64(exactly: value).map { .integer($0) } ?? .number(value)
  }

  /// Consumes a byte if it follows immediately, without white space before it.
  private mutating func at(_ character: Character) -> Bool {
    guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
    position += 1
    return true
  }

  /// Consumes the digits that follow immediately, and counts them.
  private mutating func digits() -> Int {
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    return position - start
  }

  private mutating func string() throws -> String {
    position += 1
    var content: [UInt8] = []
    // The first byte that is not in `content` yet. Bytes without escapes are copied in one piece.
    var start = position
    while position < bytes.count {
      switch bytes[position] {
      // `String(decoding:as:)` would replace bytes that are not UTF-8, and the value would differ
      // from the document.
      case UInt8(ascii: "\""):
        let text =
          content.isEmpty
          ? String(validating: bytes[start..<position], as: UTF8.self)
          : String(validating: content + bytes[start..<position], as: UTF8.self)
        guard let text else { throw problem("the string before this is not UTF-8") }
        position += 1
        return text
      case UInt8(ascii: "\\"):
        content += bytes[start..<position]
        content.append(contentsOf: try escape().utf8)
        start = position
      case 0..<0x20: throw problem("a control character must be escaped")
      default: position += 1
      }
    }
    throw problem("the string's closing quote is missing")
  }

  private mutating func escape() throws -> Character {
    guard position + 1 < bytes.count else { throw problem("the JSON ends too early") }
    if let character = Self.escaped(bytes[position + 1]) {
      position += 2
      return character
    }
    guard let first = hexadecimal() else { throw problem("this escape is not one of JSON's") }
    if let scalar = Unicode.Scalar(first) { return Character(scalar) }
    // The first half of a surrogate pair: the second half must follow.
    guard (0xd800..<0xdc00).contains(first), let second = hexadecimal(),
      (0xdc00..<0xe000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    else { throw problem("half of a character is missing") }
    return Character(scalar)
  }

  /// The meaning of a letter after a backslash.
  private static func escaped(_ letter: UInt8) -> Character? {
    switch letter {
    case UInt8(ascii: "\""): "\""
    case UInt8(ascii: "\\"): "\\"
    case UInt8(ascii: "/"): "/"
    case UInt8(ascii: "b"): "\u{8}"
    case UInt8(ascii: "f"): "\u{c}"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"): "\t"
    default: nil
    }
  }

  /// Consumes `\uXXXX`; otherwise returns `nil` and consumes nothing.
  private mutating func hexadecimal() -> UInt32? {
    guard position + 6 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else { return nil }
    let text = String(decoding: bytes[position + 2..<position + 6], as: UTF8.self)
    // `UInt32(_:radix:)` alone would accept a sign, as in `\u+123`.
    guard text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let value = UInt32(text, radix: 16)
    else { return nil }
    position += 6
    return value
  }
}
