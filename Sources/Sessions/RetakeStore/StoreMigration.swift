import GRDB
import RetakeCore

/// Copies a database to the current schema.
package enum StoreMigration {
  package static let version = Int(Schema.version)

  /// Number of rows per transaction.
  private static let batchRows = 4_096

  /// Copies every row of a closed database, whatever its schema, to a new one at `path`.
  ///
  /// - Returns: the number of rows, without the facts that the writer itself keeps.
  @discardableResult
  package static func copy(_ reader: StoreReader, to path: String) throws -> Int {
    let writer = try StoreWriter(creating: path, durability: .building)
    var total = 0
    for table in Schema.tables(version: Int64(reader.schemaVersion)) {
      total += try copy(table, from: reader, to: writer)
    }
    try writer.close()
    return total
  }

  /// Copies the rows that do not depend on how frames are stored: facts, events, sensors, and live
  /// runs with everything that they decided. If `runs` is given, it replaces the rows of the runs
  /// themselves.
  package static func copyAccounts(
    _ reader: StoreReader, to writer: StoreWriter, runs: [RunRecord]? = nil
  ) throws {
    if let runs { writer.append(runs) }
    let sensors = [Schema.sensor, Schema.sample].filter { reader.has($0) }
    for table in [Schema.meta, Schema.event] + (runs == nil ? [Schema.run] : []) + Schema.ofRuns
      + sensors
    {
      _ = try copy(table, from: reader, to: writer)
    }
  }

  private static func copy(
    _ table: Schema.Table, from reader: StoreReader, to writer: StoreWriter
  ) throws -> Int {
    // Before the read, because it reads all frames itself, and reads of one connection cannot nest.
    let completed = try reader.completion(of: table)
    return try reader.read { database in
      let cursor = try Row.fetchCursor(
        database, sql: table.selectSQL(version: Int64(reader.schemaVersion)))
      var batch: [[DatabaseValue]] = []
      var total = 0
      while let row = try cursor.next() {
        let values = row.cells
        if table.name == Schema.meta.name, isOwn(values) { continue }
        total += 1
        // A damaged file can lead a table round in circles.
        guard total <= reader.rowCountMax else {
          throw RowDamage(table: table.name, column: "rows")
        }
        batch.append(completed(values))
        // A full batch is committed, so that a long table never has to fit into memory.
        guard batch.count == batchRows else { continue }
        writer.append(batch, to: table, replaces: false)
        try writer.commit()
        batch = []
      }
      writer.append(batch, to: table, replaces: false)
      try writer.commit()
      return total
    }
  }

  /// Facts that the new database's writer keeps itself.
  private static func isOwn(_ values: [DatabaseValue]) -> Bool {
    guard let key = values.first.flatMap({ String.fromDatabaseValue($0) }) else { return false }
    // The copy is closed by its own writer, when all rows are there.
    return key == "closed" || StoreWriter.ownKeys.contains(key)
  }
}
