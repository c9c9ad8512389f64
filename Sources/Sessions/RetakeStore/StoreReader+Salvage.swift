import GRDB
import RetakeCore

extension StoreReader {
  /// The data of a damaged database that is not in the media: all rows that can be read and that
  /// match their checksum, if they have one.
  package struct Salvage: Sendable {
    package var facts: [String: String] = [:]
    /// Only of a session whose media does not have the times of its frames.
    package var frames: [FrameRecord] = []
    package var events: [EventRecord] = []
    package var runs: [RunRecord] = []
    package var nodes: [NodeRecord] = []
    package var spans: [SpanRecord] = []
    package var externalEvents: [ExternalEventRecord] = []
    package var decisions: [DecisionRecord] = []
    package var results: [ResultRecord] = []
    package var sensors: [SensorRecord] = []
    package var samples: [SampleRecord] = []
    /// The numbers of rows in the tables of sensors and samples, intact or not.
    package var sensorRows = 0
    package var sampleRows = 0
    /// Whether they could be counted.
    package var areSensorsCounted = false

    /// The name of the file that the times of the frames are from, and not from the media.
    package static let frameTimesFact = "frameTimes"

    package init() {}
  }

  package func salvage() -> Salvage {
    var salvage = Salvage()
    let facts: [FactRecord] = trusted()
    // The writer of the new database sets these itself.
    for fact in facts where !StoreWriter.ownKeys.contains(fact.key) {
      salvage.facts[fact.key] = fact.value
    }
    if salvage.facts[Salvage.frameTimesFact] != nil { salvage.frames = trusted() }
    salvage.events = trusted()
    salvage.runs = trusted()
    // If a run's own row is damaged, its other rows would refer to a missing run.
    let known = Set(salvage.runs.map(\.run))
    salvage.nodes = trusted().filter { (row: NodeRecord) in known.contains(row.run) }
    salvage.spans = trusted().filter { (row: SpanRecord) in known.contains(row.run) }
    salvage.externalEvents = trusted().filter { (row: ExternalEventRecord) in
      known.contains(row.run)
    }
    salvage.decisions = trusted().filter { (row: DecisionRecord) in known.contains(row.run) }
    salvage.results = trusted().filter { (row: ResultRecord) in known.contains(row.run) }
    if has(SampleRecord.table) {
      salvage.sensors = trusted()
      salvage.samples = trusted()
      let counts = (rowCount(of: SensorRecord.table), rowCount(of: SampleRecord.table))
      (salvage.sensorRows, salvage.sampleRows) = (counts.0 ?? 0, counts.1 ?? 0)
      salvage.areSensorsCounted = counts.0 != nil && counts.1 != nil
    } else {
      // An index of an older schema has no sensors.
      salvage.areSensorsCounted = true
    }
    return salvage
  }

  private func rowCount(of table: Schema.Table) -> Int? {
    let count = try? read { database in
      try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(table.name)")
    }
    return count ?? nil
  }

  /// The intact rows of a table in the order of their keys, up to the first read error.
  private func trusted<Record: StoredRow>() -> [Record] {
    let table = Record.table
    let version = Int64(schemaVersion)
    var records: [Record] = []
    _ = try? read { database in
      let walk = try RowWalk(
        table.selectStoredSQL(version: version) + " ORDER BY \(table.keyList)", in: database)
      let count = table.columnCount(version: version)
      while records.count < rowCountMax, try walk.next() {
        // A row of schema 1 has no checksum; it counts as intact if its values are within bounds.
        let isWhole =
          version < Schema.firstVersionWithChecks
          || walk.int64(count) == RunningDigest.check(of: walk.digest(table: table, columns: count))
        if isWhole, let record = try? Record(RowReader(walk, of: table)) { records.append(record) }
      }
    }
    return records
  }
}
