import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeStore

/// A session's folder may come from another person: files next to its database may be links to any
/// place.
struct ForeignFileTests {
  /// A closed session, and a file of the user outside it.
  private struct Place {
    let folder: TemporaryFolder
    var database: String { folder.file("session/session.sqlite").path }
    var foreign: String { folder.file("tool").path }

    init(foreign text: String = "#!/bin/sh\n") throws {
      folder = try TemporaryFolder()
      try folder.write(text, to: "tool")
      chmod(foreign, 0o755)
      try FileManager.default.createDirectory(
        at: folder.file("session"), withIntermediateDirectories: true)
      try Sample().write(database)
    }

    func link(_ name: String, to target: String) throws {
      try? FileManager.default.removeItem(atPath: name)
      try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: target)
    }

    /// Permissions, times and bytes of the foreign file.
    func state() throws -> [String] {
      let facts = try FileManager.default.attributesOfItem(atPath: foreign)
      return [
        "\(facts[.posixPermissions] ?? "")", "\(facts[.modificationDate] ?? "")",
        try Data(contentsOf: URL(filePath: foreign)).base64EncodedString(),
      ]
    }
  }

  static let suffixes = ["", "-wal", "-journal", "-shm"]

  @Test(arguments: suffixes)
  func `a link next to the database is refused, and what it leads to stays as it is`(
    suffix: String
  ) throws {
    let place = try Place()
    try place.link(place.database + suffix, to: place.foreign)
    let before = try place.state()

    #expect(code { try StoreReader(opening: place.database) } == "store.file.unsafe")
    #expect(code { try StoreWriter(continuing: place.database) } == "store.file.unsafe")
    #expect(
      code { try StoreReader.copy(place.database, to: place.folder.file("copy").path) }
        == "store.file.unsafe")
    #expect(WriteAheadLog.damage(ofDatabase: place.database) == nil)
    #expect(try place.state() == before)
  }

  @Test(arguments: suffixes)
  func `a pipe next to the database is refused and not waited for`(suffix: String) throws {
    let place = try Place()
    try? FileManager.default.removeItem(atPath: place.database + suffix)
    try #require(mkfifo(place.database + suffix, 0o600) == 0)

    #expect(code { try StoreReader(opening: place.database) } == "store.file.unsafe")
    #expect(code { try StoreWriter(continuing: place.database) } == "store.file.unsafe")
  }

  @Test func `a foreign database and its log, both linked, stay as they are`() throws {
    let place = try Place()
    let other = place.folder.file("other.sqlite").path
    let writer = try StoreWriter(creating: other, durability: .recording)
    Sample().append(to: writer)
    try writer.commit()
    let before = try [other, other + "-wal"].map { try Data(contentsOf: URL(filePath: $0)) }
    try place.link(place.database, to: other)
    try place.link(place.database + "-wal", to: other + "-wal")

    #expect(code { try StoreReader(opening: place.database) } == "store.file.unsafe")
    #expect(try [other, other + "-wal"].map { try Data(contentsOf: URL(filePath: $0)) } == before)
    writer.abandon()
  }

  @Test func `a new database is not made where a link leads elsewhere`() throws {
    let folder = try TemporaryFolder()
    let (path, elsewhere) = (folder.file("new.sqlite").path, folder.file("elsewhere").path)
    for suffix in ["", "-wal"] {
      try FileManager.default.createSymbolicLink(
        atPath: path + suffix, withDestinationPath: elsewhere)
      #expect(
        code { try StoreWriter(creating: path, durability: .recording) } == "store.exists")
      try FileManager.default.removeItem(atPath: path + suffix)
    }
    #expect(!FileManager.default.fileExists(atPath: elsewhere))
  }

  @Test func `a journal cannot make SQLite delete another file`() throws {
    let place = try Place()
    // A rollback journal that names the foreign file as the super-journal of several databases.
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    func number(_ value: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    let pages = try Data(contentsOf: URL(filePath: place.database)).count / 4_096
    let name = Array(place.foreign.utf8)
    var journal = magic + number(0) + number(7) + number(pages) + number(512) + number(4_096)
    journal += [UInt8](repeating: 0, count: 512 - journal.count)
    journal += number(0x4000_0000 / 4_096 + 1) + name + number(name.count)
    journal += number(name.reduce(0) { $0 + Int($1) }) + magic
    try Data(journal).write(to: URL(filePath: place.database + "-journal"))
    let before = try place.state()

    #expect(code { try StoreReader(opening: place.database) } == "store.file.unsafe")
    #expect(code { try StoreWriter(continuing: place.database) } == "store.file.unsafe")
    #expect(try place.state() == before)
  }

  @Test(arguments: [Int64(1) << 40, 300 << 20])
  func `a log that is far too large or sparse is not copied`(bytes: Int64) throws {
    let place = try Place()
    let log = place.database + "-wal"
    try Data([1]).write(to: URL(filePath: log))
    try #require(truncate(log, off_t(bytes)) == 0)

    let error = #expect(throws: StoreError.self) { try StoreReader(opening: place.database) }
    #expect(error?.code == "store.file.unsafe")
    #expect(error?.place?.file == log)
    #expect(error?.cause?.contains("\(bytes)") == true, "\(String(describing: error))")
  }

  @Test func `the bound of a log grows with its database`() {
    let free = PrivateCopy.journalBytesFree
    #expect(PrivateCopy.bytesMax(suffix: "-wal", database: 0) == free)
    #expect(PrivateCopy.bytesMax(suffix: "-wal", database: 1 << 30) == free + (2 << 30))
    #expect(
      PrivateCopy.bytesMax(suffix: "-wal", database: .max) == PrivateCopy.journalBytesMax)
  }

  @Test func `a copy keeps holes and every byte`() throws {
    let place = try Place()
    let log = place.database + "-wal"
    var bytes = Data(count: 5 << 20)
    bytes[3 << 20] = 7
    bytes[bytes.count - 1] = 0
    try bytes.write(to: URL(filePath: log))

    let copy = try PrivateCopy(of: place.database, suffixes: ["-wal"])
    #expect(try Data(contentsOf: URL(filePath: copy.path + "-wal")) == bytes)
    #expect(try RegularFile.facts(of: copy.path + "-wal").allocatedBytes < 4 << 20)
  }

  @Test func `a schema of very many tables is refused before it is read to its end`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)
    let tables = (0..<5_000).map { "CREATE TABLE t\($0) (x);" }.joined()
    let script = try folder.write("BEGIN;\(tables)COMMIT;", to: "tables.sql")
    try sqlite(path, ".read \(script.path)")

    let error = #expect(throws: StoreError.self) { try StoreReader(opening: path) }
    guard case .schemaUnknown(_, let object)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // It ends with a table's own name.
    #expect(object == "sqlite_schema")
  }
}
