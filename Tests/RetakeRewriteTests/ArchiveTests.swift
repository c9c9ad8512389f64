import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeTestClips
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRewrite

@Suite struct ArchiveTests {
  /// A packed session in a folder of its test.
  private struct Packed {
    let folder: TemporaryFolder
    let session: String
    let archive: String

    init() throws {
      folder = try TemporaryFolder()
      session = try StoredSessionTests.closed[1].copy(to: folder)
      archive = folder.file("a.tar.zst").path
      _ = try SessionPack(of: session, as: archive).run()
    }

    var target: SessionTarget { SessionTarget(into: folder.file("Into").path) }

    func unpack(
      _ archive: String, verify: (@Sendable (String, String) throws -> Void)? = nil
    ) throws -> SessionCopyResult {
      try SessionUnpack(of: archive, to: target, verify: verify).run()
    }
  }

  @Test func `an unpacked session is the session, and makes the same archive`() throws {
    let packed = try Packed()
    let result = try packed.unpack(packed.archive)
    #expect(result.path == packed.folder.file("Into/schema-1-imported").path)
    #expect("\(result.sessionDigest)" == StoredSessionTests.closed[1].digest)
    #expect(result.notes.isEmpty)
    #expect(try contents(of: result.path) == contents(of: packed.session))
    let again = packed.folder.file("again.tar.zst")
    let second = try SessionPack(of: result.path, as: again.path).run()
    let bytes = try Data(contentsOf: again)
    #expect(try bytes == Data(contentsOf: URL(filePath: packed.archive)))
    #expect(second.files == 3 && second.bytes == Int64(bytes.count) && !second.isSigned)
    #expect(code { try packed.unpack(packed.archive) } == "session.name.taken")
  }

