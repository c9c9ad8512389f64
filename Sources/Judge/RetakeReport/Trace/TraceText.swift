import RetakeCore

/// The events of a trace as JSON objects, one per line, in the Trace Event Format.
///
/// Thread numbers are unique in the trace, because readers identify a thread by its number alone.
/// Each event has a category and a name. No event contains an array, and there is no
/// `displayTimeUnit`, because some readers fail on these.
struct TraceText: ~Copyable, Sendable {
  /// The row that an event belongs to.
  struct Row: Hashable, Sendable {
    var process: Int
    var thread: Int
  }

  enum Value {
    case text(String)
    case number(Int)
    /// A number in its JSON form.
    case decimal(String)
  }

  typealias Arguments = [(key: String, value: Value)]

  private(set) var buffer = TextBuffer(capacity: 1 << 17)
  /// The virtual time at which the trace begins, so that times are never negative.
  private var origin: Int64 = 0
  private var isFirst = true

  mutating func removeAll() { buffer.removeAll() }

  mutating func open() { buffer.append("{\"traceEvents\":[") }

  /// - Parameter about: Properties of the run, by name.
  mutating func close(about: [(key: String, value: String)]) {
    buffer.append("\n],\n\"otherData\":")
    append(about.map { ($0.key, .text($0.value)) })
    buffer.append("}\n")
  }

  /// Virtual time may be negative if a frame arrived before the presentation time of the first
  /// frame. The first line is the earliest.
  mutating func setStart(_ time: Int64) { origin = min(0, time) }

  var originNanoseconds: Int64 { origin }

  mutating func process(_ row: Row, _ name: String) {
    describe("process_name", row, [("name", .text(name))])
    describe("process_sort_index", row, [("sort_index", .number(row.process))])
  }

  mutating func thread(_ row: Row, _ name: String) {
    describe("thread_name", row, [("name", .text(name))])
    describe("thread_sort_index", row, [("sort_index", .number(row.thread))])
  }

  private mutating func describe(_ name: String, _ row: Row, _ arguments: Arguments) {
    begin("M")
    place(row)
    self.category("__metadata")
    self.name(name)
    end(arguments)
  }

  mutating func beginSlice(
    _ name: String, category: String, at time: Int64, _ row: Row, _ arguments: Arguments
  ) {
    event("B", at: time, row, category: category, name: name)
    end(arguments)
  }

  mutating func endSlice(
    _ name: String, category: String, at time: Int64, _ row: Row, _ arguments: Arguments
  ) {
    event("E", at: time, row, category: category, name: name)
    end(arguments)
  }

  mutating func instant(
    _ name: String, category: String, at time: Int64, _ row: Row, _ arguments: Arguments
  ) {
    event("i", at: time, row, category: category, name: name)
    buffer.append(",\"s\":\"t\"")
    end(arguments)
  }

  mutating func counter(_ name: String, unit: String, value: Int, at time: Int64, _ row: Row) {
    event("C", at: time, row, category: "queue", name: name)
    end([(unit, .number(value))])
  }

  /// - Parameter thousandths: The value in thousandths of the unit.
  mutating func counter(
    _ name: String, unit: String, thousandths: Int, at time: Int64, _ row: Row
  ) {
    event("C", at: time, row, category: "heat", name: name)
    end([(unit, .decimal(FixedPoint.text(thousandths, digits: 3)))])
  }

  /// - Parameter phase: `b` begins, `n` marks, `e` ends.
  mutating func span(
    _ phase: StaticString, _ name: String, id: String, at time: Int64, _ row: Row,
    _ arguments: Arguments
  ) {
    event(phase, at: time, row, category: "frame", name: name)
    // Viewers find the events of a span by category and id, so all of them have the same two.
    buffer.append(",\"id\":")
    buffer.append(json: id)
    end(arguments)
  }

  private mutating func event(
    _ phase: StaticString, at time: Int64, _ row: Row, category: String, name: String
  ) {
    begin(phase)
    buffer.append(",\"ts\":")
    // The format counts microseconds. Three decimals keep each nanosecond.
    buffer.append(time - origin, decimals: 3)
    place(row)
    self.category(category)
    self.name(name)
  }

  private mutating func begin(_ phase: StaticString) {
    buffer.append(isFirst ? "\n{\"ph\":\"" : ",\n{\"ph\":\"")
    isFirst = false
    buffer.append(phase)
    buffer.append(UInt8(ascii: "\""))
  }

  private mutating func place(_ row: Row) {
    buffer.append(",\"pid\":")
    buffer.append(row.process)
    buffer.append(",\"tid\":")
    buffer.append(row.thread)
  }

  private mutating func category(_ category: String) {
    buffer.append(",\"cat\":")
    buffer.append(json: category)
  }

  private mutating func name(_ name: String) {
    buffer.append(",\"name\":")
    buffer.append(json: name)
  }

  private mutating func end(_ arguments: Arguments) {
    if !arguments.isEmpty {
      buffer.append(",\"args\":")
      append(arguments)
    }
    buffer.append(UInt8(ascii: "}"))
  }

  private mutating func append(_ arguments: Arguments) {
    for (index, argument) in arguments.enumerated() {
      buffer.append(index == 0 ? "{" : ",")
      buffer.append(json: argument.key)
      buffer.append(UInt8(ascii: ":"))
      switch argument.value {
      case .text(let text): buffer.append(json: text)
      case .number(let number): buffer.append(number)
      case .decimal(let number): for byte in number.utf8 { buffer.append(byte) }
      }
    }
    buffer.append(UInt8(ascii: "}"))
  }
}
