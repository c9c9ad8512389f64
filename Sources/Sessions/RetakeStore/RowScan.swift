import GRDB

/// Reads every row of a database once.
struct RowScan {
  let version: Int64
  let rowCountMax: Int
  private(set) var running = RunningDigest()
  /// The first missing row that is followed by another row of its table.
  private(set) var gap: String?
  private var place = RowPlace()
  private var damaged: [StoreReader.Complaint] = []
  /// Tables that could not be read to their end.
  private var broken: [StoreReader.Complaint] = []
  /// An error that does not prove damage in the table itself, such as a lack of memory.
  private(set) var failure: DatabaseError?

  init(version: Int64, rowCountMax: Int) {
    (self.version, self.rowCountMax) = (version, rowCountMax)
  }

  mutating func run(_ table: Schema.Table, in database: Database) {
    var count = 0
    do {
      place = RowPlace()
      let walk = try RowWalk(
        table.selectStoredSQL(version: version) + " ORDER BY \(table.keyList)", in: database)
      while try walk.next() {
        count += 1
        guard count <= rowCountMax else { throw RowDamage(table: table.name, column: "rows") }
        take(walk, of: table)
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
      let damage = StoreReader.giant(in: database, version: version)
      broken.append(
        StoreReader.Complaint(
          kind: .structure, text: damage?.cause ?? "a value is larger than a session's ever is",
          table: table.name, isAboutSize: true))
    } catch {
      // Only SQLITE_CORRUPT is about the file. A lack of memory or a failing
      // disk must not be reported as damage of the session.
      if let error = error as? DatabaseError, error.resultCode != .SQLITE_CORRUPT {
        failure = failure ?? error
      }
      // The only other error is the bound on rows above.
      let cause = (error as? DatabaseError)?.message ?? "it leads round in circles"
      broken.append(
        StoreReader.Complaint(
          kind: .structure, text: "\(table.name) cannot be read after its row \(count): \(cause)",
          table: table.name))
    }
  }

  private mutating func take(_ walk: RowWalk, of table: Schema.Table) {
    let count = table.columnCount(version: version)
    let digest = walk.digest(table: table, columns: count)
    // The writer computes the sum before it writes `commit` and `digest`, so the stored sum does
    // not cover them.
    if table.name != FactRecord.table.name || !Self.isWriters(walk) { running.add(digest) }
    if gap == nil, table.countsItsRows { gap = place.missing(before: walk, of: table) }
    guard version >= Schema.firstVersionWithChecks,
      // The checksum is the column after the row's own columns.
      walk.int64(count) != RunningDigest.check(of: digest),
      damaged.count < StoreReader.complaintCount
    else { return }
    let values = Array(walk.values.prefix(count))
    let key = values.prefix(table.keyCount)
    damaged.append(
      StoreReader.Complaint(
        kind: .row,
        text: "the row of \(table.name) with \(table.key(of: values)) "
          + "differs from the written row",
        table: table.name, key: key.compactMap { Int.fromDatabaseValue($0) }))
  }

  /// Rows of meta that are not in the running digest.
  private static func isWriters(_ walk: RowWalk) -> Bool {
    guard let key = String.fromDatabaseValue(walk.value(0)) else { return false }
    return key != "schema" && StoreWriter.ownKeys.contains(key)
  }

  /// Whether the damage is too extensive for damaged checksums to be its only cause.
  var isHopeless: Bool { damaged.count >= StoreReader.complaintCount || !broken.isEmpty }

  func complaints(stored: StoreWriter.Commit?) -> [StoreReader.Complaint] {
    guard let stored else {
      let lost = StoreReader.Complaint(
        kind: .digest, text: "the last commit's ordinal or digest is gone", table: "meta")
      return broken + damaged + [lost]
    }
    guard running.value == stored.digest else {
      let text = "the rows' digest is \(running.value), commit \(stored.ordinal) stored "
      let all = StoreReader.Complaint(kind: .digest, text: text + "\(stored.digest)")
      return broken + damaged + [all]
    }
    // If the sum of all rows is right, each row is as it was written, and a checksum that differs
    // is itself damaged. The sum does not cover two rows of `meta`, so it proves no row of that
    // table.
    return broken
      + damaged.map { complaint in
        guard complaint.table != FactRecord.table.name else { return complaint }
        var complaint = complaint
        complaint.kind = .check
        complaint.text = complaint.text.replacing(
          "differs from the written row", with: "is intact, but its checksum is damaged")
        return complaint
      }
  }
}

/// The position of a scan in a table whose rows are numbered from 0, per track, per run or overall.
private struct RowPlace {
  private var group: Int64?
  private var next: Int64 = 0

  /// - Returns: the first missing row between the last row and this one.
  mutating func missing(before walk: RowWalk, of table: Schema.Table) -> String? {
    let group = table.keyCount == 2 ? walk.int64(0) ?? 0 : 0
    let number = walk.int64(table.keyCount - 1) ?? 0
    let expected = self.group == group ? next : 0
    // A damaged key may be the largest number, so the next one wraps.
    (self.group, next) = (group, number &+ 1)
    guard number > expected else { return nil }
    return table.missing(group: group, number: expected)
  }
}

extension Schema.Table {
  /// Whether the last column of the key numbers the rows from 0.
  var countsItsRows: Bool {
    switch name {
    case "segment", "packet", "frame", "event", "external_event", "decision", "result", "sample":
      true
    default: false
    }
  }

  func missing(group: Int64, number: Int64) -> String {
    let numbers = keyCount == 2 ? [group, number] : [number]
    let key = zip(columns, numbers).map { "\($0.name) \($1)" }.joined(separator: ", ")
    return "the row of \(name) with \(key) is missing"
  }
}
