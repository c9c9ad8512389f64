import Foundation
import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Sessions in a folder: sent, fetched, damaged, interrupted, and removed from the cache.
@Suite struct SessionStoreTests {
  @Test func `a session is tested from a store as from its folder`() throws {
    let store = try StoreFixture()
    try store.fixture.record("yard")
    _ = try store.fixture.test()
    _ = try store.fixture.accept()
    try store.store("yard")
    #expect(try store.project().sessionNames == ["yard"])
    // Listing fetches nothing.
    #expect(
      try SuiteRun(project: store.project(), selection: Selection()).listing().map(\.key)
        == ["yard/motion"])
    #expect(try store.cached().isEmpty)
    #expect(try store.fixture.test().status == .passed)
    #expect(try store.cached() == ["yard"])
    #expect(try store.fixture.test { $0.project.store.isOffline = true }.status == .passed)
    let path = try store.project().sessionPath("Recordings/yard.session.yml")
    #expect(path.hasSuffix("/yard") && path.contains("/.retake/sessions/"))
  }

  @Test func `without the store or with offline the case has one clear error`() throws {
    let store = try StoreFixture()
    try store.fixture.record("yard")
    try store.store("yard")
    let offline = try store.fixture.test { $0.project.store.isOffline = true }
    #expect(offline.status == .error)
    let error = try #require(offline.document.cases.first?.error)
    #expect(error.code == "suite.store.offline")
    #expect(error.message == "the session 'yard' is in a store and not in the local cache")
    try FileManager.default.removeItem(at: store.file("store"))
    let unmounted = try store.fixture.test()
    let gone = unmounted.document.cases.first?.error
    #expect(gone?.code == "suite.store.noFolder", "\(String(describing: gone))")
    // Another machine may have the disk, or more space on it.
    #expect(unmounted.status == .infrastructure)
    let full = SuiteError.noRoom(try store.pointer("yard"), disk: "/", free: 1)
    #expect(Infrastructure.isCause(of: full))
    var pointer = try store.pointer("yard")
    pointer.remotes = []
    try store.fixture.folder.write(pointer.text, to: "Recordings/yard.session.yml")
    #expect(try store.refusal("yard") == "suite.store.missing")
  }

  @Test func `files that are there are neither sent nor fetched again`() throws {
    let store = try StoreFixture()
    try store.write("yard", media: 2)
    let push = { try StorePush(project: store.project(), remote: nil).run(["yard"])[0] }
    #expect(try push().sentBytes == 6_012)
    #expect(try push().sentBytes == 0)
    // Another note: only the database is new.
    try store.fixture.folder.write("other rows", to: "Recordings/yard/session.sqlite")
    #expect(try push().sentBytes == 10)
    try store.store("yard")
    let pull = { try StorePull(project: store.project()).run([])[0] }
    #expect(try pull().fetchedBytes == 6_010)
    #expect(try pull().fetchedBytes == 0)
    // A second store: the session comes from the cache, and its pointer names both.
    try FileManager.default.createDirectory(
      at: store.file("disk"), withIntermediateDirectories: false)
    _ = try StorePush(project: store.project(), remote: "disk").run(["yard"])
    #expect(try store.pointer("yard").remotes == ["store", "disk"])
    try FileManager.default.removeItem(at: store.file("store/objects"))
    try FileManager.default.removeItem(at: store.file(".retake"))
    #expect(try pull().fetchedBytes == 6_010)
  }

  enum Damage: CaseIterable {
    case flipped, cut, longer, empty, swapped, link, missing

    func make(_ object: URL, seed: Int, other: Data) throws {
      var data = try Data(contentsOf: object)
      switch self {
      case .flipped: data[(seed * 149) % data.count] ^= UInt8(1 << (seed % 8))
      case .cut: data.removeLast(1 + seed)
      case .longer: data += Data(repeating: 0, count: 1 + seed)
      case .empty: data = Data()
      case .swapped: data = other
      case .link, .missing:
        try FileManager.default.moveItem(at: object, to: object.appendingPathExtension("moved"))
        guard self == .link else { return }
        return try FileManager.default.createSymbolicLink(
          at: object, withDestinationURL: object.appendingPathExtension("moved"))
      }
      try data.write(to: object)
    }
  }

  @Test(arguments: Damage.allCases)
  func `20 of 20 damaged objects are refused and never reach the cache`(damage: Damage) throws {
    let store = try StoreFixture()
    let names = (10..<30).map { "yard-\($0)" }
    for name in names { try store.write(name) }
    try store.write("other")
    try store.store("*")
    let other = try Data(contentsOf: store.media("other"))
    for (seed, name) in names.enumerated() {
      try damage.make(store.media(name), seed: seed, other: other)
    }
    let codes = try names.map { try store.refusal($0) }
    let code =
      switch damage {
      case .missing: "suite.store.missing"
      case .link: "suite.store.unreadable"
      default: "suite.store.damaged"
      }
    #expect(codes == [String?](repeating: code, count: 20))
    #expect(try store.cached().isEmpty)
    #expect(try store.refusal("other") == nil)
    let report = try StoreCheck(project: store.project(), remote: nil).run([])
    #expect(report.findings.map(\.session) == names)
    #expect(report.objects == 22)
    for name in names { try store.write(name) }
    let pushed = try StorePush(project: store.project(), remote: nil).run(names)
    #expect(pushed.allSatisfy { $0.sentBytes == 3_000 }, "the database is not damaged")
    try store.store("*")
    #expect(try names.allSatisfy { try store.refusal($0) == nil })
  }

  @Test func `an object that its push cannot make young is replaced, except on a read-only disk`()
    throws
  {
    let store = try StoreFixture()
    try store.write("yard")
    _ = try StorePush(project: store.project(), remote: nil).run(["yard"])
    let files = try store.pointer("yard").files.map { file in
      (object: file.object, path: store.file("Recordings/yard/\(file.path)").path)
    }
    var folder = FolderStore(folder: store.file("store").path, isInterrupted: { false })
    // Of another user, gone meanwhile, and on a disk whose objects nobody removes.
    for (number, count) in [(EACCES, 0), (EPERM, 0), (ENOENT, 0), (EROFS, 2), (0, 2)] {
      folder.touch = { _ in number }
      var bytes: Int64 = 0
      #expect(try folder.present(files) { bytes += $0 }.count == count, "\(number)")
      #expect(bytes == (count == 0 ? 0 : 3_012))
    }
    let media = try store.media("yard")
    let old = Date(timeIntervalSince1970: 0)
    try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: media.path)
    try folder.send(files) { _ in }
    let facts = try RegularFile.facts(of: media.path)
    #expect(facts.bytes == 3_000 && facts.modifiedNanoseconds > 0)
  }

  @Test func `a session that was changed in the cache is checked and fetched again in parts`()
    throws
  {
    let store = try StoreFixture()
    try store.write("yard", media: 2)
    try store.store("yard")
    let pull = { try StorePull(project: store.project()).run([])[0] }
    let path = try pull().path
    try Data("planted".utf8).write(to: URL(fileURLWithPath: path + "/media/video-00001.mkv"))
    let cached = CachedSession(
      folder: URL(fileURLWithPath: path).deletingLastPathComponent().path,
      pointer: try store.pointer("yard"))
    // Free space is needed for the rest alone.
    #expect(cached.bytesHere == 3_012 + 7)
    #expect(try pull().fetchedBytes == 3_000)
    #expect(cached.bytesHere == 6_012)
    try Data("log".utf8).write(to: URL(fileURLWithPath: path + "/session.sqlite-wal"))
    #expect(try pull().fetchedBytes == 0)
    #expect(!FileManager.default.fileExists(atPath: path + "/session.sqlite-wal"))
    // A restored cache of CI has other times and the same bytes.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: path + "/session.sqlite")
    #expect(try pull().fetchedBytes == 0)
    #expect(throws: SuiteError.self) { try store.project().ownSessionPath("yard") }
  }

  @Test func `an interrupted push and pull continue after the last complete file`() throws {
    let store = try StoreFixture()
    let bytes = 2_500_000
    try store.write("yard", bytes: bytes, media: 3)
    // Interrupted within the second of three files.
    let moved = Locked<Int64>(0)
    var project = try store.project()
    project.store.progress = { _, done, total in
      if done < total { moved.withLock { $0 = done } }
    }
    project.store.isInterrupted = { moved.withLock { $0 } > bytes + 1_000_000 }
    let push = StorePush(project: project, remote: nil)
    #expect(throws: (any Error).self) { try push.run(["yard"]) }
    #expect(!store.exists("Recordings/yard.session.yml"))
    let objects = store.fixture.files("store/objects")
    #expect(objects.count == 1 && !objects[0].contains("partial"), "\(objects)")
    let rest = try StorePush(project: store.project(), remote: nil).run(["yard"])[0].sentBytes
    #expect(rest == Int64(2 * bytes + 12))

    try store.store("yard")
    moved.withLock { $0 = 0 }
    #expect(throws: (any Error).self) { try project.pull("yard") }
    #expect(try store.cached().isEmpty)
    let fetched = try StorePull(project: store.project()).run([])[0].fetchedBytes
    #expect(fetched == Int64(2 * bytes + 12))
    #expect(try store.cached() == ["yard"])
  }

  @Test func `eight pulls at once fetch each byte once`() throws {
    let store = try StoreFixture()
    try store.write("yard", bytes: 400_000)
    try store.write("gate", bytes: 400_000)
    try store.store("*")
    let fetched = Locked<[Int64]>([])
    let project = try store.project()
    NamedThread.concurrently(8, "pull") { index in
      let item = try? StorePull(project: project).run([index % 2 == 0 ? "yard" : "gate"])
      fetched.withLock { $0.append(item?.first?.fetchedBytes ?? -1) }
    }
    #expect(fetched.withLock { $0.sorted() } == [0, 0, 0, 0, 0, 0, 400_012, 400_012])
  }

  @Test func `the cache keeps its limit, and sessions in use stay`() throws {
    let store = try StoreFixture(cacheLimit: "250KB")
    for name in ["a", "b", "c", "large"] {
      try store.write(name, bytes: name == "large" ? 300_000 : 100_000)
    }
    try store.store("*")
    let project = try store.project()
    func use(_ name: String, at seconds: Double) throws {
      _ = try project.pull(name)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: seconds)],
        ofItemAtPath: store.file(".retake/sessions/\(store.pointer(name).digest)/.lock").path)
    }
    try use("a", at: 1)
    try use("b", at: 2)
    try use("a", at: 3)
    try use("c", at: 4)
    #expect(try store.cached() == ["a", "c"])
    do {
      let inUse = try [project.pull("a"), project.pull("c")]
      #expect(try store.refusal("b") == "suite.store.cacheFull")
      withExtendedLifetime(inUse) {}
    }
    // No session is removed for a session that can never fit.
    #expect(try store.refusal("large") == "suite.store.cacheFull")
    #expect(try store.cached() == ["a", "c"])
    let held = try project.pull("c")
    #expect(try store.refusal("b") == nil)
    #expect(try store.cached() == ["b", "c"] && held.path.hasSuffix("/c"))
    let cache = SessionCache(
      folder: project.sessionCache, bytesMax: 0, isInterrupted: { false })
    #expect(cache.bytes == 200_018)
  }

  @Test func `a session whose removal was interrupted does not stay in the cache`() throws {
    let store = try StoreFixture()
    try store.write("yard")
    try store.store("yard")
    try store.fixture.folder.write("rows", to: ".retake/sessions/.gone-1/gate/session.sqlite")
    #expect(try store.refusal("yard") == nil)
    #expect(try store.cached() == ["yard"] && !store.exists(".retake/sessions/.gone-1"))
  }

  @Test func `files that are no session's, and open sessions, are not pushed`() throws {
    let store = try StoreFixture()
    try store.write("yard")
    func code(_ change: () throws -> Void) throws -> String? {
      try change()
      do {
        _ = try StorePush(project: store.project(), remote: nil).run(["yard"])
        return nil
      } catch let error as any CodedError {
        return error.code
      }
    }
    let wal = store.file("Recordings/yard/session.sqlite-wal")
    #expect(try code { try Data().write(to: wal) } == "suite.store.file")
    try FileManager.default.removeItem(at: wal)
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    #expect(
      try code {
        try store.fixture.folder.write(pointer, to: "Recordings/yard/media/video-00000.mkv")
      } == "media.open.foreign")
    #expect(store.fixture.files("store").isEmpty)
    // A pull could not read the pointer.
    try store.write("yard")
    #expect(
      try code {
        for number in 0..<10_000 {
          try Data().write(to: store.file("Recordings/yard/media/\(number)"))
        }
      } == "suite.store.file")
    #expect(store.fixture.files("store").isEmpty && !store.exists("Recordings/yard.session.yml"))
  }

  @Test func `no link in the cache makes a fetch move, write or remove a file elsewhere`() throws {
    let store = try StoreFixture()
    try store.write("yard")
    try store.store("yard")
    let outside = try TemporaryFolder()
    for name in ["yard/session.sqlite", "yard/media/video-00000.mkv", "file"] {
      try outside.write("mine", to: name)
    }
    func link(_ name: String, to target: URL) throws -> URL {
      let url = store.file(name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
      return url
    }
    let entry = ".retake/sessions/\(try store.pointer("yard").digest)"
    for (name, target) in [
      (entry, outside.url), ("\(entry)/.staging", outside.url),
      ("\(entry)/yard", outside.file("yard")), ("\(entry)/yard/media", outside.file("yard/media")),
    ] {
      let made = try link(name, to: target)
      #expect(try store.refusal("yard") == "suite.output.notWritable", "\(name)")
      try FileManager.default.removeItem(at: made)
    }
    let object = try #require(try store.pointer("yard").objects.first)
    _ = try link(".retake/sessions/.gitignore", to: outside.file("file"))
    _ = try link("\(entry)/.staging/\(object.sha256).partial", to: outside.file("file"))
    #expect(try store.refusal("yard") == nil)
    let names = try FileManager.default.subpathsOfDirectory(atPath: outside.url.path).sorted()
    #expect(
      names == ["file", "yard", "yard/media", "yard/media/video-00000.mkv", "yard/session.sqlite"])
    for name in names where name.contains(".") || name == "file" {
      #expect(try String(contentsOf: outside.file(name), encoding: .utf8) == "mine")
    }
  }

  @Test func `a cache that a link leads out of the project is not written`() throws {
    let store = try StoreFixture()
    try store.write("yard")
    try store.store("yard")
    let outside = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      at: store.file(".retake"), withDestinationURL: outside.url)
    #expect(try store.refusal("yard") == "replay.cache.linkOut")
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside.url.path).isEmpty)
  }
}
