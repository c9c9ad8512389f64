import Foundation
import RetakeCore
import RetakeSession
import RetakeTestClips
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRewrite

/// Media that is slow to read: no byte is read needlessly, and work on it can be stopped.
struct LargeMediaTests {
  private static let megabytes = 24

  /// A clip followed by zeros, which players skip.
  private func grow(_ file: URL, to bytes: Int64) throws {
    let handle = try FileHandle(forUpdating: file)
    defer { try? handle.close() }
    try handle.truncate(atOffset: UInt64(bytes))
  }

  private func largeImport() throws -> ImportedClip {
    try ImportedClip(
      Clip(
        name: "large", file: Clip.openGOP.file, inputs: Clip.openGOP.inputs,
        output: Clip.openGOP.output,
        change: { $0 + Data(count: (Self.megabytes << 20) - $0.count) }))
  }

  @Test func `media with more bytes than were indexed is refused without a look at them`() throws {
    let imported = try ImportedClip(.openGOP)
    let media = URL(filePath: imported.path + "/media/original.mp4")
    // Reading all of it would last days.
    try grow(media, to: 4 << 40)
    let diagnosis = try SessionCheck(path: imported.path, decodes: true).run()
    #expect(!diagnosis.isHealthy && diagnosis.damagedFrames == 120)
    let first = try #require(diagnosis.findings.first)
    #expect(first.code == "session.check.file" && first.message.contains("4398046511104 bytes"))
    let target = SessionTarget(into: imported.folder.file("Copies").path)
    let refused: [(String, String?)] = [
      ("export", code { try SessionExport(of: imported.path).media(to: out(imported, "mp4")) }),
      ("remux", code { try SessionExport(of: imported.path).media(to: out(imported, "mkv")) }),
      ("snapshot", code { try SessionSnapshot(of: imported.path, to: target).run() }),
      ("trim", code { try SessionTrim(of: imported.path, .init(target: target)).run() }),
      ("frame", code { try imported.reader().frame(FrameID(track: 0, sequence: 0)) }),
    ]
    for (name, code) in refused { #expect(code == "session.media.mismatch", "\(name)") }
    #expect(try names(imported.folder.url) == ["Recordings", Clip.openGOP.file])
  }

  @Test func `a doctor that reads a large file stops between two pieces`() throws {
    let imported = try largeImport()
    let calls = Mutex(0)
    let stopped = code {
      try SessionCheck(
        path: imported.path,
        report: { progress in
          calls.withLock { $0 += 1 }
          return progress.unit != .megabytes || progress.done < 3
        }
      ).run()
    }
    #expect(stopped == "session.interrupted" && calls.withLock { $0 } == 3)
  }

  @Test(arguments: [3, LargeMediaTests.megabytes + 3])
  func `an export of an original stops while it copies and while it checks`(limit: Int) throws {
    let imported = try largeImport()
    let before = try names(imported.folder.url)
    let stopped = code {
      try SessionExport(of: imported.path) { $0.done < limit }.media(to: out(imported, "mp4"))
    }
    #expect(stopped == "session.interrupted")
    #expect(try names(imported.folder.url) == before)
  }

  @Test(arguments: [ImportProgress.Phase.copying, .hashing])
  func `an import stops while it copies and while it makes the digest`(
    phase: ImportProgress.Phase
  ) throws {
    let imported = try largeImport()
    let before = try names(imported.folder.url)
    let stopped = code {
      try SessionImporter(
        ImportOptions(
          file: imported.source.path, name: "again",
          into: imported.folder.file("Recordings").path)
      ) { $0.phase != phase || $0.done < 3 << 20 }.run()
    }
    #expect(stopped == "session.interrupted")
    #expect(try names(imported.folder.url) == before)
    #expect(try names(imported.folder.file("Recordings")) == ["clip"])
  }

  @Test func `a file for which the disk has no room is not copied`() throws {
    let folder = try TemporaryFolder()
    let source = try Clip.openGOP.make(in: folder)
    let free = try #require(FreeSpace.freeBytes(at: folder.url.path))
    // A hole in a file needs no space.
    try grow(source, to: free + (8 << 30))
    let refused = code {
      try SessionImporter(
        ImportOptions(file: source.path, name: "clip", into: folder.file("Recordings").path)
      ).run()
    }
    #expect(refused == "session.copy.noRoom")
    #expect(try names(folder.url) == [Clip.openGOP.file])
  }

  private func out(_ imported: ImportedClip, _ suffix: String) -> String {
    imported.folder.file("out.\(suffix)").path
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}
