import Foundation
import RetakeBuffers
import RetakeCore
import RetakeTestProjects
import RetakeTestSupport

@testable import RetakeSuite

/// A project with a store in its folder. Its sessions have bytes in place of a database and of
/// media: a store does not read them.
struct StoreFixture {
  let fixture: ProjectFixture
  var remote = "store"

  init(cacheLimit: String? = nil) throws {
    let limit = cacheLimit.map { ", cacheLimit: \($0)" } ?? ""
    fixture = try ProjectFixture(ProjectFixture.document + "\nstore: {remote: store\(limit)}\n")
    try FileManager.default.createDirectory(
      at: file("store"), withIntermediateDirectories: true)
  }

  func file(_ path: String) -> URL { fixture.folder.file(path) }
  func exists(_ path: String) -> Bool { fixture.exists(path) }
  func project() throws -> Project { try fixture.project() }

  /// Writes a session with random media of that size.
  func write(_ name: String, bytes: Int = 3_000, media: Int = 1) throws {
    try fixture.folder.write("rows of \(name)", to: "Recordings/\(name)/session.sqlite")
    for number in 0..<media {
      var generator = SeededGenerator(seed: UInt64(name.utf8.reduce(number) { $0 * 31 + Int($1) }))
      let block = (0..<1_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var data = Data()
      while data.count < bytes { data += block }
      let target = file("Recordings/\(name)/media/video-0000\(number).mkv")
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.prefix(bytes).write(to: target)
    }
  }

  /// Pushes sessions, and removes their folders.
  func store(_ names: String...) throws {
    _ = try StorePush(project: project(), remote: remote).run(names)
    for name in try project().sessionNames where exists("Recordings/\(name)") {
      try FileManager.default.removeItem(at: file("Recordings/\(name)"))
    }
  }

  func pointer(_ name: String) throws -> SessionPointer {
    try SessionPointer(reading: project().pointerFile(name))
  }

  /// The object of a session's first media file.
  func media(_ name: String) throws -> URL {
    let file = try pointer(name).files.first { $0.path.hasPrefix("media/") }
    return self.file("store/objects/\(file?.object.path ?? "")")
  }

  /// The code of the error of a pull; `nil` if the session was fetched.
  func refusal(_ name: String) throws -> String? {
    do {
      _ = try project().pull(name)
      return nil
    } catch let error as any CodedError {
      return error.code
    }
  }

  /// The folders of sessions in the local cache that have their name.
  func cached() throws -> [String] {
    try project().sessionNames.filter { name in
      exists(".retake/sessions/\((try? pointer(name).digest) ?? "-")/\(name)")
    }
  }
}
