import Foundation
import GRDB
import RetakeCore
import RetakeStore

/// A file of rosbag2's SQLite storage: the tables `topics` and `messages`.
///
/// The file is opened as immutable, so that SQLite writes no files next to it. If the file was cut
/// or has damaged pages, the rows are read that SQLite can reach.
final class SQLiteBag: BagFile {
  let path: String
  let bytes: Int64
  private(set) var topics: [BagTopic] = []
  // A cut file is copied without its last page before it is opened (`SQLitePages`).
  let isWhole = true
  /// The place in `topics` by the topic's id.
  private var places: [Int64: Int] = [:]
  private let queue: DatabaseQueue

  /// A message with its images is far smaller.
  private static let messageBytesMax = 1 << 30
  private static let topicCountMax = 100_000

  /// - Parameter origin: The path in errors: the path of the compressed file, if there is one.
  /// - Throws: `BagError`.
  init(_ path: String, origin: String) throws {
    self.path = origin
    do {
      bytes = try RegularFile.facts(of: path, links: .followed).bytes
    } catch let error as RegularFile.Refusal {
      throw BagError.unreadable(path: origin, cause: error.causeText)
    }
    queue = try Self.errors(at: origin) {
      try DatabaseQueue(path: ImmutableDatabase.uri(of: path), configuration: Self.configuration())
    }
    try readTopics()
  }

  private static func configuration() -> Configuration {
    .reading("bag reader", readonly: true, valueBytesMax: messageBytesMax) {
      // Without this setting SQLite refuses every page of a file that is shorter than its header
      // says. The connection is read-only, so the setting cannot cause a write.
      try $0.execute(sql: "PRAGMA writable_schema = ON")
    }
  }

  private func readTopics() throws {
    let (topics, ids) = try Self.errors(at: path) { [path] in
      try queue.unsafeRead { database in
        try Self.checkTables(database, path: path)
        let definitions = try Self.definitions(database)
        var (topics, ids) = ([BagTopic](), [Int64]())
        let rows = try Row.fetchCursor(
          database, sql: "SELECT id, name, type, serialization_format FROM topics ORDER BY id")
        while let row = try rows.next() {
          let values = (0..<4).map { row[$0] as DatabaseValue }
          guard let id = Int64.fromDatabaseValue(values[0]),
            let name = String.fromDatabaseValue(values[1]),
            let type = String.fromDatabaseValue(values[2]),
            let encoding = String.fromDatabaseValue(values[3]), topics.count < Self.topicCountMax
          else {
            throw BagError.damaged(
              BagPlace(file: path), cause: "a row of topics is not one of rosbag2")
          }
          let schema = definitions[type]
          topics.append(
            BagTopic(
              name: name, type: type, encoding: encoding, schema: schema?.text ?? "",
              schemaEncoding: schema?.encoding ?? ""))
          ids.append(id)
        }
        return (topics, ids)
      }
    }
    self.topics = topics
    places = Dictionary(zip(ids, ids.indices)) { first, _ in first }
  }

  /// A view or a virtual table could compute for ever.
  private static func checkTables(_ database: Database, path: String) throws {
    for name in ["topics", "messages"] {
      let root = try Int64.fetchOne(
        database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ? AND type = 'table'",
        arguments: [name])
      guard let root, root > 0 else {
        throw BagError.notBag(
          path: path, cause: "the database has no table '\(name)', as a bag of ROS 2 has")
      }
    }
    let columns = try Set(
      String.fetchAll(database, sql: "SELECT name FROM pragma_table_info('messages')"))
    guard columns.isSuperset(of: ["id", "topic_id", "timestamp", "data"]) else {
      throw BagError.notBag(
        path: path, cause: "the table 'messages' has the columns \(columns.sorted())")
    }
  }

  private static func definitions(
    _ database: Database
  ) throws -> [String: (text: String, encoding: String)] {
    var found: [String: (text: String, encoding: String)] = [:]
    // Recorders before ROS 2 Iron write no definitions.
    let rows = try? Row.fetchCursor(
      database,
      sql: "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions")
    guard let rows else { return found }
    while let row = try rows.next() {
      let values = (0..<3).map { String.fromDatabaseValue(row[$0] as DatabaseValue) }
      if let type = values[0], let encoding = values[1], let text = values[2] {
        found[type] = (text, encoding)
      }
    }
    return found
  }

