import Foundation
import RetakeReport
import RetakeTestProjects
import Testing

@testable import RetakeReplay

/// The report of `retake test` about its cache.
@Suite struct SuiteCacheTests {
  @Test func `the report has the sum of what the cache did, and its text a line`() throws {
    let fixture = try ProjectFixture()
    for (seed, name) in ["yard-1", "yard-2"].enumerated() {
      try fixture.record(name, seed: seed + 1)
    }
    let cache = try CacheFolder(
      path: fixture.folder.file("kept").path,
      key: CacheKey(secret: Array("the key of this machine".utf8)))
    let run = { (jobs: Int) in
      try fixture.test {
        $0.openCache = { _ in cache }
        $0.jobs = jobs
      }.document
    }
    #expect(try fixture.test().document.totals.cache == nil)
    let filling = try #require(try run(1).totals.cache)
    // For two recordings: the frame and its gray image.
    #expect(filling.known == 0 && filling.computed == 2 * 12 * 2)
    #expect(filling.damaged == 0 && filling.failure == nil && filling.keptBytes > 0)
    let warm = try run(2)
    #expect(
      warm.totals.cache == ReportCache(known: 48, computed: 0, damaged: 0, keptBytes: 0))
    let text = TerminalReport.render(warm, palette: .plain)
    #expect(text.contains("\ncache  48 values came from it, 0 computed\n"), "\(text)")
    #expect(try ReportDocument(parsing: warm.encoded()).totals.cache == warm.totals.cache)

    let scope = try #require(cache.scopes().first)
    let folder = cache.url.appending(path: scope.folder)
    let pack = try #require(cache.packs(in: folder).first { $0.kind == .values })
    try Data("not what it was".utf8).write(to: pack.url)
    let damaged = try #require(try run(1).totals.cache)
    #expect(damaged.damaged == 1 && damaged.known + damaged.computed == 48)
    #expect(damaged.known == 24 && damaged.keptBytes > 0, "\(damaged)")
  }

  @Test(arguments: [
    (ReportCache(known: 1_200, computed: 3, damaged: 0, keptBytes: 1_500_000), "1.5 MB kept"),
    (
      ReportCache(known: 0, computed: 3, damaged: 0, keptBytes: 0, failure: "full: /c"),
      "nothing could be kept (full: /c)"
    ),
    (
      ReportCache(known: 0, computed: 3, damaged: 2, keptBytes: 5, failure: "full: /c"),
      "2 damaged and computed again, not all could be kept (full: /c)"
    ),
  ])
  func `the line says how many, and why not all was kept`(use: ReportCache, says: String) {
    #expect(use.text.hasSuffix(", \(says)"), "\(use.text)")
    let start =
      use.known > 0
      ? "1,200 values came from it, 3 computed, " : "no value came from it, 3 values computed, "
    #expect(use.text.hasPrefix(start), "\(use.text)")
  }

  @Test func `why there is no cache is a note of the report`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard-1")
    let document = try fixture.test {
      $0.openCache = { note in
        note("no cache: of no use")
        return nil
      }
    }.document
    #expect(document.notes == ["no cache: of no use"])
    let text = TerminalReport.render(document, palette: .plain)
    #expect(text.contains("\nnote: no cache: of no use\n"))
  }
}
