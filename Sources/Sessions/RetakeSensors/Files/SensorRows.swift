import RetakeCore

/// Reads the samples of a file one after another.
package protocol SensorRows {
  /// Known when the first row was read, like the unit.
  var channels: [String] { get }
  /// Of the times.
  var unit: SensorTimeUnit { get }
  /// Of the values; empty if the file does not say it.
  var valueUnit: String { get }
  /// Descriptions of the rows that were omitted so far.
  var remarks: [String] { get }
  /// The next sample; nil at the end of the file.
  mutating func next() throws -> SensorRow?
}

extension SensorRows {
  var remarks: [String] { [] }
  var valueUnit: String { "" }
}

/// A table with comma, semicolon or tab between its fields, and the columns' names in its first
/// line. A table without names has the columns `1`, `2` and so on.
struct CSVRows: SensorRows {
  private var lines: SensorLineReader
  private let request: SensorRequest
  private(set) var channels: [String] = []
  private var separator = UInt8(ascii: ",")
  private var columnCount = 0
  private var timeColumn = 0
  private(set) var unit = SensorTimeUnit.s
  /// Dates in the first row need no `unit=date`.
  private var mayBeDate = true
  private var places: [Int] = []
  /// The first line, if it has no names.
  private var first: [String]?

  private static let columnsMax = 4_096

  init(_ request: SensorRequest) throws {
    self.request = request
    lines = try SensorLineReader(request.file)
    guard let head = try nextFields(isFirst: true) else {
      throw SensorError.noSamples(file: request.file)
    }
    let isNamed = !head.allSatisfy { SensorNumber.parseField($0) != nil }
    // A comma at the end of each line makes a column without a name.
    let names = head.enumerated().map { isNamed && !$1.isEmpty ? $1 : "\($0 + 1)" }
    if !isNamed { first = head }
    columnCount = names.count
    try choose(names)
  }

  private mutating func choose(_ names: [String]) throws {
    let column = try TimeColumn(among: names, wanted: request.timeColumn, file: request.file)
    (timeColumn, unit) = (column.place, request.unit ?? column.unit ?? .s)
    mayBeDate = request.unit == nil
    if request.columns.isEmpty {
      places = names.indices.filter { $0 != timeColumn }
    } else {
      for name in request.columns {
        guard let place = names.firstIndex(of: name) else {
          throw SensorError.noColumn(file: request.file, name: name, known: names)
        }
        places.append(place)
      }
    }
    channels = places.map { names[$0] }
    // Values are read by their channel's name.
    if let name = channels.firstRepeated {
      throw SensorError.sameColumns(file: request.file, name: name)
    }
  }

  mutating func next() throws -> SensorRow? {
    if let fields = first {
      first = nil
      return try row(fields)
    }
    guard let fields = try nextFields(isFirst: false) else { return nil }
    return try row(fields)
  }

  private mutating func row(_ fields: [String]) throws -> SensorRow {
    let line = lines.number
    func bad(_ problem: String) -> SensorError {
      .badLine(file: request.file, line: line, problem: problem)
    }
    guard fields.count == columnCount else {
      throw SensorError.badPoint(
        file: request.file, line: line,
        problem: "it has \(counted(fields.count, "field")), and the first line \(columnCount)")
    }
    if mayBeDate, SensorTime.date(fields[timeColumn]) != nil { unit = .date }
    mayBeDate = false
    guard let time = SensorTime.parse(fields[timeColumn], unit) else {
      throw SensorError.badTime(
        file: request.file, line: line, text: String(fields[timeColumn].prefix(40)), unit: unit)
    }
    var values: [Double] = []
    values.reserveCapacity(places.count)
    for (place, name) in zip(places, channels) {
      guard let value = SensorNumber.parseField(fields[place]) else {
        throw bad("'\(fields[place].prefix(40))' in the column '\(name)' is not a number")
      }
      values.append(value)
    }
    return SensorRow(line: line, time: time, values: values)
  }

  private mutating func nextFields(isFirst: Bool) throws -> [String]? {
    while let line = try lines.next() {
      // Empty lines and comments, as loggers write them, have no values.
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      if isFirst {
        separator =
          [UInt8(ascii: "\t"), UInt8(ascii: ";")].first { line.contains($0) } ?? separator
      }
      guard let fields = Self.fields(line, separator), fields.count <= Self.columnsMax else {
        throw SensorError.badPoint(
          file: request.file, line: lines.number,
          problem: "a quote is not closed, or there are more than \(Self.columnsMax) fields")
      }
      return fields
    }
    return nil
  }

  /// The fields without blanks around them; nil if a quote is not closed. A field with a line break
  /// in quotes, which no number has, counts as such.
  static func fields(_ line: [UInt8], _ separator: UInt8) -> [String]? {
    guard line.contains(UInt8(ascii: "\"")) else {
      return line.split(separator: separator, omittingEmptySubsequences: false).map(Self.text)
    }
    var (fields, field, isQuoted) = ([String](), [UInt8](), false)
    var place = 0
    while place < line.count {
      let byte = line[place]
      place += 1
      if byte == UInt8(ascii: "\"") {
        if isQuoted, place < line.count, line[place] == byte {
          field.append(byte)
          place += 1
        } else {
          isQuoted.toggle()
        }
      } else if byte == separator, !isQuoted {
        fields.append(text(field[...]))
        field = []
      } else {
        field.append(byte)
      }
    }
    return isQuoted ? nil : fields + [text(field[...])]
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Which column has the times.
struct TimeColumn {
  var place: Int
  /// By the column's name.
  var unit: SensorTimeUnit?

  private static let usual = ["time", "timestamp", "t"]

  init(among names: [String], wanted: String?, file: String) throws {
    let name: String
    if let wanted {
      guard names.contains(wanted) else {
        throw SensorError.noColumn(file: file, name: wanted, known: names)
      }
      name = wanted
    } else {
      // `time_ns` and `Timestamp` are usual, too.
      let found = Self.usual.lazy.compactMap { word in
        names.first { Self.stem($0.lowercased()) == word }
      }.first
      guard let found = found ?? (names.first == "1" ? "1" : nil) else {
        throw SensorError.noColumn(file: file, name: "time", known: names)
      }
      name = found
    }
    place = names.firstIndex(of: name) ?? 0
    unit = Self.units.first { name.lowercased().hasSuffix("_\($0.rawValue)") }
  }

  private static let units: [SensorTimeUnit] = [.ns, .us, .ms, .s]

  private static func stem(_ name: String) -> String {
    for unit in units where name.hasSuffix("_\(unit.rawValue)") {
      return String(name.dropLast(unit.rawValue.count + 1))
    }
    return name
  }
}

extension Sequence where Element: Hashable {
  /// The first element that equals one before it.
  var firstRepeated: Element? {
    var known: Set<Element> = []
    return first { !known.insert($0).inserted }
  }
}
