import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeReport

@Suite struct SiteTests {
  private func report(at time: String, error: Double = 0.4) -> ReportDocument {
    var document = Samples.regression()
    document.generatedAt = time
    document.cases[0].headroom[0].largest = error
    return document
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test func `runs are listed by branch and day, each with the commands that accept it`() throws {
    let folder = try TemporaryFolder("retake-site")
    let site = ReportSite(folder.file("site"))
    for (time, branch) in [
      ("2026-11-28T09:00:00Z", "main"), ("2026-11-29T07:30:00Z", "main"),
      ("2026-11-29T08:00:00Z", "smaller-model"),
    ] {
      let page = try site.publish(report(at: time), branch: branch, commit: "0123456789abcdef")
      #expect(FileManager.default.fileExists(atPath: page.path))
    }
    let listing = try site.listing()
    #expect(listing.items.map(\.run.branch) == ["smaller-model", "main", "main"])
    let index = try String(contentsOf: folder.file("site/index.html"), encoding: .utf8)
    #expect(index.contains("3 runs, 2 branches"))
    #expect(
      index.matches(of: /colspan="5">([^<]+)<\/th>/).map { String($0.1) } == [
        "2026-11-29", "2026-11-28",
      ])
    #expect(index.contains("<code>retake accept yard/motion --root-cause r1 --reason TEXT</code>"))
    for item in listing.items { #expect(index.contains("href=\"runs/\(item.id)/report.html\"")) }
    // A publisher leaves no unfinished files.
    #expect(try names(folder.file("site")) == ["images", "index.html", "runs"])
  }

  @Test func `an image of several runs is one file, which their pages show`() throws {
    let folder = try TemporaryFolder("retake-site")
    let site = ReportSite(folder.url)
    for time in ["2026-11-28T09:00:00Z", "2026-11-29T09:00:00Z"] {
      let page = try site.publish(report(at: time), branch: "main", commit: nil)
      let text = try String(contentsOf: page, encoding: .utf8)
      let image = try #require(names(folder.file("images")).first)
      #expect(text.contains("\"file\":\"../../images/\(image)\""))
      #expect(text.contains("img-src data: 'self'; style-src"))
      #expect(!text.contains(Samples.onePixelPNG.base64EncodedString()))
    }
    let images = try names(folder.file("images"))
    #expect(images.count == 1)
    #expect(try Data(contentsOf: folder.file("images/\(images[0])")) == Samples.onePixelPNG)
  }

  @Test func `a run that is published twice is one run`() throws {
    let folder = try TemporaryFolder("retake-site")
    let site = ReportSite(folder.url)
    let run = report(at: "2026-11-29T09:00:00Z")
    let first = try site.publish(run, branch: "main", commit: nil)
    #expect(try site.publish(run, branch: "main", commit: nil) == first)
    #expect(try site.listing().items.count == 1)
    #expect(try names(folder.url) == ["images", "index.html", "runs"])
  }

  @Test func `a publisher that is interrupted adds no run, wherever it ends`() throws {
    struct Ended: Error {}
    let folder = try TemporaryFolder("retake-site")
    let site = ReportSite(folder.file("site"))
    _ = try site.publish(report(at: "2026-11-28T09:00:00Z"), branch: "main", commit: nil)
    let index = try Data(contentsOf: folder.file("site/index.html"))
    let run = report(at: "2026-11-29T09:00:00Z")
    var steps = 0
    _ = try ReportSite(folder.file("other")).publish(run, branch: "main", commit: nil) {
      steps += 1
    }
    try #require(steps > 1)
    for last in 1...steps {
      var step = 0
      #expect(throws: Ended.self) {
        try site.publish(run, branch: "main", commit: nil) {
          step += 1
          if step == last { throw Ended() }
        }
      }
      #expect(try site.listing().items.count == 1)
      #expect(try names(folder.file("site")) == ["images", "index.html", "runs"])
      #expect(try Data(contentsOf: folder.file("site/index.html")) == index)
    }
  }

  @Test func `the first page has the runs of all that publish at once`() throws {
    let folder = try TemporaryFolder("retake-site")
    let site = ReportSite(folder.url)
    DispatchQueue.concurrentPerform(iterations: 12) { number in
      let run = report(at: "2026-11-29T09:00:\(10 + number)Z")
      _ = try? site.publish(run, branch: "b\(number)", commit: nil)
    }
    #expect(try site.listing().items.count == 12)
    let index = try String(contentsOf: folder.file("index.html"), encoding: .utf8)
    for item in try site.listing().items { #expect(index.contains("runs/\(item.id)/")) }
  }

  @Test func `another page is not replaced, and a damaged entry is named`() throws {
    let folder = try TemporaryFolder("retake-site")
    try folder.write("<p>mine</p>", to: "mine/index.html")
    let run = report(at: "2026-11-29T09:00:00Z")
    let error = #expect(throws: ReportError.self) {
      try ReportSite(folder.file("mine")).publish(run, branch: "main", commit: nil)
    }
    #expect(error?.code == "report.folder.otherFile")
    #expect(try names(folder.file("mine")) == ["index.html"])
    #expect(throws: ReportError.self) { try ReportSite(folder.file("none")).listing() }
    let site = ReportSite(folder.file("site"))
    try folder.write("{\"v\": 2}", to: "site/runs/newer/entry.json")
    _ = try site.publish(run, branch: "main", commit: nil)
    #expect(try site.listing().unreadable == ["newer"])
    let index = try String(contentsOf: folder.file("site/index.html"), encoding: .utf8)
    #expect(index.contains("Without a readable entry.json: newer"))
  }

  @Test func `labels stay text, and an image of the document is not an address`() throws {
    let folder = try TemporaryFolder("retake-site")
    let site = ReportSite(folder.url)
    var document = Hostile.document()
    document.cases[0].pictures[0].png = ""
    document.cases[0].pictures[0].file = "https://example.org/x.png"
    let page = try site.publish(document, branch: Hostile.joined, commit: Hostile.joined)
    #expect(
      page.deletingLastPathComponent().deletingLastPathComponent().lastPathComponent == "runs")
    #expect(try !String(contentsOf: page, encoding: .utf8).contains("\"file\":\"https:"))
    let index = try String(contentsOf: folder.file("index.html"), encoding: .utf8)
    #expect(!index.contains(/<(script|img|svg|iframe)/) && !index.contains("\u{1B}"))
  }

  @Test func `a trend shows the errors of the runs and how much of the tolerance they ate`() throws
  {
    let errors = [0.05, 0.1, 0.2, 0.3, 0.45, 0.6]
    let runs = errors.enumerated().map { index, error in
      PublishedRun(
        report(at: "2026-11-2\(index)T09:00:00Z", error: error), branch: "main", commit: nil)
    }
    let trend = Trend(runs) { _ in true }
    #expect(
      trend.text == """
        case             measure         runs    last    tolerance eaten
        yard/motion      boxes.position  !!!!!!  0.4 px  over
        yard/motion      droppedMax      !!!!!!  2       over
        yard/downsample  luma.mean       ▂▂▄▅▇!  0.6     120 % (was 10 %)

        """)
    #expect(Trend(runs) { $0 == "yard/downsample" }.rows.map(\.points.count) == [6])
    // A number that JSON does not have survives the entry.
    var endless = runs[0]
    endless.measures[0].value = .infinity
    #expect(try PublishedRun(parsing: endless.encoded()) == endless)
    let one = Trend([endless]) { _ in true }
    let json = String(decoding: try JSONEncoder().encode(one), as: UTF8.self)
    #expect(json.contains("\"allowed\"") && !json.contains("inf"))
  }
}
