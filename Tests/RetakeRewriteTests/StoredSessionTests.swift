import Foundation
import RetakeCore
import RetakeSession
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite

/// Sessions written by earlier versions, in Tests/Sessions. Copies of them are used.
@Suite struct StoredSessionTests {
  struct Stored: Sendable, CustomTestStringConvertible {
    var name: String
    var schema: Int
    var frames: Int
    var status: SessionStatus
    /// As reported by the version that wrote it.
    var digest: String

    var testDescription: String { name }

    func copy(to folder: TemporaryFolder) throws -> String {
      let path = folder.file(name).path
      try FileManager.default.copyItem(
        at: packageRoot.appending(path: "Tests/Sessions/\(name)"), to: URL(filePath: path))
      return path
    }
  }

  static let closed = [
    Stored(
      name: "schema-1-recorded", schema: 1, frames: 12, status: .clean,
      digest: "bc88e31c35990fe789b1df9ae3c882d1"),
    Stored(
      name: "schema-1-imported", schema: 1, frames: 20, status: .clean,
      digest: "4683da9686f90ec796678048e184897d"),
  ]

  static let killed = Stored(
    name: "schema-1-killed", schema: 1, frames: 44, status: .unclosed,
    digest: "edec4d5de32208d2c0cae4b5943bf5a0")

  private func check(_ stored: Stored, at path: String, schema: Int) throws {
    let reader = try SessionReader(opening: path)
    let info = try reader.info()
    #expect(info.schema == schema && info.status == stored.status)
    #expect(info.frames.captured == stored.frames)
    #expect("\(info.sessionDigest)" == stored.digest)
    for sequence in 0..<stored.frames {
      #expect(try reader.frame(FrameID(track: 0, sequence: sequence)).width == 64)
    }
  }

  @Test(arguments: closed + [killed])
  func `a stored session is read, and is what it was`(stored: Stored) throws {
    let folder = try TemporaryFolder()
    let path = try stored.copy(to: folder)
    try check(stored, at: path, schema: stored.schema)
    #expect(try SessionCheck(path: path, decodes: true).run().isHealthy)
  }

  @Test(arguments: closed)
  func `a stored session is migrated as a copy with the same digest`(stored: Stored) throws {
    let folder = try TemporaryFolder()
    let path = try stored.copy(to: folder)
    let before = try contents(of: path)
    let target = SessionTarget(into: folder.file("Migrated").path)

    let result = try #require(try SessionMigration(of: path, to: target).run())

    #expect("\(result.sessionDigest)" == stored.digest)
    #expect(try contents(of: path) == before)
    try check(stored, at: result.path, schema: SessionMigration.schema)
    #expect(try SessionCheck(path: result.path, decodes: true).run().findings.isEmpty)
    #expect(try SessionMigration(of: result.path, to: target).run() == nil)
  }

  @Test func `an open session is recovered before it is migrated`() throws {
    let folder = try TemporaryFolder()
    let path = try Self.killed.copy(to: folder)
    let target = SessionTarget(into: folder.file("Migrated").path)
    let error = #expect(throws: SessionError.self) {
      try SessionMigration(of: path, to: target).run()
    }
    #expect(error?.code == "session.open.notClosed")
    #expect(error?.advice == "Close it first: retake session recover \(path)")

    let recovered = try SessionRecovery(path).run()
    #expect(recovered.wasOpen && recovered.frames == 44 && recovered.damagedFrames == 0)
    #expect(try SessionReader(opening: path).info().schema == 1)
    let result = try #require(try SessionMigration(of: path, to: target).run())
    #expect(result.sessionDigest == recovered.sessionDigest && result.status == .recovered)
  }

  @Test func `a damaged old session is not migrated`() throws {
    let folder = try TemporaryFolder()
    let path = try Self.closed[0].copy(to: folder)
    _ = try runSQLite(
      arguments: [path + "/session.sqlite", "UPDATE frame SET pts_ns = 1"])
    let target = SessionTarget(into: folder.file("Migrated").path)
    #expect(code { try SessionMigration(of: path, to: target).run() } == "store.corrupt")
    #expect(!FileManager.default.fileExists(atPath: folder.file("Migrated/schema-1-recorded").path))
  }

  @Test func `stored sessions are small`() throws {
    for stored in Self.closed + [Self.killed] {
      let folder = packageRoot.appending(path: "Tests/Sessions/\(stored.name)").path
      let bytes = try contents(of: folder).values.reduce(0) { $0 + $1.count }
      #expect(bytes < 200_000, "\(stored.name)")
    }
  }
}