  func read(position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws {
    // Without a transaction, whose end reads a damaged page again.
    try queue.unsafeRead { database in
      var scan = SQLiteScan(
        database: database, path: path, topics: topics, places: places, done: 0)
      try scan.run(position: position, body)
    }
  }

  private static func errors<Value>(
    at path: String, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch let error as BagError {
      throw error
    } catch let error as DatabaseError {
      throw SQLiteScan.error(error, BagPlace(file: path))
    } catch {
      throw BagError.unreadable(path: path, cause: error.causeText)
    }
  }
}

/// Walks over the rows of `messages` by rising id, and around damage.
struct SQLiteScan {
  let database: Database
  let path: String
  let topics: [BagTopic]
  let places: [Int64: Int]
  var done: Int64
  private var last: Int64 = 0
  private var hasRow = false

  /// An error of the caller's closure, which is not one of SQLite.
  private struct Stopped: Error { var error: any Error }

  /// Maximum number of ids that are tried one by one after one damaged place; `probesLeft` is the
  /// bound for a file.
  private static let nearProbesMax = 4_096
  private var probesLeft = 1 << 18

  /// Rows without a rising id, in one file.
  private static let straysMax = 1 << 20
  private var straysLeft = straysMax

  /// Number of damaged places in one file after which reading continues.
  private static let damageCountMax = 10_000

  init(
    database: Database, path: String, topics: [BagTopic], places: [Int64: Int], done: Int64
  ) {
    (self.database, self.path, self.topics) = (database, path, topics)
    (self.places, self.done) = (places, done)
  }

