public import Foundation

/// A JSON value with a canonical form: keys in byte order, no white space, integers as integers,
/// other numbers in the shortest form that parses to the same value.
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The member of an object with this key; `nil` if the object has no such member, or if this is
  /// not an object. A member whose value is JSON's `null` is `.null`, not `nil`.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[key]
  }

  /// The name of this kind of value in messages: "a number", "an object".
  package var kindText: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer: "an integer"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// The canonical form, in UTF-8.
  public var canonicalText: String {
    var text = ""
    write(into: &text)
    return text
  }

  private func write(into text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let value): text += Self.numberText(value)
    case .string(let value): Self.quote(value, into: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(into: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      // A Dictionary has another order in each process, and `<` of String compares normalized
      // forms. Programs in every language can sort by bytes.
      let keys = members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      for (index, key) in keys.enumerated() {
        if index > 0 { text += "," }
        Self.quote(key, into: &text)
        text += ":"
        members[key]?.write(into: &text)
      }
      text += "}"
    }
  }

  /// Integers have no decimal point, so that 2 and 2.0 are the same value in a document.
  private static func numberText(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    // `description` is the shortest decimal that parses to the same number, in every locale.
    return value.isFinite ? value.description : "null"
  }

  /// The string in JSON form, with quotes; control characters are escaped.
  package static func quoted(_ text: String) -> String {
    var result = ""
    quote(text, into: &result)
    return result
  }

  private static func quote(_ value: String, into text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue: Codable {
  /// Decodes any JSON value. A number that fits `Int64` becomes `.integer`; any other number
  /// becomes `.number`.
  public init(from decoder: any Decoder) throws {
    // Int64 is tried before Double: as a Double, an integer above 2^53 would lose digits.
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Encodes the value as the JSON that it contains.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// Parses a document (RFC 8259), strictly.
  ///
  /// - Throws: `DecodingError` with the line and column.
  public init(parsing data: Data) throws {
    var parser = JSONParser([UInt8](data))
    self = try parser.document()
  }

  /// The JSON form of an encodable value.
  public init(encoding value: some Encodable) throws {
    self = try JSONValue(parsing: JSONEncoder().encode(value))
  }

  /// Decodes a value from this JSON.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(canonicalText.utf8))
  }
}
