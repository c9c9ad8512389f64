import Foundation
import RetakeBuffers
import RetakeRewrite
import RetakeRuntime
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeReplay

/// Runs with a cache return the same bytes as runs without a cache.
@Suite struct CacheTests {
  @Test(arguments: [0, 1, 2, 4, 8], RunOptions.Mode.virtual)
  func `cold, filling and warm runs give the same bytes`(
    workers: Int, mode: RunOptions.Mode
  ) throws {
    let place = try CacheRun()
    let document = CacheRun.branches()
    let cold = try place.run(document, workers: workers, mode: mode)
    let filling = try place.run(document, workers: workers, mode: mode, cache: place.cache())
    let warm = try place.run(document, workers: workers, mode: mode, cache: place.cache())
    #expect(cold.use == nil)
    #expect(filling.print == cold.print)
    #expect(warm.print == cold.print)
    #expect(filling.use?.known == 0)
    #expect(filling.use.map { $0.bytesWritten > 0 && $0.failure == nil } == true)
    let use = try #require(warm.use)
    #expect(use.known > 0 && use.damaged == 0)
    // Values that are computed ahead without being used differ between runs that decide again.
    guard mode == .everyFrame else { return }
    #expect(use.computed == 0 && use.bytesWritten == 0)
    #expect(use.known == filling.use?.computed)
  }

