import Foundation
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeSession
import RetakeStore

/// Answers a question in SQL about all sessions and goldens of a project. Implements
/// `retake query`.
package struct CorpusQuery {
  /// A table that a query can name.
  package struct Table: Hashable, Sendable, Codable {
    package var name: String
    package var columns: [String]
    package var about: String
  }

  /// Times are in seconds from the first moment of the session; `"case"` is a word of SQL, so the
  /// column of a case is `testcase`.
  package static let tables = [
    Table(
      name: "sessions", columns: ["session", "status", "tracks", "frames", "seconds"],
      about: "the recordings of the project"),
    Table(
      name: "frames", columns: ["session", "track", "sequence", "time", "damage"],
      about: "recorded frames; damage is a cause or null"),
    Table(
      name: "events", columns: ["session", "time", "kind", "state", "json"],
      about: "what happened to device and recorder, such as kind thermal with state serious"),
    Table(
      name: "samples", columns: ["session", "sensor", "channel", "time", "value"],
      about: "measurements of sensors"),
    Table(
      name: "results",
      columns: ["session", "testcase", "track", "sequence", "sink", "fate", "reason", "node"],
      about:
        "what became of each frame at each sink, from goldens; fate is delivered, dropped, throttled, replaced, failed or inFlight"
    ),
    Table(
      name: "detections",
      columns: [
        "session", "testcase", "track", "sequence", "sink", "class", "score", "x", "y", "width",
        "height", "identity",
      ], about: "boxes of goldens"),
    Table(
      name: "scalars",
      columns: ["session", "testcase", "track", "sequence", "sink", "name", "value"],
      about: "numbers of goldens"),
    Table(
      name: "decisions",
      columns: ["session", "testcase", "time", "kind", "node", "track", "sequence", "line"],
      about: "lines of the decision logs of goldens; time is virtual"),
  ]

  private static let rowsMax = 1_000_000

  package var project: Project
  package var goldens: String?

  package init(project: Project) { self.project = project }

  /// - Throws: `ErrorFacts` for SQL that SQLite refuses; an error of a session or a golden that the
  ///   query needs.
  package func answer(_ sql: String) throws -> QueryDatabase.Answer {
    let database = try QueryDatabase()
    // Only tables that the query names are filled: samples may be many.
    let words = Set(sql.lowercased().split { !$0.isLetter && $0 != "_" }.map(String.init))
    let named = Set(Self.tables.map(\.name)).intersection(words)
    for table in Self.tables { try database.create(table.name, columns: table.columns) }
    if !named.isDisjoint(with: ["sessions", "frames", "events", "samples"]) {
      for name in project.sessionNames { try read(session: name, named, into: database) }
    }
    if !named.isDisjoint(with: ["results", "detections", "scalars", "decisions"]) {
      let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
      for key in library.keys() {
        try read(golden: library.folder(key), key, named, into: database)
      }
    }
    return try database.answer(sql, rowsMax: Self.rowsMax)
  }

  // MARK: Sessions

  private func read(
    session name: String, _ named: Set<String>, into database: QueryDatabase
  ) throws {
    let reader = try SessionReader(opening: try project.sessionPath(name))
    let session = JSONValue.string(name)
    let entries = try reader.tracks.flatMap {
      try reader.entries(of: $0.track, sequences: 0..<$0.frameCount)
    }
    let origin = entries.map(\.timestamp.nanoseconds).min() ?? 0
    func seconds(_ nanoseconds: Int64) -> JSONValue { .number(Double(nanoseconds - origin) / 1e9) }
    if named.contains("sessions") {
      let end = entries.map(\.timestamp.nanoseconds).max() ?? origin
      try database.insert(
        [
          [
            session, text(try reader.index.store.meta("status")), .integer(reader.tracks.count),
            .integer(entries.count), seconds(end),
          ]
        ], into: "sessions")
    }
    if named.contains("frames") {
      try database.insert(
        entries.map { entry in
          [
            session, .integer(entry.id.track), .integer(entry.id.sequence),
            seconds(entry.timestamp.nanoseconds), text(entry.damage),
          ]
        }, into: "frames")
    }
    if named.contains("events") {
      try database.insert(
        try reader.events().map { event in
          let json = try? JSONValue(parsing: Data(event.json.utf8))
          return [
            session, seconds(event.timestamp.nanoseconds), .string(event.kind),
            json?["state"] ?? .null, .string(event.json),
          ]
        }, into: "events")
    }
    guard named.contains("samples") else { return }
    for (number, sensor) in reader.sensors.enumerated() {
      try StoreReader.eachPage(
        after: \.index,
        { try reader.index.store.samples(sensor: number, from: $0, count: 4_096) }
      ) { page in
        try database.insert(
          page.flatMap { sample in
            zip(sensor.channels, sample.numbers).map { channel, value in
              [
                session, .string(sensor.name), .string(channel), seconds(sample.timeNanoseconds),
                .number(value),
              ]
            }
          }, into: "samples")
        return true
      }
    }
  }

  // MARK: Goldens

  private func read(
    golden: GoldenFolder, _ key: GoldenLibrary.Key, _ named: Set<String>,
    into database: QueryDatabase
  ) throws {
    let start = [JSONValue.string(key.session), .string(key.testCase)]
    if named.contains("decisions") {
      var rows: [[JSONValue]] = []
      let origin = try golden.eachDecision { line in
        rows.append(
          start + [
            .integer(line.time), .string(line.kind.rawValue), .string(line.node),
            integer(line.frame?.track), integer(line.frame?.sequence), .string("\(line)"),
          ])
      }
      for index in rows.indices {
        guard case .integer(let time) = rows[index][2] else { continue }
        rows[index][2] = .number(Double(Int64(time) - origin) / 1e9)
      }
      try database.insert(rows, into: "decisions")
    }
    guard !named.isDisjoint(with: ["results", "detections", "scalars"]) else { return }
    for sink in try golden.manifest().precision.keys.sorted() {
      try read(golden, sink, start, into: database)
    }
  }

  private func read(
    _ golden: GoldenFolder, _ sink: String, _ start: [JSONValue], into database: QueryDatabase
  ) throws {
    var (results, detections, scalars): ([[JSONValue]], [[JSONValue]], [[JSONValue]]) = ([], [], [])
    var classes: [Int] = []
    let names = try golden.eachOutcome(at: sink) { frame, lines in
      let place =
        start + [
          .integer(frame.track), .integer(frame.sequence), .string(sink),
        ]
      if case .ended(let fate, let node)? = lines.first {
        results.append(place + [.string(fate.name), .string(fate.reason), .string(node)])
      } else {
        results.append(place + [.string("delivered"), .null, .null])
      }
      let values = SinkValues(lines)
      for item in values.detections {
        classes.append(item.classIndex)
        detections.append(
          place + [
            .null, .number(item.score), .number(item.box.x), .number(item.box.y),
            .number(item.box.width), .number(item.box.height), integer(item.identity),
          ])
      }
      for (name, value) in values.scalars.sorted(by: { $0.key < $1.key }) {
        scalars.append(place + [.string(name), .number(value)])
      }
    }
    // The names are complete only after the last file.
    for (row, index) in classes.enumerated() {
      let name = names.flatMap { $0.indices.contains(index) ? $0[index] : nil }
      detections[row][5] = .string(name ?? "\(index)")
    }
    try database.insert(results, into: "results")
    try database.insert(detections, into: "detections")
    try database.insert(scalars, into: "scalars")
  }

  private func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
  private func integer(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
}

extension JSONValue {
  fileprivate static func integer(_ value: Int) -> Self { .integer(Int64(value)) }
}

extension FrameFate {
  /// The word of reports; files of results have shorter words.
  fileprivate var name: String {
    switch self {
    case .delivered: "delivered"
    case .dropped: "dropped"
    case .throttled: "throttled"
    case .replaced: "replaced"
    case .failed: "failed"
    case .inFlight: "inFlight"
    }
  }
}
