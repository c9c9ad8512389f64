import Foundation
import RetakeMedia
import RetakeTestSupport
import Testing

@testable import RetakeReplay

/// A cache that was written elsewhere cannot change the results of a run.
@Suite struct CacheKeyTests {
  private static let others = CacheKey(secret: Array("the key of somebody else".utf8))

  @Test func `a cache with right checksums that was made elsewhere changes nothing, and is told`()
    throws
  {
    let place = try CacheRun()
    let honest = try place.run(CacheRun.branches())
    // Values computed by another pipeline, under the keys of this one: all checksums are correct.
    let filling = try place.run(CacheRun.branches(), cache: place.cache(key: Self.others))
    let files = place.packs(.values) + place.packs(.pixels)
    try forge(place, from: Self.others, to: Self.others)
    let fooled = try place.run(CacheRun.branches(), cache: place.cache(key: Self.others))
    #expect(fooled.print.results != honest.print.results)

    let run = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(run.print == honest.print)
    let use = try #require(run.use)
    #expect(use.known == 0 && use.computed == filling.use?.computed && use.damaged == 0)
    #expect(use.foreign == files.count)
    // The values stored now are used next time, and the other files are left to their owner.
    let warm = try place.run(CacheRun.branches(), cache: place.cache())
    #expect(warm.print == honest.print)
    #expect(warm.use?.computed == 0 && warm.use?.foreign == files.count)
    #expect(try place.cache().scopes().flatMap(\.foreign).count == files.count)
    #expect(try place.cache().verify().foreign.count == files.count)
    #expect(try place.cache().verify().damaged == [])
  }

  /// Writes all values again with other numbers in them, as an owner of `from`'s key can.
  private func forge(_ place: CacheRun, from: CacheKey, to: CacheKey) throws {
    for file in place.packs(.values) {
      let folder = file.deletingLastPathComponent()
      let scope = folder.lastPathComponent
      guard
        case .whole(let pack) = CachePack.open(
          file, kind: .values, seal: from.seal(.values, scope: scope))
      else {
        Issue.record("the file is not whole")
        return
      }
      let writer = CachePackWriter(folder: folder, kind: .values, key: to, budget: 1 << 30)
      pack.eachWhole { key, bytes in
        writer.append(key) {
          var bytes = bytes
          // The last byte of a scalar: a different number.
          if bytes.first == 2 { bytes[bytes.count - 3] ^= 0x10 }
          return bytes
        }
      }
      try FileManager.default.removeItem(at: file)
      writer.finish()
      #expect(writer.failure == nil)
    }
  }

  @Test func `a pack of another folder is not used`() throws {
    let place = try CacheRun()
    _ = try place.run(CacheRun.light(), cache: place.cache())
    let file = try #require(place.packs(.values).first)
    let seal = CacheRun.key.seal(.values, scope: file.deletingLastPathComponent().lastPathComponent)
    let other = CacheRun.key.seal(.values, scope: "another")
    let pixels = CacheRun.key.seal(
      .pixels, scope: file.deletingLastPathComponent().lastPathComponent)
    if case .whole = CachePack.open(file, kind: .values, seal: seal) {
    } else {
      Issue.record("the file is not whole")
    }
    for seal in [other, pixels] {
      if case .foreign = CachePack.open(file, kind: .values, seal: seal) { continue }
      Issue.record("a pack of another folder or kind is used")
    }
  }

  @Test func `a pack of an older version is not used and not removed`() throws {
    let place = try CacheRun()
    _ = try place.run(CacheRun.light(), cache: place.cache())
    let file = try #require(place.packs(.values).first)
    var bytes = [UInt8](try Data(contentsOf: file))
    bytes[13] = UInt8(ascii: "1")
    bytes[bytes.count - 3] = UInt8(ascii: "1")
    try Data(bytes).write(to: file)
    let run = try place.run(CacheRun.light(), cache: place.cache())
    #expect(run.use?.foreign == 1 && run.use?.damaged == 0)
    #expect(FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `a key is made once, for its owner alone, outside of projects`() throws {
    let folder = try TemporaryFolder("retake-key")
    let environment = ["XDG_STATE_HOME": folder.url.path, "HOME": "/nowhere"]
    let seals = try (0..<2).map { _ in
      try CacheKey.ofUser(environment: environment).seal(.values, scope: "s")
    }
    let codes = seals.map { seal in seal.code(ofTable: [1, 2, 3], at: 9) }
    #expect(codes[0] == codes[1])
    let file = folder.file("retake/cache-key")
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try Data(contentsOf: file).count == 32)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("retake").path)
        == ["cache-key"])
    let other = try TemporaryFolder("retake-key")
    let code = try CacheKey.ofUser(environment: ["XDG_STATE_HOME": other.url.path])
      .seal(.values, scope: "s")
    #expect(code.code(ofTable: [1, 2, 3], at: 9) != codes[0])
  }

  @Test func `a key that others could read, or guess, is refused`() throws {
    let folder = try TemporaryFolder("retake-key")
    let environment = ["XDG_STATE_HOME": folder.url.path]
    _ = try CacheKey.ofUser(environment: environment)
    let path = folder.file("retake/cache-key").path
    chmod(path, 0o644)
    #expect(throws: CacheError.self) { try CacheKey.ofUser(environment: environment) }
    chmod(path, 0o600)
    _ = try CacheKey.ofUser(environment: environment)
    try Data("short".utf8).write(to: folder.file("retake/cache-key"))
    #expect(throws: CacheError.self) { try CacheKey.ofUser(environment: environment) }
    #expect(throws: CacheError.weakKey) {
      try CacheKey.ofUser(environment: [CacheKey.variable: "123456789012345"])
    }
    #expect(throws: CacheError.self) {
      try CacheKey.ofUser(environment: ["XDG_STATE_HOME": "/proc/nowhere"])
    }
  }

  @Test func `the code is that of RFC 4231`() {
    // Test case 2.
    let code = {
      var code = HmacSha256(key: Array("Jefe".utf8))
      code.append(Array("what do ya want ".utf8))
      code.append(Array("for nothing?".utf8))
      return code.finish()
    }()
    let digits = code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(digits == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }
}
