import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeStore

struct OpenDatabaseTests {
  /// The name and bytes of everything in a folder.
  private func contents(_ folder: TemporaryFolder) throws -> [String: Data] {
    var result: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
      result[name] = try Data(contentsOf: folder.file(name))
    }
    return result
  }

  @Test func `a database that is being recorded is read from a private copy`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let sample = Sample()
    let writer = try StoreWriter(creating: path, durability: .recording)
    sample.append(to: writer)
    let commit = try writer.commit()
    let before = try contents(folder)

    let reader = try StoreReader(opening: path)

    #expect(before.keys.sorted() == ["session.sqlite", "session.sqlite-wal"])
    #expect(!reader.isClosed)
    #expect(try reader.lastCommit() == commit)
    #expect(try reader.frames(track: 0, sequences: 0..<100) == sample.frames)
    #expect(try reader.checkRows().isEmpty)
    #expect(try contents(folder) == before)
    try writer.close()
  }

  @Test func `a log cut anywhere gives a whole earlier commit`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .recording)
    var digests: [Int: Digest128] = [:]
    for packet in Sample().packets {
      writer.append([packet])
      let commit = try writer.commit()
      digests[commit.ordinal] = commit.digest
    }
    let database = try Data(contentsOf: URL(filePath: path))
    let log = try Data(contentsOf: URL(filePath: path + "-wal"))
    try writer.close()

    var ordinals: [Int] = []
    for part in 0...12 {
      let crash = try TemporaryFolder()
      let copy = crash.file("session.sqlite")
      try database.write(to: copy)
      try log.prefix(log.count * part / 12).write(to: crash.file("session.sqlite-wal"))
      guard let reader = try? StoreReader(opening: copy.path) else { continue }
      let commit = try reader.lastCommit()
      ordinals.append(commit.ordinal)
      #expect(try reader.checkRows().isEmpty)
      #expect(commit.ordinal == 0 || digests[commit.ordinal] == commit.digest)
      #expect(try reader.counts(track: 0).packets == commit.ordinal)
    }
    #expect(ordinals.last == 10)
    #expect(ordinals == ordinals.sorted())
  }

  @Test func `reading a closed database changes nothing in its folder`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a session %41 ?.sqlite").path
    try Sample().write(path)
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
    let before = try contents(folder)

    let reader = try StoreReader(opening: path)
    _ = try reader.digest()
    _ = try reader.checkStructure() + reader.checkReferences() + reader.checkRows()

    #expect(try contents(folder) == before)
    #expect(try reader.checkStructure().isEmpty)
  }

  @Test func `the private copy is removed with its reader`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .recording)
    try writer.commit()
    let copy = try DatabaseFile.privateCopy(of: path).folder

    #expect(!FileManager.default.fileExists(atPath: copy.path))
    try writer.close()
  }
}
