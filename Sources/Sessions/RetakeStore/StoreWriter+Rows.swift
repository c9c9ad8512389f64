import RetakeCore

/// The rows of a new session: made by a command, or copied from another database and changed.
///
/// A command names what it adds, changes and drops; the size of a transaction is known here alone.
extension StoreWriter {
  /// Number of rows per transaction, so that no table has to fit into memory.
  static let batchRows = 4_096

  /// Creates the database of a folder that is discarded unless it is finished.
  package convenience init(building path: String, facts: Facts = []) throws {
    try self.init(creating: path, durability: .building)
    set(facts)
  }

  /// Facts about the session; one without a value is not stored.
  package typealias Facts = [(key: String, value: String?)]

  package func set(_ facts: Facts) {
    for case (let key, let value?) in facts { setMeta(key, value) }
  }

  /// Adds rows to the next commit; a key that exists already makes it fail.
  package func append<Row: StoredRow>(_ rows: [Row]) { append(rows, replaces: false) }

  /// Adds rows that take the place of rows with their keys, such as frames whose entries and pixel
  /// hashes are known only now.
  package func replace<Row: StoredRow>(_ rows: [Row]) { append(rows, replaces: true) }
  package func replace(_ row: some StoredRow) { replace([row]) }

  /// Adds any number of rows, changed, and commits them.
  package func write<Row: StoredRow>(
    _ rows: some Sequence<Row>, _ change: (inout Row) -> Void = { _ in }
  ) throws {
    for var row in rows {
      change(&row)
      try write(row)
    }
    try commit()
  }

  private func write(_ row: some StoredRow) throws {
    append([row])
    if pendingCount >= Self.batchRows { try commit() }
  }

  /// Copies all rows of one kind from another database, and commits them.
  ///
  /// - Parameter change: Changes a row of the copy; false drops it. It must not use the reader.
  package func copy<Row: StoredRow>(
    _: Row.Type = Row.self, from reader: StoreReader,
    _ change: (inout Row) -> Bool = { _ in true }
  ) throws {
    try reader.each("") { (row: Row) in
      var row = row
      if change(&row) { try write(row) }
      return true
    }
    try commit()
  }

  /// Copies the rows that do not depend on how frames are stored: facts, events, sensors, and live
  /// runs with everything that they decided.
  ///
  /// - Parameter change: Changes a run of the copy; false drops its own row alone.
  package func copyAccounts(
    from reader: StoreReader, _ change: (inout RunRecord) -> Bool = { _ in true }
  ) throws {
    // The writer of a database keeps some facts itself.
    try copy(from: reader) { (fact: inout FactRecord) in
      fact.key != "closed" && !Self.ownKeys.contains(fact.key)
    }
    try copy(from: reader, change)
    for kind in Schema.accounts { try copy(all: kind, from: reader) }
  }

  private func copy<Row: StoredRow>(all _: Row.Type, from reader: StoreReader) throws {
    try copy(Row.self, from: reader)
  }
}
