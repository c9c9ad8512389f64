import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeReport

/// The page in a real browser; skipped without a browser.
@Suite(
  .serialized, .oneAtATime(.displays),
  .enabled(if: Chromium.command != nil, "chromium is not on this machine"))
struct BrowserTests {
  @Test func `the page's script runs under the page's own policy`() throws {
    var document = Samples.regression()
    let shown = try #require(document.cases.firstIndex { !$0.pictures.isEmpty })
    // As on a site of published runs.
    var published = document.cases[shown].pictures[0]
    (published.role, published.png, published.file) = (.actual, "", "../../images/a.png")
    published.node = document.cases[shown].findings.items[0].sink
    document.cases[shown].pictures.append(published)
    let page = try dom(of: HTMLReport.render(document))
    #expect(page.contains("<html lang=\"en\" class=\"js\">"))
    #expect(page.contains("aria-label=\"Golden, frame 0:120, 1 differing box\""))
    #expect(page.contains("aria-label=\"Actual, frame 0:120, 1 differing box\""))
    #expect(page.contains("href=\"data:image/png;base64,"))
    #expect(page.contains("href=\"../../images/a.png\""))
    #expect(page.contains("1–12 of 12") || page.contains("finding 1 of 1,218"))
  }

  @Test func `hostile labels run no script, also without the policy`() throws {
    let document = Hostile.document()
    let page = try HTMLReport.render(document)
    let guarded = try dom(of: page)
    let open = try drive(
      page,
      """
      for (const link of document.querySelectorAll("#case-list a")) {
        location.hash = link.getAttribute("href");
        dispatchEvent(new HashChangeEvent("hashchange"));
        for (const button of document.querySelectorAll(".case.shown button")) button.click();
      }
      const root = document.documentElement;
      root.dataset.result = [root.dataset.owned, document.scripts.length, document.images.length,
        document.querySelectorAll("iframe, object, embed, [onerror], [onload], [onmouseover]").length,
        document.querySelectorAll(".panels").length].join(" ");
      """)
    #expect(!guarded.contains("data-owned"))
    #expect(guarded.contains("class=\"js\""))
    #expect(open == " 3 0 0 \(document.cases.count)")
  }

  @Test func `the check of hostile labels sees a script that does run`() throws {
    let planted = "document.documentElement.dataset.owned = 1;"
    let open = try drive(
      HTMLReport.render(Samples.regression()),
      planted + "document.documentElement.dataset.result = document.documentElement.dataset.owned;")
    #expect(open == "1")
  }

