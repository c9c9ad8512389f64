/// The positions of the numbers in a message: all fields of its type in a row, also the fields of
/// inner types.
///
/// A type is refused if the number of its elements has no bound, because a sensor has the same
/// channels in each sample. Strings are skipped.
package struct MessageLayout: Hashable, Sendable {
  /// A number of each message, by the names of the fields that lead to it: `["twist", "linear",
  /// "x"]`.
  typealias Path = [String]

  private enum Step: Hashable, Sendable {
    case number(NumberType)
    /// Of a structure without fields, which has one byte.
    case filler
    /// The message's own header, with its stamp; or a stamp without a header.
    case header, stamp
    case string
    case strings
    /// A count, then that many numbers, which use `most` channels.
    case list(NumberType, most: Int)
    /// The size in bytes that the second version of CDR writes before several structures or
    /// strings.
    case delimiter
  }

  private let encoding: MessageEncoding
  private var steps: [Step] = []
  private(set) var channels: [Path] = []

  /// Before channels are chosen: covariances alone are often more than a sensor may have.
  private static let channelsMax = 256
  private static let stepsMax = 4_096
  private static let depthMax = 16

  /// - Throws: `DefinitionProblem` with the reason why messages of this type are not samples.
  init(
    _ type: String, definitions: [String: MessageDefinition], encoding: MessageEncoding = .cdr
  ) throws {
    self.encoding = encoding
    try add(MessageDefinition.plain(type), at: [], depth: 0, definitions)
    guard !channels.isEmpty else { throw DefinitionProblem(cause: "no number") }
  }

  private mutating func add(
    _ type: String, at path: Path, depth: Int, _ definitions: [String: MessageDefinition]
  ) throws {
    guard depth < Self.depthMax else {
      throw DefinitionProblem(cause: "more than \(Self.depthMax) types inside one another")
    }
    let definition = try Self.definition(of: type, definitions)
    if definition.fields.isEmpty { try append(.filler) }
    for field in definition.fields {
      try add(field, at: path + [field.name], depth: depth, definitions)
    }
  }

  private static func definition(
    of type: String, _ definitions: [String: MessageDefinition]
  ) throws -> MessageDefinition {
    if let known = definitions[type] { return known }
    // A definition may leave out common types.
    guard let text = KnownDefinitions.texts(of: type).first,
      let found = try MessageDefinition.all(in: text, of: type)[type]
    else { throw DefinitionProblem(cause: "uses \(type), which the bag does not define") }
    return found
  }

  private mutating func add(
    _ field: MessageDefinition.Field, at path: Path, depth: Int,
    _ definitions: [String: MessageDefinition]
  ) throws {
    let name = path.joined(separator: ".")
    switch (field.shape, field.element) {
    case (.list(nil), _):
      throw DefinitionProblem(cause: "any number of elements in its field '\(name)'")
    case (.list(.some(let most)), .number(let number)):
      try append(.list(number, most: most))
      for index in 0..<most { try channel(path + ["\(index)"]) }
    case (.list(.some), .string):
      try append(.delimiter)
      try append(.strings)
    case (.list(.some), .message):
      throw DefinitionProblem(cause: "a list of structures in its field '\(name)'")
    case (.one, let element):
      try add(element, at: path, depth: depth, definitions)
    case (.array(let count), let element):
      if case .number = element {} else { try append(.delimiter) }
      // Ends: steps and channels are bounded.
      for index in 0..<count {
        try add(element, at: path + ["\(index)"], depth: depth, definitions)
      }
    }
  }

  private mutating func add(
    _ element: MessageDefinition.Element, at path: Path, depth: Int,
    _ definitions: [String: MessageDefinition]
  ) throws {
    switch element {
    case .number(let number):
      try append(.number(number))
      try channel(path)
    case .string: try append(.string)
    case .message(let type):
      // The header of the message itself, not one of an inner message.
      if depth == 0, path.count == 1, !steps.contains(.stamp), !steps.contains(.header) {
        if type == "std_msgs/Header" {
          return try append(.header)
        }
        if type == "builtin_interfaces/Time", path == ["stamp"] { return try append(.stamp) }
      }
      try add(type, at: path, depth: depth + 1, definitions)
    }
  }

  private mutating func append(_ step: Step) throws {
    guard steps.count < Self.stepsMax else {
      throw DefinitionProblem(cause: "more than \(Self.stepsMax) values")
    }
    steps.append(step)
  }

  private mutating func channel(_ path: Path) throws {
    guard channels.count < Self.channelsMax else {
      throw DefinitionProblem(cause: "more than \(Self.channelsMax) numbers")
    }
    channels.append(path)
  }

  // MARK: Reading

  /// The numbers of one message.
  package struct Values: Hashable, Sendable {
    /// nil without a header, or if it is zero, as drivers write it that have no time.
    var stampNanoseconds: Int64?
    /// One for each channel; NaN where a list has no more elements.
    var numbers: [Double]
    /// How many integers have no equal floating-point number.
    var rounded = 0
  }

  package func values(of bytes: ArraySlice<UInt8>) throws -> Values {
    var reader = try MessageReader(bytes, encoding)
    var values = Values(stampNanoseconds: nil, numbers: [])
    values.numbers.reserveCapacity(channels.count)
    for step in steps {
      switch step {
      case .number(let number):
        values.numbers.append(try reader.number(number, &values.rounded))
      case .filler: try reader.skip(1, aligned: 1)
      case .header, .stamp:
        let stamp = try step == .header ? reader.header() : reader.stamp()
        values.stampNanoseconds = stamp == 0 ? nil : stamp
      case .string: _ = try reader.sequence()
      case .strings: for _ in 0..<(try reader.count(elementBytes: 4)) { _ = try reader.sequence() }
      case .list(let number, let most): try Self.list(number, most: most, &reader, &values)
      case .delimiter:
        if reader.isSecondVersion { _ = try reader.integer(UInt32.self) }
      }
    }
    // A type that has changed since would have other fields.
    guard reader.remaining <= reader.paddingMax else {
      throw MessageProblem(
        offset: reader.offset, cause: "\(reader.remaining) bytes are left behind its last field")
    }
    return values
  }

  private static func list(
    _ number: NumberType, most: Int, _ reader: inout MessageReader, _ values: inout Values
  ) throws {
    let start = reader.offset
    let count = try reader.count()
    guard count <= most else {
      throw MessageProblem(
        offset: start, cause: "a list claims \(count) elements, and may have \(most)")
    }
    for index in 0..<most {
      values.numbers.append(
        index < count ? try reader.number(number, &values.rounded) : .nan)
    }
  }
}

extension MessageReader {
  /// - Parameter rounded: Counts the integers that have no equal floating-point number.
  fileprivate mutating func number(
    _ type: NumberType, _ rounded: inout Int
  ) throws -> Double {
    switch type {
    case .bool: return try integer(UInt8.self) == 0 ? 0 : 1
    case .int8: return Double(try integer(Int8.self))
    case .uint8: return Double(try integer(UInt8.self))
    case .int16: return Double(try integer(Int16.self))
    case .uint16: return Double(try integer(UInt16.self))
    case .int32: return Double(try integer(Int32.self))
    case .uint32: return Double(try integer(UInt32.self))
    case .int64: return Self.double(try integer(Int64.self), &rounded)
    case .uint64: return Self.double(try integer(UInt64.self), &rounded)
    case .float32: return Double(try float())
    case .float64: return try double()
    }
  }

  private static func double(_ value: some BinaryInteger, _ rounded: inout Int) -> Double {
    if let exact = Double(exactly: value) { return exact }
    rounded += 1
    return Double(value)
  }
}