  mutating func run(position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws {
    do {
      // Ends: each round passes at least one id, or returns.
      for _ in 0..<Self.damageCountMax {
        do {
          try rows(position: position, body)
          return
        } catch let error as DatabaseError {
          guard let next = try jump(over: error, body) else { return }
          (last, hasRow) = (next - 1, true)
        }
      }
    } catch let stopped as Stopped {
      throw stopped.error
    }
  }

  private mutating func rows(
    position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void
  ) throws {
    let cursor = try Row.fetchCursor(
      database,
      sql: "SELECT id, topic_id, timestamp, data, typeof(data) = 'blob' FROM messages "
        + "WHERE id > ? ORDER BY id",
      arguments: [hasRow ? last : Int64.min])
    while let row = try cursor.next() {
      guard let id = Int64.fromDatabaseValue(row[0] as DatabaseValue), !hasRow || id > last else {
        // The rest of a page that was cut, or a table whose pages form a cycle.
        guard try passStray(body) else { return }
        continue
      }
      let place = BagPlace(file: path, message: id)
      let item = item(row, place)
      (last, hasRow) = (id, true)
      do {
        try body(item)
        try position(done)
      } catch {
        throw Stopped(error: error)
      }
    }
  }

  /// The id after the last row's; a row may have the largest id that there is.
  private var afterLast: Int64 { last == .max ? last : last + 1 }

  /// - Returns: whether reading may continue.
  private mutating func passStray(_ body: (BagItem) throws -> Void) throws -> Bool {
    straysLeft -= 1
    guard straysLeft == Self.straysMax - 1 || straysLeft == 0 else { return true }
    let cause = straysLeft == 0 ? ": nothing behind them is read" : ", and are left out"
    do {
      try body(
        .loss(
          .damaged(
            BagPlace(file: path, message: afterLast),
            cause: "rows have ids that do not rise" + cause)))
    } catch {
      throw Stopped(error: error)
    }
    return straysLeft > 0
  }

  private mutating func item(_ row: Row, _ place: BagPlace) -> BagItem {
    var place = place
    guard let topicID = Int64.fromDatabaseValue(row[1] as DatabaseValue),
      let time = Int64.fromDatabaseValue(row[2] as DatabaseValue)
    else {
      return .loss(.damaged(place, cause: "its topic_id and timestamp are not integers"))
    }
    guard let topic = places[topicID] else {
      return .loss(.damaged(place, cause: "its topic_id \(topicID) is not in topics"))
    }
    place.topic = topics[topic].name
    guard Int64.fromDatabaseValue(row[4] as DatabaseValue) == 1 else {
      return .loss(.damaged(place, cause: "its data is not a BLOB"))
    }
    let bytes = row.blob(at: 3)
    done += Int64(bytes.count)
    return .message(
      BagMessage(topic: topic, logNanoseconds: time, bytes: bytes[...], place: place))
  }

  /// The next id that can be read after damage; nil if there is no such id.
  private mutating func jump(
    over error: DatabaseError, _ body: (BagItem) throws -> Void
  ) throws -> Int64? {
    guard
      error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_TOOBIG
        || error.resultCode == .SQLITE_IOERR
    else { throw Self.error(error, BagPlace(file: path)) }
    let start = hasRow ? afterLast : 1
    let next = nextReadable(from: start)
    let first = BagPlace(file: path, message: start)
    let what =
      next.map {
        $0 - 1 > start ? "messages \(start) to \($0 - 1) cannot be read" : "it cannot be read"
      }
      ?? "this and all messages after it cannot be read"
    do {
      try body(.loss(.damaged(first, cause: "\(what) (\(error.message ?? "\(error.resultCode)"))")))
    } catch {
      throw Stopped(error: error)
    }
    return next
  }

  private enum Probe { case row(Int64), end, damage }

  /// The first row with `id` or more, with all of its data.
  private func probe(_ id: Int64, reads data: Bool) -> Probe {
    do {
      let row = try Row.fetchOne(
        database,
        sql: "SELECT id" + (data ? ", data" : "")
          + " FROM messages WHERE id >= ? ORDER BY id LIMIT 1",
        arguments: [id])
      guard let row else { return .end }
      return Int64.fromDatabaseValue(row[0] as DatabaseValue).map { .row($0) } ?? .damage
    } catch {
      return .damage
    }
  }

  /// - Returns: an id whose row, or the first one after it, can be read.
  private mutating func nextReadable(from start: Int64) -> Int64? {
    // The row itself may be there while pages of its data are missing.
    if case .row(let id) = probe(start, reads: false), id < Int64.max {
      if case .row = probe(start, reads: true) { return start }
      return id + 1
    }
    var low = start
    // The number of rows in a lost page is not known, and a few rows may remain between two lost
    // pages.
    let near = min(Self.nearProbesMax, probesLeft)
    for distance in 1..<Int64(max(2, near)) {
      probesLeft -= 1
      let (id, overflow) = start.addingReportingOverflow(distance)
      guard !overflow else { return nil }
      switch probe(id, reads: false) {
      case .end: return nil
      case .row: return id
      case .damage: low = id
      }
    }
    // Farther away the distance doubles.
    var step = Int64(max(2, near))
    while true {
      let (high, overflow) = start.addingReportingOverflow(step)
      guard !overflow else { return nil }
      switch probe(high, reads: false) {
      case .end: return nil
      case .row: return bisect(low, high)
      case .damage:
        low = high
        step *= 2
        guard step < 1 << 40 else { return nil }
      }
    }
  }

  private func bisect(_ damaged: Int64, _ readable: Int64) -> Int64 {
    var (low, high) = (damaged, readable)
    // Halved each time.
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if case .row = probe(middle, reads: false) { high = middle } else { low = middle }
    }
    return high
  }

  static func error(_ error: DatabaseError, _ place: BagPlace) -> BagError {
    let cause = error.message ?? "SQLite code \(error.resultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_NOTADB: return .notBag(path: place.file, cause: cause)
    case .SQLITE_NOMEM: return .memory(path: place.file)
    case .SQLITE_CORRUPT, .SQLITE_TOOBIG, .SQLITE_ERROR: return .damaged(place, cause: cause)
    default: return .unreadable(path: place.file, cause: cause)
    }
  }
}