  @Test func `keys, slider, zoom and filters lead from finding to finding`() throws {
    let result = try drive(
      HTMLReport.render(Samples.regression()),
      """
      const steps = [];
      const area = document.querySelector(".case.shown .inspector");
      const note = () => steps.push(area.querySelector("h3").textContent);
      const key = (name, at) => at.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
      const press = (text) => [...area.querySelectorAll("button")].find((one) => one.textContent === text).click();
      note();
      key("n", document.body); note();
      key("n", document.body); key("p", document.body); note();
      const slider = area.querySelector("input[type=range]");
      key("End", slider); note();
      slider.value = 124; slider.dispatchEvent(new Event("input")); note();
      press("Zoom");
      steps.push(area.querySelector(".panels svg").getAttribute("viewBox").split(" ").map(Number).map(Math.round).join(" "));
      press("Overlay");
      steps.push(area.querySelectorAll(".panels svg").length);
      const search = area.querySelector("input[type=search]");
      search.value = "0:126"; search.dispatchEvent(new Event("input"));
      steps.push(area.querySelectorAll("tbody tr").length);
      area.querySelector("tbody tr").click(); note();
      document.documentElement.dataset.result = steps.join("|");
      """)
    #expect(
      result.split(separator: "|") == [
        "Frame 0:120 · 4.000 s · finding 1 of 1,218", "Frame 0:121 · finding 2 of 1,218",
        "Frame 0:121 · finding 2 of 1,218", "Frame 0:131 · finding 12 of 1,218",
        "Frame 0:124 · finding 5 of 1,218", "59 45 154 86", "1", "1",
        "Frame 0:126 · finding 7 of 1,218",
      ])
  }

  @Test func `5,000 findings are shown a page at a time`() throws {
    var item = Samples.changedCase()
    item.findings = Excerpt((0..<5_000).map(Samples.finding))
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1), cases: [item])
    let result = try drive(
      HTMLReport.render(document),
      """
      const area = document.querySelector(".case.shown .browse");
      const rows = area.querySelectorAll("tbody tr").length;
      [...area.querySelectorAll("button")].find((one) => one.textContent === "Later").click();
      document.documentElement.dataset.result = rows + " " + area.querySelector(".pager span").textContent;
      """)
    #expect(result == "25 26–50 of 5,000")
  }

  @Test func `a sink's picture lies on the part of the frame that it shows`() throws {
    var document = Samples.regression()
    let index = try #require(document.cases.firstIndex { !$0.pictures.isEmpty })
    let input = document.cases[index].pictures[0]
    for role in [ReportImage.Role.golden, .actual] {
      var picture = input
      (picture.role, picture.boxes) = (role, [])
      picture.node = document.cases[index].findings.items[0].sink
      picture.area = Box(x: 40, y: 20, width: 160, height: 90)
      document.cases[index].pictures.append(picture)
    }
    let result = try drive(
      HTMLReport.render(document),
      """
      document.documentElement.dataset.result = [...document.querySelectorAll(".case.shown .panels svg")]
        .map((one) => [...one.querySelectorAll("image")].map((image) => ["x", "y", "width", "height"]
          .map((name) => image.getAttribute(name)).join(" ")).join(",") + ";" + one.querySelectorAll(".both").length)
        .join("|");
      """)
    #expect(result == "0 0 320 180,40 20 160 90;1|0 0 320 180,40 20 160 90;1")
  }

  @Test func `cases are filtered by name and verdict`() throws {
    let result = try drive(
      HTMLReport.render(Samples.allVerdicts()),
      """
      const shown = () => document.querySelectorAll("#case-list li:not([hidden])").length;
      const counts = [shown()];
      const verdict = document.getElementById("verdict");
      verdict.value = "!passed"; verdict.dispatchEvent(new Event("change")); counts.push(shown());
      const name = document.getElementById("filter");
      name.value = "street"; name.dispatchEvent(new Event("input")); counts.push(shown());
      counts.push(document.getElementById("shown").textContent);
      document.documentElement.dataset.result = counts.join("|");
      """)
    #expect(result == "7|6|1|1 of 7")
  }

  // MARK: - The browser

  /// The page's DOM after its scripts have run.
  private func dom(of page: [UInt8]) throws -> String {
    let folder = try TemporaryFolder("retake-browser")
    let file = folder.file("page.html")
    try Data(page).write(to: file)
    let browser = try Chromium()
    try browser.open(file.absoluteString)
    // After what the load of the page has left to do.
    try browser.evaluate(
      "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))")
    return try browser.text("document.documentElement.outerHTML")
  }

  /// The content of `data-result` after a driver was added to the page. The page's policy is
  /// removed, because it would reject the driver.
  private func drive(_ page: [UInt8], _ driver: String) throws -> String {
    let text = String(decoding: page, as: UTF8.self)
    let policy = try #require(text.range(of: #"<meta http-equiv="Content-Security-Policy""#))
    let end = try #require(text.range(of: ">", range: policy.upperBound..<text.endIndex))
    var changed = text
    changed.removeSubrange(policy.lowerBound..<end.upperBound)
    let body = try #require(changed.range(of: "</body>", options: .backwards))
    changed.insert(contentsOf: "<script>{\(driver)}</script>", at: body.lowerBound)
    let dom = try dom(of: Array(changed.utf8))
    let start = try #require(dom.range(of: "data-result=\""))
    let close = try #require(dom.range(of: "\"", range: start.upperBound..<dom.endIndex))
    return String(dom[start.upperBound..<close.lowerBound])
  }
}
