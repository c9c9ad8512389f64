import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeStore

struct BadDatabaseTests {
  private func written() throws -> (TemporaryFolder, String) {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    var sample = Sample()
    sample.count = 400
    try sample.write(path)
    return (folder, path)
  }

  @Test func `what is no database is refused by name`() throws {
    let folder = try TemporaryFolder()
    let text = try folder.write("hello", to: "text")
    let empty = try folder.write("", to: "empty")
    let plain = folder.file("plain").path
    try sqlite(plain, "CREATE TABLE cat (name TEXT)")

    #expect(code { try StoreReader(opening: folder.file("none").path) } == "store.missing")
    #expect(code { try StoreReader(opening: text.path) } == "store.notSession")
    #expect(code { try StoreReader(opening: empty.path) } == "store.notSession")
    #expect(code { try StoreReader(opening: folder.url.path) } == "store.notSession")
    #expect(code { try StoreReader(opening: plain) } == "store.notSession")
  }

  @Test func `a newer schema is refused by its number`() throws {
    let (folder, path) = try written()
    try sqlite(path, "PRAGMA user_version = 5")

    #expect {
      try StoreReader(opening: path)
    } throws: { error in
      (error as? StoreError)?.message == "the session has schema 5, this version reads up to 4"
    }
    withExtendedLifetime(folder) {}
  }

  @Test(arguments: [
    "CREATE VIEW spy AS SELECT * FROM packet", "CREATE TABLE more (x)",
    "CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END",
    "CREATE INDEX i ON frame (pts_ns)", "DROP TABLE span",
    "ALTER TABLE packet ADD COLUMN colour TEXT",
  ])
  func `a schema that is not ours is refused`(sql: String) throws {
    let (folder, path) = try written()
    try sqlite(path, sql)

    #expect(code { try StoreReader(opening: path) } == "store.schema.unknown")
    withExtendedLifetime(folder) {}
  }

  @Test func `a cut database is refused at every length and never crashes`() throws {
    let (folder, path) = try written()
    let whole = try Data(contentsOf: URL(filePath: path))
    for length in stride(from: 0, to: whole.count, by: max(1, whole.count / 60)) {
      let cut = folder.file("cut.sqlite")
      try whole.prefix(length).write(to: cut)
      let found = code { try StoreReader(opening: cut.path) }
      #expect(found == (length < 16 ? "store.notSession" : "store.truncated"), "\(length) bytes")
    }
  }

  @Test func `a flipped byte is an error or a complaint and never a crash`() throws {
    let (folder, path) = try written()
    let whole = try Data(contentsOf: URL(filePath: path))
    let original = try StoreReader(opening: path)
    let (packets, frames) = (
      try original.packets(track: 0, indexes: 0..<400),
      try original.frames(track: 0, sequences: 0..<400)
    )
    var silent: [Int] = []
    var changed = 0
    for step in 0..<300 {
      let place = 100 + (step * 7_919) % (whole.count - 100)
      var bytes = whole
      bytes[place] ^= UInt8(1 << (step % 8))
      let file = folder.file("flip.sqlite")
      try bytes.write(to: file)
      do {
        let reader = try StoreReader(opening: file.path)
        let same =
          try reader.packets(track: 0, indexes: 0..<400) == packets
          && reader.frames(track: 0, sequences: 0..<400) == frames
        if same { continue }
        changed += 1
        let complaints = try reader.checkStructure() + reader.checkRows()
        if complaints.isEmpty { silent.append(place) }
      } catch {
        #expect(error is StoreError)
        changed += 1
      }
    }
    #expect(silent.isEmpty)
    #expect(changed > 100)
  }

  @Test func `a writer never writes over a file`() throws {
    let (folder, path) = try written()

    #expect(code { try StoreWriter(creating: path, durability: .building) } == "store.exists")
    #expect(code { try StoreReader(opening: path) } == nil)
    withExtendedLifetime(folder) {}
  }

  @Test func `giant values are a typed error and not a crash`() throws {
    for sql in [
      "UPDATE segment_track SET extradata = zeroblob(80000000)",
      "UPDATE event SET json = hex(zeroblob(40000000))",
      "UPDATE packet SET side_data = zeroblob(70000000) WHERE \"index\" = 1",
    ] {
      let (folder, path) = try written()
      try sqlite(path, sql)
      let found = code {
        let reader = try StoreReader(opening: path)
        _ = try reader.segmentTracks()
        _ = try reader.packets(track: 0, indexes: 0..<400)
        return try reader.events()
      }
      #expect(found == "store.corrupt", "\(sql)")
      let complaints = try StoreReader(opening: path).checkRows()
      #expect(!complaints.isEmpty)
      withExtendedLifetime(folder) {}
    }
  }

  @Test func `a table that leads round in circles ends`() throws {
    let (folder, path) = try written()
    let pageBytes = 4_096
    let whole = try Data(contentsOf: URL(filePath: path))
    let interior = stride(from: pageBytes, to: whole.count, by: pageBytes).filter {
      whole[$0] == 2
    }
    #expect(!interior.isEmpty)
    for page in interior {
      // Every child of the page becomes the page itself.
      var bytes = whole
      let number = withUnsafeBytes(of: UInt32(page / pageBytes + 1).bigEndian) { Data($0) }
      bytes.replaceSubrange(page + 8..<page + 12, with: number)
      let cells = Int(bytes[page + 3]) << 8 | Int(bytes[page + 4])
      for cell in 0..<cells {
        let pointer = page + 12 + 2 * cell
        let place = page + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
        bytes.replaceSubrange(place..<place + 4, with: number)
      }
      let file = folder.file("circle.sqlite")
      try bytes.write(to: file)
      var complaints: [StoreReader.Complaint] = []
      let found = code { complaints = try StoreReader(opening: file.path).checkRows() }
      #expect(found == "store.corrupt" || !complaints.isEmpty)
    }
  }

  /// A database with 400 rows in each table that is counted or read before its rows are checked.
  private func broad() throws -> (TemporaryFolder, String) {
    let (folder, path) = try written()
    let sample = Sample()
    let writer = try StoreWriter(continuing: path)
    writer.append(
      (1..<400).map { number -> SegmentTrackRecord in
        var part = sample.track
        part.segment = number
        return part
      })
    writer.append(
      (1..<400).map { number -> EventRecord in
        var event = sample.event
        event.ordinal = number
        return event
      })
    writer.append([RunRecord(run: 0, kind: "live", pipeline: "", startedNanoseconds: 0)])
    writer.append(
      (0..<400).map { number -> SpanRecord in
        SpanRecord(
          run: 0, node: "motion", track: 0, sequence: number, readyNanoseconds: 0,
          startNanoseconds: 0, endNanoseconds: 1, cpuNanoseconds: 1, executor: "vision",
          outcome: "done")
      })
    try writer.close()
    return (folder, path)
  }

  /// Puts copies of a table's first page between it and its other pages, one below the other, and
  /// each leads to the next as often as the first page has children. The file grows by a few pages,
  /// and a reader that follows them reads more rows than can ever be counted.
  private func multiply(_ table: String, of path: String, to file: URL) throws {
    let pageBytes = 4_096
    let query = "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"
    let answer = try runCommand("sqlite3", arguments: [path, query]).stdout
    let root = try #require(Int(answer.prefix { $0.isNumber }))
    var bytes = try Data(contentsOf: URL(filePath: path))
    let first = (root - 1) * pageBytes
    // An interior page of a table without row ids.
    try #require(bytes[first] == 2, "\(table) has one page")
    let original = bytes[first..<first + pageBytes]
    // SQLite follows at most 20 pages down.
    let levels = 16
    let count = bytes.count / pageBytes
    for _ in 0..<levels { bytes.append(contentsOf: original) }
    for level in 0..<levels {
      let page = level == 0 ? first : (count + level - 1) * pageBytes
      let child = bigEndian(count + level + 1)
      bytes.replaceSubrange(page + 8..<page + 12, with: child)
      let cells = Int(bytes[page + 3]) << 8 | Int(bytes[page + 4])
      for cell in 0..<cells {
        let pointer = page + 12 + 2 * cell
        let place = page + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
        bytes.replaceSubrange(place..<place + 4, with: child)
      }
    }
    bytes.replaceSubrange(28..<32, with: bigEndian(count + levels))
    try bytes.write(to: file)
  }

  private func bigEndian(_ number: Int) -> Data {
    withUnsafeBytes(of: UInt32(number).bigEndian) { Data($0) }
  }

  @Test(arguments: ["packet", "frame", "event", "segment_track", "span"])
  func `a table with more rows than its file can hold is an error where it is counted or read`(
    table: String
  ) throws {
    let (folder, path) = try broad()
    let file = folder.file("many.sqlite")
    try multiply(table, of: path, to: file)
    let reader = try StoreReader(opening: file.path)

    let found = code {
      switch table {
      case "event": _ = try reader.eventCount()
      case "segment_track": _ = try reader.segmentTracks()
      case "span": try reader.eachSpan(run: 0) { _ in true }
      default: _ = try reader.counts(track: 0)
      }
    }

    #expect(found == "store.corrupt")
  }

  @Test func `a file that cannot be read is not taken for an empty one`() {
    // Linux answers EIO for the first bytes of a process's memory, which no process has.
    #expect(code { try DatabaseFile.head(of: "/proc/self/mem", count: 16) } == "store.read")
  }

  @Test func `a duplicate key fails the commit and closes the writer`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .recording)
    writer.append([Sample().segment])
    try writer.commit()
    writer.append([Sample().segment])

    #expect(code { try writer.commit() } == "store.write")
    #expect(code { try writer.commit() } == "store.closed")
  }

  @Test(arguments: [
    (
      "segment_track has more than 1000 tracks",
      """
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000)
      INSERT INTO segment_track SELECT segment, x, stream_index, codec, profile, extradata, width,
        height, pixel_format, range, matrix, rotation, aspect_numerator, aspect_denominator,
        time_base_numerator, time_base_denominator, delay, row_check FROM segment_track, n
      """
    ),
    (
      "segment_track has more than 65536 rows",
      """
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 65536)
      INSERT INTO segment_track SELECT x, track, stream_index, codec, profile, extradata, width,
        height, pixel_format, range, matrix, rotation, aspect_numerator, aspect_denominator,
        time_base_numerator, time_base_denominator, delay, row_check FROM segment_track, n
      """
    ),
    (
      "segment has more than 65536 rows",
      """
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 65536)
      INSERT INTO segment SELECT x, file || x, started_ns, closed, bytes, reason, row_check
        FROM segment, n
      """
    ),
    (
      "event has more than 1048576 rows",
      """
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1048576)
      INSERT INTO event SELECT x, 0, NULL, 'device', 'thermal', '{}', 0 FROM n
      """
    ),
  ])
  func `more rows than a session has are refused before they are read`(
    says: String, sql: String
  ) throws {
    let (_folder, path) = try written()
    try sqlite(path, sql)
    let reader = try StoreReader(opening: path)

    let error = #expect(throws: StoreError.self) {
      _ = try (reader.segments(), reader.segmentTracks(), reader.events())
    }

    #expect(error?.code == "store.corrupt")
    #expect(error?.cause == says + ", which no session has")
    withExtendedLifetime(_folder) {}
  }

  @Test func `an error of a few columns names the right one`() throws {
    let (_folder, path) = try written()
    try sqlite(path, "UPDATE frame SET pts_ns = 4000000000000000000")
    let reader = try StoreReader(opening: path)
    let cause = "frame.pts_ns is 4000000000000000000, which no session has"
    let ends = #expect(throws: StoreError.self) { _ = try reader.ends(track: 0) }
    #expect(ends?.cause == cause)
    let span = #expect(throws: StoreError.self) {
      _ = try reader.sequences(track: 0, nanoseconds: 0..<Int64.max)
    }
    #expect(span?.cause == cause)
    withExtendedLifetime(_folder) {}
  }

  @Test func `events are counted and digested without a bound`() throws {
    let (_folder, path) = try written()
    let before = try StoreReader(opening: path).digest()
    try sqlite(
      path,
      """
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 2 FROM n LIMIT 20000)
      INSERT INTO event SELECT x, 0, NULL, 'device', 'thermal', '{}', 0 FROM n
      """)
    let reader = try StoreReader(opening: path)
    #expect(try reader.eventCount() == 20_001)
    #expect(try reader.digest() != before)
    try sqlite(path, "DELETE FROM event WHERE ordinal > 0")
    #expect(try StoreReader(opening: path).digest() == before)
    withExtendedLifetime(_folder) {}
  }

  @Test(arguments: [("blob", "zeroblob(67108865)"), ("text", "printf('%.*c', 67108865, 'x')")])
  func `a value larger than any of a session's is named before it is read`(
    kind: String, value: String
  ) throws {
    let (_folder, path) = try written()
    let column = kind == "blob" ? "extradata" : "codec"
    try sqlite(path, "UPDATE segment_track SET \(column) = \(value)")
    let reader = try StoreReader(opening: path)
    let cause =
      "segment_track.\(column) of segment 0, track 0 is larger than 64 MiB, "
      + "which no session has"

    let error = #expect(throws: StoreError.self) { try reader.segmentTracks() }

    #expect(error?.code == "store.corrupt" && error?.cause == cause)
    let complaints = try reader.checkRows()
    #expect(complaints.contains { $0.kind == .structure && $0.text == cause }, "\(complaints)")
    #expect(throws: StoreError.self) { try reader.requireWhole() }
    withExtendedLifetime(_folder) {}
  }
}
