/// A number in a message, as CDR writes it.
enum NumberType: String, Hashable, Sendable {
  case bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64

  /// By the names of ROS 2, where `byte` and `char` are both unsigned (ROS 2 interfaces, field
  /// types), or of ROS 1, where `byte` is signed (wiki.ros.org/msg).
  init?(named name: String, _ encoding: MessageEncoding) {
    switch name {
    case "byte" where encoding == .ros1: self = .int8
    case "byte", "char": self = .uint8
    default: self.init(rawValue: name)
    }
  }
}

/// The fields of one type of messages, in the order in which they are written.
struct MessageDefinition: Hashable, Sendable {
  enum Element: Hashable, Sendable {
    case number(NumberType)
    case string
    /// Another type, such as `geometry_msgs/Vector3`.
    case message(String)
  }

  enum Shape: Hashable, Sendable {
    case one
    case array(Int)
    /// As many as the message says, at most `most`; `nil` is any number.
    case list(most: Int?)
  }

  struct Field: Hashable, Sendable {
    var name: String
    var element: Element
    var shape: Shape
  }

  private(set) var fields: [Field] = []

  /// `geometry_msgs/msg/Vector3` and `geometry_msgs/Vector3` are one type.
  static func plain(_ type: String) -> String { type.replacing("/msg/", with: "/") }

  private static let bytesMax = 1 << 20
  private static let fieldsMax = 4_096

  /// Reads the text of a definition, and of the definitions of the types that it uses: each follows
  /// a line of `=` and a line `MSG: package/Type` (mcap.dev/spec/registry, ros2msg).
  ///
  /// - Parameter type: The type that the text begins with.
  /// - Returns: the definitions by their types.
  static func all(
    in text: String, of type: String, _ encoding: MessageEncoding = .cdr
  ) throws -> [String: MessageDefinition] {
    guard text.utf8.count <= bytesMax else {
      throw DefinitionProblem(cause: "its definition has \(text.utf8.count) bytes")
    }
    var found: [String: MessageDefinition] = [:]
    var (current, definition) = (plain(type), MessageDefinition())
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.prefix { $0 != "#" }
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first else { continue }
      if first.count >= 3, first.allSatisfy({ $0 == "=" }) { continue }
      if first == "MSG:", words.count == 2 {
        // The first one of a type counts, as of two files with one name.
        if found[current] == nil { found[current] = definition }
        (current, definition) = (plain(String(words[1])), MessageDefinition())
        continue
      }
      if let field = try Self.field(first, line, in: current, encoding) {
        definition.fields.append(field)
      }
      guard definition.fields.count <= fieldsMax else {
        throw DefinitionProblem(cause: "its definition has more than \(fieldsMax) fields")
      }
    }
    if found[current] == nil { found[current] = definition }
    return found
  }

  /// - Returns: nil for a constant, which is not in messages.
  private static func field(
    _ type: Substring, _ line: Substring, in owner: String, _ encoding: MessageEncoding
  ) throws -> Field? {
    func bad() -> DefinitionProblem {
      DefinitionProblem(cause: "its definition has the line '\(line.prefix(80))'")
    }
    guard let start = line.firstIndex(where: { !$0.isWhitespace }) else { return nil }
    let rest = line[start...].dropFirst(type.count).drop { $0.isWhitespace }
    let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    guard !name.isEmpty else { throw bad() }
    guard rest.dropFirst(name.count).first(where: { !$0.isWhitespace }) != "=" else { return nil }
    var base = type
    var shape = Shape.one
    if type.last == "]", let bracket = type.lastIndex(of: "[") {
      base = type[..<bracket]
      let bound = type[type.index(after: bracket)...].dropLast()
      if bound.isEmpty {
        shape = .list(most: nil)
      } else if bound.hasPrefix("<="), let most = Int(bound.dropFirst(2)), most > 0 {
        shape = .list(most: most)
      } else if let count = Int(bound), count > 0 {
        shape = .array(count)
      } else {
        throw bad()
      }
    }
    guard let element = element(base, in: owner, encoding) else { throw bad() }
    return Field(name: String(name), element: element, shape: shape)
  }

  private static func element(
    _ base: Substring, in owner: String, _ encoding: MessageEncoding
  ) -> Element? {
    // A bound of a string does not change the message.
    let name = String(base.prefix { $0 != "<" })
    if name == "string" { return .string }
    if let number = NumberType(named: name, encoding) { return .number(number) }
    let isName = name.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || $0 == 0x5F || $0 == 0x2F
    }
    guard isName, base.count == name.count, name != "wstring", name.first?.isLetter == true
    else { return nil }
    if name == "Header" { return .message("std_msgs/Header") }
    if encoding == .ros1, name == "time" { return .message("builtin_interfaces/Time") }
    if encoding == .ros1, name == "duration" { return .message("builtin_interfaces/Duration") }
    guard !name.contains("/") else { return .message(plain(name)) }
    let package = owner.split(separator: "/").first.map { $0 + "/" } ?? ""
    return .message(package + name)
  }
}
