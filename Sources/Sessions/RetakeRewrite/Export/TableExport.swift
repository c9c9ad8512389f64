import RetakeCore
import RetakeSession
import RetakeStore

/// Writes rows of the database as CSV or JSON lines, page by page.
struct TableExport {
  let reader: SessionReader
  let rows: SessionExport.Rows
  let form: SessionExport.Form
  /// The run of decisions, results and spans; nil selects the newest.
  let run: Int?
  /// The sensor of samples; nil selects the only one.
  let sensor: String?
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// A value and the name of its column; a nil value makes an empty cell.
  typealias Cell = (name: String, value: JSONValue)

  private static let pageRows = 4_096

  private var store: StoreReader { reader.index.store }

  /// - Returns: the number of rows.
  func write(_ take: (String) throws -> Void) throws -> Int {
    var count = 0
    try eachPage { page in
      var text = ""
      for cells in page {
        // The columns' names come from the first row; without rows there is an error and no table.
        if count == 0, form == .csv { text += Self.line(cells.map { .string($0.name) }) }
        text += line(cells)
        count += 1
      }
      try take(text)
      guard report(SessionCheck.Progress(done: count, total: 0)) else {
        throw SessionError.interrupted
      }
    }
    guard count > 0 else {
      throw SessionError.nothingToExport(session: reader.folder.path, kind: rows.rawValue)
    }
    return count
  }

  private func line(_ cells: [Cell]) -> String {
    guard form == .jsonLines else { return Self.line(cells.map(\.value)) }
    let members = Dictionary(cells.map { ($0.name, $0.value) }) { first, _ in first }
    return JSONValue.object(members).canonicalText + "\n"
  }

  /// RFC 4180: a value with a comma, a quote or a line break is quoted.
  private static func line(_ values: [JSONValue]) -> String {
    let fields = values.map { value -> String in
      let text =
        switch value {
        case .null: ""
        case .string(let text): text
        default: value.canonicalText
        }
      return isPlain(text) ? text : "\"" + doublingQuotes(text) + "\""
    }
    // RFC 4180 ends every line with CRLF.
    return fields.joined(separator: ",") + "\r\n"
  }

  // By scalars and bytes: a comma or a quote before a combining mark is one Character with it, and
  // not equal to the comma or quote that a reader of CSV sees there.

  private static func isPlain(_ text: String) -> Bool {
    !text.unicodeScalars.contains { $0 == "," || $0 == "\"" || Character($0).isNewline }
  }

  private static func doublingQuotes(_ text: String) -> String {
    let quote = UInt8(ascii: "\"")
    let bytes = text.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func eachPage(_ body: ([[Cell]]) throws -> Void) throws {
    switch rows {
    case .frames:
      for track in reader.index.tracks {
        try pages(after: \.sequence, Self.cells, body) {
          try store.frames(track: track, from: $0, count: Self.pageRows)
        }
      }
    case .packets:
      for track in reader.index.tracks {
        try pages(after: \.index, Self.cells, body) {
          try store.packets(track: track, from: $0, count: Self.pageRows)
        }
      }
    case .events:
      try pages(after: \.ordinal, Self.cells, body) {
        try store.events(from: $0, count: Self.pageRows)
      }
    case .samples:
      let sensor = try chosenSensor()
      try pages(after: \.index, { cells($0, of: sensor) }, body) {
        try store.samples(sensor: sensor.number, from: $0, count: Self.pageRows)
      }
    case .decisions, .results, .spans: try eachPageOfRun(body)
    }
  }

  /// One sensor: others have other columns.
  private func chosenSensor() throws -> SensorTrack {
    let known = reader.sensors
    guard let first = known.first else {
      throw SessionError.nothingToExport(session: reader.folder.path, kind: rows.rawValue)
    }
    guard let sensor = sensor ?? (known.count == 1 ? first.name : nil),
      let found = known.first(where: { $0.name == sensor })
    else {
      throw SessionError.unknownSensor(
        session: reader.folder.path, name: sensor, known: known.map(\.name))
    }
    return found
  }

  private func eachPageOfRun(_ body: ([[Cell]]) throws -> Void) throws {
    let known = try store.runs().map(\.run)
    guard let run = run ?? known.last else {
      throw SessionError.nothingToExport(session: reader.folder.path, kind: rows.rawValue)
    }
    guard known.contains(run) else {
      throw SessionError.noLiveRun(session: reader.folder.path, known: known)
    }
    switch rows {
    case .decisions:
      try pages(after: \.ordinal, Self.cells, body) {
        try store.decisions(run: run, from: $0, count: Self.pageRows)
      }
    case .results:
      try pages(after: \.ordinal, Self.cells, body) {
        try store.results(run: run, from: $0, count: Self.pageRows)
      }
    default:
      // Spans have no ordinal to page by, so they are read node by node.
      for node in try store.nodes(run: run) {
        let page = try store.spans(run: run, node: node.node)
        if !page.isEmpty { try body(page.map(Self.cells)) }
      }
    }
  }

  private func pages<Row>(
    after number: KeyPath<Row, Int>, _ cells: (Row) -> [Cell], _ body: ([[Cell]]) throws -> Void,
    _ page: (Int) throws -> [Row]
  ) throws {
    try StoreReader.eachPage(after: number, page) {
      try body($0.map(cells))
      return true
    }
  }
}

extension TableExport {
  private static func number(_ value: Int?) -> JSONValue {
    value.map { .integer(Int64($0)) } ?? .null
  }
  private static func number(_ value: Int64?) -> JSONValue { value.map { .integer($0) } ?? .null }
  private static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