  @Test func `a linked medium is packed as a file`() throws {
    let packed = try Packed()
    let media = packed.session + "/media"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: media).first)
    let elsewhere = packed.folder.file("elsewhere").path
    try FileManager.default.moveItem(atPath: "\(media)/\(name)", toPath: elsewhere)
    try FileManager.default.createSymbolicLink(
      atPath: "\(media)/\(name)", withDestinationPath: elsewhere)
    let archive = packed.folder.file("linked.tar.zst")
    _ = try SessionPack(of: packed.session, as: archive.path).run()
    #expect(
      try Data(contentsOf: archive) == Data(contentsOf: URL(filePath: packed.archive)))
  }

  @Test func `notes of any size are packed, and a link in their place is refused`() throws {
    let packed = try Packed()
    let notes = URL(filePath: packed.session + "/NOTES.md")
    let text = Data(repeating: 0x61, count: 4 << 20 + 1)
    try text.write(to: notes)
    let archive = packed.folder.file("notes.tar.zst").path
    #expect(try SessionPack(of: packed.session, as: archive).run().files == 3)
    let unpacked = try packed.unpack(archive).path
    #expect(try Data(contentsOf: URL(filePath: unpacked + "/NOTES.md")) == text)
    // A copy with notes of its own contains the session's, up to 4 MiB.
    let other = SessionTarget(into: packed.target.into, name: "other")
    let trim = SessionTrim(of: packed.session, .init(target: other))
    #expect(code { try trim.run() } == "session.notes.unreadable")
    try FileManager.default.removeItem(at: notes)
    let without = packed.folder.file("without.tar.zst").path
    #expect(try SessionPack(of: packed.session, as: without).run().files == 2)
    try FileManager.default.createSymbolicLink(
      atPath: notes.path, withDestinationPath: unpacked + "/NOTES.md")
    let linked = SessionPack(of: packed.session, as: packed.folder.file("linked.tar.zst").path)
    #expect(code { try linked.run() } == "session.archive.notPacked")
  }

  /// Reading the first byte of this file is an error of input and output.
  private static let unreadable = "/proc/self/mem"

  @Test(.enabled(if: FileManager.default.fileExists(atPath: unreadable), "there is no /proc"))
  func `a disk that fails is not a damaged archive`() throws {
    let packed = try Packed()
    let error = #expect(throws: ErrorFacts.self) { try packed.unpack(Self.unreadable) }
    #expect(error?.code == "session.archive.unreadable")
    #expect(error?.cause == String(cString: strerror(EIO)))
    #expect(!FileManager.default.fileExists(atPath: packed.target.into))
  }

  @Test func `a pack that cannot be made leaves no file`() throws {
    let packed = try Packed()
    let open = try StoredSessionTests.killed.copy(to: packed.folder)
    let before = try contents(of: packed.folder.url.path)
    let file = packed.folder.file("b.tar.zst").path
    func check(_ expected: String, _ pack: SessionPack) {
      #expect(code { try pack.run() } == expected)
    }
    check("session.open.notClosed", SessionPack(of: open, as: file))
    check("session.export.exists", SessionPack(of: packed.session, as: packed.archive))
    check(
      "session.output.inSession", SessionPack(of: packed.session, as: packed.session + "/b.zst"))
    check("session.interrupted", SessionPack(of: packed.session, as: file, report: { _ in false }))
    #expect(try contents(of: packed.folder.url.path) == before)
    let stopped = SessionUnpack(of: packed.archive, to: packed.target, report: { _ in false })
    #expect(code { try stopped.run() } == "session.interrupted")
    #expect(try contents(of: packed.folder.url.path) == before)
  }

  @Test func `the manifest of the largest session is read as it was written`() throws {
    let digest = String(repeating: "0a", count: 32)
    let media = (0..<ArchiveManifest.entriesMax - 1).map { number in
      ArchiveManifest.Entry(path: "media/video-\(number).mkv", sha256: digest)
    }
    let database = ArchiveManifest.Entry(path: ArchiveManifest.database, sha256: digest)
    let manifest = try ArchiveManifest("yard", [database] + media)
    let read = try ArchiveManifest(text: manifest.text)
    #expect(read.entries.count == ArchiveManifest.entriesMax && read == manifest)
  }

  @Test func `the signature of the manifest comes before the session`() throws {
    let packed = try Packed()
    let signed = packed.folder.file("signed.tar.zst").path
    let result = try SessionPack(of: packed.session, as: signed, sign: { "signature of \($0)" })
      .run()
    #expect(result.isSigned)
    #expect(code { try packed.unpack(packed.archive) { _, _ in } } == "session.archive.unsigned")
    struct Distrusted: Error, Equatable {}
    #expect(throws: Distrusted.self) {
      try packed.unpack(signed) { _, _ in throw Distrusted() }
    }
    #expect(!FileManager.default.fileExists(atPath: packed.target.into))
    let pair = Mutex(("", ""))
    let unpacked = try packed.unpack(signed) { text, signature in
      pair.withLock { $0 = (text, signature) }
    }
    let (text, signature) = pair.withLock { $0 }
    #expect(signature == "signature of \(text)" && unpacked.notes.isEmpty)
    #expect(Sha256.digest(of: text.utf8) == result.manifest)
    // The signature covers the name: an archive whose folder was renamed is refused, and a
    // manifest that was changed with it is another text.
    let renamed = packed.folder.file("renamed.tar.zst")
    let archives = try HostileArchives(signed)
    try archives.compressed(archives.tar(archives.renamed("yard"))).write(to: renamed)
    #expect(
      code { try packed.unpack(renamed.path) { _, _ in } } == "session.archive.damaged")
    let changed = text.replacing("# name schema-1-imported\n", with: "# name yard\n")
    #expect(changed != text)
    let other = SessionTarget(into: packed.target.into, name: "other")
    #expect(try SessionUnpack(of: signed, to: other).run().notes.count == 1)
  }

  @Test(arguments: [0, 1, 511, 512, 1 << 33 - 1, 1 << 33, 1 << 40])
  func `a header is read as it was written, also of more than 8 GiB`(size: Int64) {
    let header = TarHeader(folder: "yard", path: "media/video-00000.mkv", size: size)
    #expect(TarHeader(header.block) == header)
    #expect((size + Int64(TarHeader.padding(after: size))) % 512 == 0)
    let long = TarHeader(folder: "yard", path: String(repeating: "a", count: 101), size: size)
    #expect(TarHeader(long.block) != long)
  }

  @Test func `no hostile archive leaves a byte, and each has a typed error`() throws {
    let packed = try Packed()
    let archives = try HostileArchives(packed.archive)
    let all = try archives.all()
    #expect(all.count >= 100)
    #expect(Set(all.map(\.name)).count == all.count)
    let file = packed.folder.file("hostile.tar.zst")
    for hostile in all {
      try hostile.bytes.write(to: file)
      let before = try contents(of: packed.folder.url.path)
      let code = code { try packed.unpack(file.path) } ?? "no error"
      #expect(code.hasPrefix(hostile.code), "\(hostile.name): \(code)")
      #expect(try contents(of: packed.folder.url.path) == before, "\(hostile.name)")
      #expect(!FileManager.default.fileExists(atPath: packed.target.into), "\(hostile.name)")
    }
    for outside in ["/retake-evil", "../evil", "../../evil"] {
      let path = outside.hasPrefix("/") ? outside : packed.folder.file(outside).path
      #expect(!FileManager.default.fileExists(atPath: path), "\(path)")
    }
    // The same parts, put together without a change, are a session.
    try archives.compressed(archives.tar(archives.entries)).write(to: file)
    #expect(try packed.unpack(file.path).frames == StoredSessionTests.closed[1].frames)
  }
}
