import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeReplay

/// Reports of a run about a damaged cache, and about values that it could not store.
@Suite struct CacheDamageTests {
  @Test(arguments: [CachePack.Kind.pixels, .values])
  func `a changed byte is noticed, computed anew, kept again and its file taken away`(
    kind: CachePack.Kind
  ) throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.branches(), cache: place.cache())
    let all = try #require(filling.use?.computed)
    let file = try #require(place.packs(kind).first)
    try place.flip(file, at: kind == .pixels ? 4_096 + 700 : 40)
    let warm = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(warm.print == filling.print)
    let use = try #require(warm.use)
    #expect(use.damaged == 1)
    // The value itself, and at most the frame from which it is computed.
    #expect((1...2).contains(use.computed), "\(use)")
    #expect(use.known + use.computed == all)
    #expect(use.bytesWritten > 0 && use.failure == nil)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(place.packs(kind).count == 1)
    // The other records of the file are kept.
    let again = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(again.print == filling.print)
    #expect(again.use?.computed == 0 && again.use?.bytesWritten == 0 && again.use?.damaged == 0)
  }

  @Test(arguments: [CachePack.Kind.pixels, .values])
  func `a damaged file stays until its other records are kept`(kind: CachePack.Kind) throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.branches(), cache: place.cache())
    let file = try #require(place.packs(kind).first)
    try place.flip(file, at: kind == .pixels ? 4_096 + 700 : 40)
    // The cache keeps no value with this limit, so it keeps no copies, either.
    let full = try place.run(CacheRun.branches(), cache: place.cache(limit: 0))
    #expect(full.print == filling.print)
    #expect(full.use?.damaged == 1 && full.use?.bytesWritten == 0)
    #expect(place.packs(kind) == [file])
    let warm = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(warm.print == filling.print)
    let computed = try #require(warm.use?.computed)
    #expect((1...2).contains(computed))
    #expect(place.packs(kind).count == 1 && place.packs(kind) != [file])
  }

  @Test func `only an empty file and a link are damage, of those that cannot be mapped`() {
    func opened(_ refusal: MappedFile.Refusal) -> String { "\(CachePack.Opened(refusal))" }
    #expect(opened(.empty) == "damaged" && opened(.link) == "damaged")
    #expect(opened(.missing) == "nothing" && opened(.special) == "nothing")
    for number in [ENOMEM, EMFILE, ENFILE, EACCES, EIO] {
      #expect(opened(.system(number)) == "unreadable")
    }
  }

  #if os(Linux)
    @Test func `a file that cannot be read now is neither removed nor counted as damaged`() throws {
      let place = try CacheRun()
      let filling = try place.run(CacheRun.light(), cache: place.cache())
      let file = try #require(place.packs(.values).first)
      let whole = try Data(contentsOf: file)
      // A lease makes opening fail, for the superuser as well (`man 2 fcntl`). The system grants it
      // only if no other descriptor of the file is open, and a thread of the run may still have
      // one: so another file replaces it. The signal is ignored.
      let copies = try TemporaryFolder()
      let copy = copies.file("copy")
      try FileManager.default.copyItem(at: file, to: copy)
      let descriptor = open(copy.path, O_RDWR)
      defer { close(descriptor) }
      try #require(fcntl(descriptor, 10, SIGURG) == 0, "F_SETSIG")
      try #require(fcntl(descriptor, 1_024, Int32(F_WRLCK)) == 0, "F_SETLEASE")
      try #require(rename(copy.path, file.path) == 0)
      let blind = try place.run(CacheRun.light(), cache: place.cache())
      let check = try place.cache().verify()
      #expect(fcntl(descriptor, 1_024, Int32(F_UNLCK)) == 0)
      #expect(blind.print == filling.print && blind.use?.damaged == 0)
      #expect(check.unreadable == [file.path] && check.damaged.isEmpty && check.left.isEmpty)
      #expect(try Data(contentsOf: file) == whole)
    }
  #endif

  @Test func `advice begins at a page of the system`() {
    for bytes in [4_096, 16_384, 65_536] {
      let pages = MappedFile.pages(at: 3 * 65_536 + 8_192, count: 5_000, pageBytes: bytes)
      #expect(pages.start.isMultiple(of: bytes))
      #expect(pages.start + pages.count == 3 * 65_536 + 8_192 + 5_000)
    }
    #expect(MappedFile.pageBytes == sysconf(Int32(_SC_PAGESIZE)))
  }

  @Test func `pixels that are gone are counted as computed`() throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.branches(), cache: place.cache())
    for file in place.packs(.pixels) { try FileManager.default.removeItem(at: file) }
    let warm = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(warm.print == filling.print)
    let use = try #require(warm.use)
    #expect(use.known + use.computed == filling.use?.computed)
    // A sink reads the small images, so that each is decoded and scaled.
    #expect(use.computed >= 2 * warm.print.frames.captured, "\(use)")
  }

  @Test(arguments: [CachePack.Kind.pixels, .values], ["table", "trailer", "cut", "empty"])
  func `damage outside of the records is told, and its file taken away`(
    kind: CachePack.Kind, damage: String
  ) throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.branches(), cache: place.cache())
    let file = try #require(place.packs(kind).first)
    let bytes = try Data(contentsOf: file)
    switch damage {
    case "table": try place.flip(file, at: bytes.count - CachePack.endBytes - 20)
    case "trailer": try place.flip(file, at: bytes.count - CachePack.endBytes + 4)
    case "cut": try bytes.prefix(bytes.count - 7).write(to: file)
    default: try Data().write(to: file)
    }
    #expect(try place.cache().scopes().flatMap(\.damaged) == [file.lastPathComponent])
    let warm = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(warm.print == filling.print)
    let use = try #require(warm.use)
    #expect(use.damaged == 1 && use.computed > 0 && use.bytesWritten > 0, "\(use)")
    #expect(use.known + use.computed == filling.use?.computed)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    let again = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(again.use.map { $0.damaged == 0 && $0.computed == 0 } == true)
  }

  @Test func `what is said to be kept is there`() throws {
    let place = try CacheRun()
    let use = try #require(try place.run(CacheRun.branches(), cache: place.cache()).use)
    #expect(use.bytesWritten == place.packedBytes)

    let small = try CacheRun()
    let limit = 200_000
    let bounded = try small.run(CacheRun.branches(), cache: small.cache(limit: limit)).use
    #expect(bounded?.bytesWritten == small.packedBytes)
    #expect(
      bounded?.failure == "no more than \(ByteText.of(limit)) are kept: \(small.path)",
      "\(bounded as Any)"
    )
  }

  @Test func `records of a file that never got its name are not counted`() throws {
    let folder = try TemporaryFolder("retake-pack")
    let place = folder.file("scope")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let writer = CachePackWriter(folder: place, kind: .values, key: CacheRun.key, budget: 1 << 20)
    writer.append(Digest128(of: "one")) { [1, 2, 3] }
    try FileManager.default.removeItem(at: place)
    writer.finish()
    #expect(writer.published.isEmpty)
    #expect(writer.failure != nil)
  }

  @Test func `a folder that goes while a run is under way is made again`() throws {
    let folder = try TemporaryFolder("retake-pack")
    let writer = CachePackWriter(
      folder: folder.file("scope"), kind: .values, key: CacheRun.key, budget: 1 << 20)
    writer.append(Digest128(of: "one")) { [1, 2, 3] }
    writer.finish()
    #expect(writer.failure == nil)
    let file = try #require(writer.published.first)
    let seal = CacheRun.key.seal(.values, scope: "scope")
    guard case .whole(let pack) = CachePack.open(file.url, kind: .values, seal: seal) else {
      Issue.record("the file is not whole")
      return
    }
    #expect(pack.count == 1)
    #expect(try Data(contentsOf: file.url).count == file.bytes)
  }
}

