import Foundation
import RetakeCore

/// One JSON object a line. Numbers in objects and arrays inside it have names such as `gyro.x` and
/// `accel.0`; values of other types are left out.
struct JSONLineRows: SensorRows {
  private var lines: SensorLineReader
  private let request: SensorRequest
  private(set) var channels: [String] = []
  private var timeName = ""
  private(set) var unit = SensorTimeUnit.s
  private var first: [Member]?

  private typealias Member = (name: String, value: JSONValue)

  /// Objects and arrays inside each other, and members of a line.
  private static let depthMax = 8
  private static let membersMax = 4_096

  init(_ request: SensorRequest) throws {
    self.request = request
    lines = try SensorLineReader(request.file)
    guard let members = try nextMembers() else { throw SensorError.noSamples(file: request.file) }
    let names = members.map(\.name)
    let column = try TimeColumn(among: names, wanted: request.timeColumn, file: request.file)
    timeName = names[column.place]
    if request.unit == nil, case .string = members[column.place].value {
      unit = .date
    } else {
      unit = request.unit ?? column.unit ?? .s
    }
    if request.columns.isEmpty {
      channels = members.filter { $0.name != timeName && Self.number($0.value) != nil }.map(\.name)
    } else {
      for name in request.columns where !names.contains(name) {
        throw SensorError.noColumn(file: request.file, name: name, known: names)
      }
      channels = request.columns
    }
    first = members
  }

  mutating func next() throws -> SensorRow? {
    if let members = first {
      first = nil
      return try row(members)
    }
    guard let members = try nextMembers() else { return nil }
    return try row(members)
  }

  private func row(_ members: [Member]) throws -> SensorRow {
    func bad(_ problem: String) -> SensorError {
      .badLine(file: request.file, line: lines.number, problem: problem)
    }
    // A line may leave a member out. `{"a.b": 1, "a": {"b": 2}}` has one name twice.
    let values = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    if values.count < members.count, let name = members.lazy.map(\.name).firstRepeated {
      throw SensorError.sameColumns(file: request.file, name: name)
    }
    guard let text = values[timeName].flatMap(Self.text) else {
      throw SensorError.badPoint(
        file: request.file, line: lines.number, problem: "it has no '\(timeName)'")
    }
    guard let time = SensorTime.parse(text, unit) else {
      throw SensorError.badTime(
        file: request.file, line: lines.number, text: String(text.prefix(40)), unit: unit)
    }
    var numbers: [Double] = []
    for name in channels {
      guard let value = values[name], value != .null else {
        numbers.append(.nan)
        continue
      }
      guard let number = Self.number(value) else { throw bad("'\(name)' is not a number") }
      numbers.append(number)
    }
    return SensorRow(line: lines.number, time: time, values: numbers)
  }

  private mutating func nextMembers() throws -> [Member]? {
    while let line = try lines.next() {
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      guard let value = try? JSONValue(parsing: Data(line)), case .object = value else {
        throw SensorError.badPoint(
          file: request.file, line: lines.number, problem: "it is not one JSON object")
      }
      var members: [Member] = []
      guard Self.flatten(value, "", 0, &members) else {
        throw SensorError.badPoint(
          file: request.file, line: lines.number,
          problem: "it is nested deeper than \(Self.depthMax), or has more than "
            + "\(Self.membersMax) values")
      }
      return members
    }
    return nil
  }

  private static func flatten(
    _ value: JSONValue, _ name: String, _ depth: Int, _ members: inout [Member]
  ) -> Bool {
    guard depth <= depthMax, members.count < membersMax else { return false }
    let prefix = name.isEmpty ? "" : name + "."
    switch value {
    case .object(let inside):
      // Sorted, because an object has no order that a reader could rely on.
      for key in inside.keys.sorted() {
        guard flatten(inside[key] ?? .null, prefix + key, depth + 1, &members) else { return false }
      }
    case .array(let inside):
      for (place, element) in inside.enumerated() {
        guard flatten(element, prefix + "\(place)", depth + 1, &members) else { return false }
      }
    default: members.append((name, value))
    }
    return true
  }

  private static func number(_ value: JSONValue) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// A number in the shortest form that reads back as the same number, as the file has it.
  private static func text(_ value: JSONValue) -> String? {
    switch value {
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .string(let text): text
    default: nil
    }
  }
}