  fileprivate static func cells(_ row: FrameRecord) -> [Cell] {
    [
      ("track", number(row.track)), ("sequence", number(row.sequence)), ("pts", number(row.pts)),
      ("ptsNanoseconds", number(row.ptsNanoseconds)),
      ("arrivalNanoseconds", number(row.arrivalNanoseconds)), ("packet", number(row.packet)),
      ("entry", number(row.entry)), ("pixelDigest", text(row.pixelHash.map { "\($0)" })),
      ("cause", text(row.cause)), ("assumed", number(row.assumed.rawValue)),
    ]
  }

  /// The columns after the times are the sensor's channels. A channel that is named like one of
  /// them keeps its place, because CSV does not need unique names.
  private func cells(_ row: SampleRecord, of sensor: SensorTrack) -> [Cell] {
    [
      ("index", Self.number(row.index)), ("timeNanoseconds", Self.number(row.timeNanoseconds)),
      ("arrivalNanoseconds", Self.number(row.arrivalNanoseconds)),
    ]
      + zip(sensor.channels, row.numbers).map { ($0, cell($1)) }
  }

  /// JSON has no infinity. A table has, and an import reads it.
  private func cell(_ value: Double) -> JSONValue {
    if value.isFinite { return .number(value) }
    return value.isNaN || form == .jsonLines ? .null : .string(value > 0 ? "inf" : "-inf")
  }

  fileprivate static func cells(_ row: PacketRecord) -> [Cell] {
    [
      ("track", number(row.track)), ("index", number(row.index)),
      ("segment", number(row.segment)), ("ordinal", number(row.ordinal)),
      ("pts", number(row.pts)), ("dts", number(row.dts)), ("duration", number(row.duration)),
      ("flags", number(row.flags.rawValue)), ("size", number(row.size)),
      ("digest", text("\(row.digest)")), ("offset", number(row.offset)),
    ]
  }

  fileprivate static func cells(_ row: EventRecord) -> [Cell] {
    [
      ("ordinal", number(row.ordinal)), ("timeNanoseconds", number(row.timeNanoseconds)),
      ("track", number(row.track)), ("source", text(row.source)), ("kind", text(row.kind)),
      ("json", text(row.json)),
    ]
  }

  fileprivate static func cells(_ row: DecisionRecord) -> [Cell] {
    [("run", number(row.run)), ("ordinal", number(row.ordinal)), ("line", text(row.line))]
  }

  fileprivate static func cells(_ row: ResultRecord) -> [Cell] {
    [
      ("run", number(row.run)), ("ordinal", number(row.ordinal)), ("sink", text(row.sink)),
      ("line", text(row.line)),
    ]
  }

  fileprivate static func cells(_ row: SpanRecord) -> [Cell] {
    [
      ("run", number(row.run)), ("node", text(row.node)), ("track", number(row.track)),
      ("sequence", number(row.sequence)), ("item", number(row.item)),
      ("readyNanoseconds", number(row.readyNanoseconds)),
      ("startNanoseconds", number(row.startNanoseconds)),
      ("endNanoseconds", number(row.endNanoseconds)),
      ("cpuNanoseconds", number(row.cpuNanoseconds)), ("executor", text(row.executor)),
      ("outcome", text(row.outcome)),
    ]
  }
}