  @Test func `what was kept by one number of workers serves another`() throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.branches(), workers: 4, cache: place.cache())
    let warm = try place.run(CacheRun.branches(), workers: 0, cache: place.cache())
    #expect(warm.print == filling.print)
    #expect(warm.use?.computed == 0)
  }

  @Test func `with another option of a later stage only that stage is computed`() throws {
    let place = try CacheRun()
    let captured = try place.run(CacheRun.light(), cache: place.cache()).print.frames.captured
    // One more value of the stateful detector's input, and no decoded frame.
    let cold = try place.run(CacheRun.branches())
    let other = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(other.print == cold.print)
    #expect(other.use?.computed == captured)
    #expect(other.use?.known == 3 * captured)
  }

  @Test func `with another option of the first stage everything behind it is computed`() throws {
    let place = try CacheRun()
    let first = try place.run(CacheRun.light(), cache: place.cache())
    let cold = try place.run(CacheRun.light(width: 80))
    let other = try place.run(CacheRun.light(width: 80), cache: place.cache())
    #expect(other.print == cold.print)
    #expect(other.print != first.print)
    #expect(other.use?.computed == 3 * cold.print.frames.captured)
  }

  @Test func `values alone are enough where no pixel is asked for`() throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.light(), cache: place.cache())
    for file in place.packs(.pixels) { try FileManager.default.removeItem(at: file) }
    let warm = try place.run(CacheRun.light(), cache: place.cache())
    #expect(warm.print == filling.print)
    #expect(warm.use?.computed == 0)
    // Another reader of the pixels needs them again.
    let cold = try place.run(CacheRun.branches())
    let other = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(other.print == cold.print)
    #expect(other.use.map { $0.computed > 0 } == true)
  }

  @Test func `every byte of a small cache that differs is noticed or makes no difference`() throws {
    let place = try CacheRun()
    let document = CacheRun.light()
    let filling = try place.run(document, cache: place.cache())
    let file = try #require(place.packs(.values).first)
    let whole = try Data(contentsOf: file)
    for step in 0..<48 {
      var bytes = whole
      bytes[step * (whole.count - 1) / 47] ^= 0x40
      try bytes.write(to: file)
      let run = try place.run(document, workers: 1, cache: place.cache())
      #expect(run.print == filling.print, "byte \(step * (whole.count - 1) / 47)")
      for extra in place.packs(.values) { try FileManager.default.removeItem(at: extra) }
    }
    for length in [0, 1, whole.count / 2, whole.count - 1] {
      try whole.prefix(length).write(to: file)
      #expect(try place.run(document, cache: place.cache()).print == filling.print)
      for extra in place.packs(.values) { try FileManager.default.removeItem(at: extra) }
    }
  }

  @Test func `several runs fill and use one cache at once`() async throws {
    let place = try CacheRun()
    let cold = try place.run(CacheRun.branches())
    let prints = try await withThrowingTaskGroup(of: CacheRun.Print.self) { group in
      for workers in [1, 2, 1, 2, 1, 2] {
        group.addTask {
          try place.run(CacheRun.branches(), workers: workers, cache: place.cache()).print
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(prints.count == 6)
    #expect(Set(prints) == [cold.print])
    #expect(try place.run(CacheRun.branches(), cache: place.cache()).use?.computed == 0)
  }
}

/// The cache's folder over several runs.
@Suite struct CacheFolderTests {
  @Test func `media that is damaged after the cache was filled is noticed as without one`() throws {
    for packet in [0, 5, 29, 40] {
      var place = try CacheRun()
      let copy = place.folder.file("figures").path
      try FileManager.default.copyItem(
        atPath: packageRoot.appending(path: "Recordings/figures").path, toPath: copy)
      place.session = copy
      let full = try place.run(CacheRun.branches(), cache: try place.cache())
      #expect(full.use?.known == 0)
      let reader = try SessionReader(opening: copy)
      let offset = try #require(try reader.packetOffset(track: 0, index: packet))
      let media = try #require(reader.mediaFiles().first)
      try place.flip(URL(filePath: copy + "/" + media), at: offset + 20)

      let (cold, warm) = (
        Result { try place.run(CacheRun.branches()).print },
        Result { try place.run(CacheRun.branches(), cache: try place.cache()).print }
      )
      switch (cold, warm) {
      case (.success(let cold), .success(let warm)):
        #expect(cold == warm, "packet \(packet)")
        #expect(cold != full.print)
      case (.failure(let cold), .failure(let warm)): #expect("\(cold)" == "\(warm)")
      default: Issue.record("packet \(packet): \(cold) without, \(warm) with the cache")
      }
    }
  }

  @Test func `an exact replay copy has a cache of its own`() throws {
    var place = try CacheRun()
    let full = try place.run(CacheRun.branches(), cache: try place.cache())
    let copy = try SessionTranscode(
      of: packageRoot.appending(path: "Recordings/figures").path,
      .init(target: SessionTarget(into: place.folder.file("Fast").path))
    ).run()
    place.session = copy.path
    let filling = try place.run(CacheRun.branches(), cache: try place.cache())
    #expect(filling.print == full.print && filling.use?.known == 0)
    let warm = try place.run(CacheRun.branches(), cache: try place.cache())
    #expect(warm.print == full.print && warm.use?.known ?? 0 > 0)
  }

  @Test func `what was used longest ago goes first`() throws {
    let place = try CacheRun()
    _ = try place.run(CacheRun.light(), cache: place.cache())
    let first = Set(place.packs(.pixels))
    for file in first { utimes(file.path, [timeval(), timeval()]) }
    // Uses the values of the first run, but not its pixels.
    _ = try place.run(CacheRun.light(width: 80), cache: place.cache())
    let left = Set(place.packs(.pixels) + place.packs(.values)).subtracting(first)
    let limit = try left.reduce(0) {
      $0 + (try $1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
    }
    #expect(try place.cache().prune(to: limit) > 0)
    #expect(Set(place.packs(.pixels) + place.packs(.values)) == left)
    #expect(try place.cache().prune(to: 0) == limit)
    #expect(try place.cache().scopes().isEmpty)
  }

  @Test func `a run stops keeping pixels at the limit, and leaves no more than it`() throws {
    let place = try CacheRun()
    let cold = try place.run(CacheRun.branches())
    let limit = 200_000
    let filling = try place.run(CacheRun.branches(), cache: place.cache(limit: limit))
    #expect(filling.print == cold.print)
    let left = try place.cache().scopes().reduce(0) { $0 + $1.pixelBytes + $1.valueBytes }
    #expect(left <= limit)
    #expect(
      try place.run(CacheRun.branches(), cache: place.cache(limit: limit)).print == cold.print)
  }

  @Test func `verify names the damaged file and takes it away`() throws {
    let place = try CacheRun()
    _ = try place.run(CacheRun.branches(), cache: place.cache())
    let whole = try place.cache().verify()
    #expect(whole.records > 0 && whole.damaged.isEmpty)
    let file = try #require(place.packs(.pixels).first)
    try place.flip(file, at: 5_000)
    let check = try place.cache().verify()
    #expect(check.damaged == [file.path] && check.left.isEmpty)
    #expect(check.records < whole.records)
    #expect(try place.cache().verify().damaged.isEmpty)
  }

  @Test func `a folder with something else in it is left alone`() throws {
    let place = try CacheRun()
    try place.folder.write("mine", to: "cache/notes.txt")
    #expect(throws: CacheError.notCache(path: place.path)) { try place.cache() }
    #expect(throws: CacheError.missing(path: place.path + "2")) {
      try CacheFolder(existing: place.path + "2", key: CacheRun.key)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.path) == ["notes.txt"])
  }

  @Test func `a cache without its marker, or with half of it, is one all the same`() throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.light(), cache: place.cache())
    let marker = place.folder.file("cache/retake-cache.json")
    for text in [nil, "", "{\"v\""] as [String?] {
      try FileManager.default.removeItem(at: marker)
      if let text { try Data(text.utf8).write(to: marker) }
      let again = try place.run(CacheRun.light(), cache: place.cache())
      #expect(again.print == filling.print)
      #expect(again.use?.computed == 0)
    }
    try Data("{\"v\":2}\n".utf8).write(to: marker)
    #expect(throws: CacheError.newer(path: place.path)) { try place.cache() }
  }

  @Test func `many may make a cache at once`() throws {
    for _ in 0..<20 {
      let place = try CacheRun()
      let failures = Locked(0)
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        if (try? place.cache()) == nil { failures.withLock { $0 += 1 } }
      }
      #expect(failures.withLock { $0 } == 0)
    }
  }

  @Test func `nobody waits for what is no file`() throws {
    let place = try CacheRun()
    let filling = try place.run(CacheRun.light(), cache: place.cache())
    let folder = try #require(place.packs(.values).first).deletingLastPathComponent()
    #expect(mkfifo(folder.appending(path: "values-pipe.pack").path, 0o600) == 0)
    #expect(mkfifo(folder.appending(path: ".writing-values-pipe").path, 0o600) == 0)
    #expect(try place.run(CacheRun.light(), cache: place.cache()).print == filling.print)
    try place.cache().prune(to: CacheFolder.defaultLimit)
    #expect(try place.cache().scopes().count == 1)
  }

  @Test func `a folder that cannot be written is an error before the run`() throws {
    let place = try CacheRun()
    try place.folder.write("a file", to: "cache")
    #expect(throws: CacheError.notFolder(path: place.path)) { try place.cache() }
    #expect(throws: CacheError.self) {
      try CacheFolder(path: "/proc/nowhere/cache", key: CacheRun.key)
    }
  }
}