/// Other files in a cache.
@Suite struct CacheContentsTests {
  private static let names = [".writing-values-gone", ".writing-values-busy"]

  @Test func `files of writers that are gone are named and go, those of others stay`() throws {
    let place = try CacheRun()
    _ = try place.run(CacheRun.light(), cache: place.cache())
    let folder = try #require(place.packs(.values).first).deletingLastPathComponent()
    for name in Self.names { try Data("half".utf8).write(to: folder.appending(path: name)) }
    let held = open(folder.appending(path: Self.names[1]).path, O_RDONLY)
    defer { close(held) }
    #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
    let scope = try #require(try place.cache().scopes().first)
    #expect(scope.session == "figures" && scope.track == 0)
    #expect(
      scope.leftovers == [
        CacheLeftover(name: Self.names[1], bytes: 4, isBeingWritten: true),
        CacheLeftover(name: Self.names[0], bytes: 4, isBeingWritten: false),
      ])
    #expect(try place.cache().prune(to: CacheFolder.defaultLimit) == 4)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains(Self.names[0]) && left.contains(Self.names[1]))
  }

  @Test func `a track that nothing is said of is counted all the same`() throws {
    let place = try CacheRun()
    _ = try place.run(CacheRun.light(), cache: place.cache())
    let known = try #require(try place.cache().scopes().first)
    let about = place.folder.file("cache/\(known.folder)/about.json")
    try FileManager.default.removeItem(at: about)
    let scope = try #require(try place.cache().scopes().first)
    #expect(scope.session == nil && scope.folder == known.folder)
    #expect(scope.records == known.records && scope.valueBytes == known.valueBytes)
    #expect(try place.cache().prune(to: 0) == known.valueBytes + known.pixelBytes)
    #expect(try place.cache().scopes().isEmpty)
  }

  @Test func `looking at a folder makes no cache of it`() throws {
    let folder = try TemporaryFolder("retake-cache")
    let path = folder.file("here").path
    #expect(throws: CacheError.missing(path: path)) {
      try CacheFolder(existing: path, key: CacheRun.key)
    }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(throws: CacheError.empty(path: path)) {
      try CacheFolder(existing: path, key: CacheRun.key)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    _ = try CacheFolder(path: path, key: CacheRun.key)
    #expect(try CacheFolder(existing: path, key: CacheRun.key).scopes().isEmpty)
  }

  @Test func `a link that leads nowhere is named, also on the way to a cache`() throws {
    let folder = try TemporaryFolder("retake-cache")
    let link = folder.url.standardizedFileURL.appending(path: "link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
    let expected = CacheError.deadLink(path: link, target: "nowhere")
    #expect(throws: expected) { try CacheFolder(path: link, key: CacheRun.key) }
    #expect(throws: expected) { try CacheFolder(existing: link, key: CacheRun.key) }
    #expect(throws: expected) { try CacheFolder(path: link + "/cache", key: CacheRun.key) }
    try folder.write("mine", to: "file")
    let file = folder.file("file").path
    #expect(throws: CacheError.notFolder(path: file)) {
      try CacheFolder(existing: file, key: CacheRun.key)
    }
    #expect(throws: CacheError.self) { try CacheFolder(path: file + "/cache", key: CacheRun.key) }
  }

  @Test func `every error of a cache says where and what to do`() {
    let errors: [CacheError] = [
      .missing(path: "/c"), .empty(path: "/c"), .notCache(path: "/c"), .notFolder(path: "/c"),
      .deadLink(path: "/c", target: "d"), .newer(path: "/c"), .unreadable(path: "/c", cause: "x"),
      .unwritable(path: "/c", cause: "x"), .notRemoved(path: "/c", cause: "x"),
      .noKey(path: "/c", cause: "x"), .tracked(path: "/c", file: "f"),
    ]
    for error in errors {
      #expect(error.description.hasPrefix("/c: "), "\(error)")
      #expect((error as any CodedError).advice != nil)
    }
    #expect((CacheError.weakKey as any CodedError).advice?.contains("openssl") == true)
    #expect(Set(errors.map(\.code)).count == errors.count)
  }
}
