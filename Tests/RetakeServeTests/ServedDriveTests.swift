import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// The served pages in a real browser.
@Suite(
  .serialized, .onOwnThread, .oneAtATime(.displays),
  .enabled(
    if: Chromium.command != nil, "chromium is not on this machine: Scripts/setup --with-browser"))
struct ServedDriveTests {
  @Test func `every frame of a session is scrubbed, from the list and from a report`() throws {
    let fixture = try ServeFixture(frames: 60)
    let browser = try Chromium()
    try browser.open(fixture.server.address)
    try browser.wait(for: "document.documentElement.classList.contains('ready')")
    #expect(
      try browser.text("document.getElementById('summary').textContent")
        == "1 report, 1 session, 0 runs, 1 waiting to be accepted")
    try browser.keepScreenshot("home")
    try browser.click("#sessions button")
    try browser.wait(for: "document.getElementById('viewer-picture').dataset.frame === '0:0'")
    try browser.evaluate("document.getElementById('viewer-slider').focus()")
    for _ in 0..<3 { try browser.press("ArrowRight") }
    try browser.wait(for: "document.getElementById('viewer-picture').dataset.frame === '0:3'")
    try browser.press("End")
    try browser.wait(for: "document.getElementById('viewer-picture').dataset.frame === '0:59'")
    #expect(
      try browser.text("document.getElementById('viewer-caption').textContent")
        .hasPrefix("Frame 0:59 · "))
    #expect(try browser.text("document.getElementById('viewer-picture').naturalWidth") == "160")
    try browser.keepScreenshot("home-frames")

    // A pending case links to its place in the newest report.
    try browser.click("#pending a")
    try browser.wait(for: "document.querySelector('.case.shown .panels') !== null")
    #expect(try browser.text("location.hash") == "#case-1")
    try browser.open(fixture.server.address)
    try browser.wait(for: "document.documentElement.classList.contains('ready')")
    try browser.click("#reports a")
    try browser.wait(for: "document.querySelector('.case.shown .panels') !== null")
    let slider = "document.querySelector('.case.shown .inspector input[type=range]')"
    try browser.evaluate("\(slider).focus()")
    try browser.press("Home")
    try browser.press("ArrowRight")
    try browser.press("ArrowRight")
    #expect(try browser.text("\(slider).value") == "2")
    try browser.press("End")
    #expect(try browser.text("\(slider).value") == "59")
    try browser.keepScreenshot("served-report")
    let shown = try browser.text(
      "document.querySelector('.case.shown .panels image').getAttribute('href').slice(0, 12)")
    #expect(shown == "data:image/p" || shown.hasPrefix("/\(fixture.token.prefix(8))"))
    let asked = Set(browser.requests.filter { !$0.hasPrefix("data:") && !$0.hasPrefix("about:") })
    #expect(asked.allSatisfy { $0.hasPrefix(fixture.server.address) }, "\(asked)")
    #expect(asked.contains { $0.hasSuffix("frames/yard/0/59.png") })
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `a session plays from its first frame to its last, each frame once`() throws {
    let fixture = try ServeFixture(frames: 12)
    let browser = try Chromium()
    try browser.open(fixture.server.address)
    try browser.wait(for: "document.documentElement.classList.contains('ready')")
    try browser.click("#sessions button")
    try browser.wait(for: "document.getElementById('viewer-picture').dataset.frame === '0:0'")
    try browser.evaluate(
      """
      window.seen = [];
      new MutationObserver(() => seen.push(document.getElementById('viewer-picture').dataset.frame))
        .observe(document.getElementById('viewer-picture'), { attributeFilter: ['data-frame'] });
      """)
    try browser.click("#viewer-play")
    let button = "document.getElementById('viewer-play').textContent"
    try browser.wait(for: "\(button) === 'Play' && seen.length > 1")
    #expect(
      try browser.text("[...new Set(seen)].join(' ')")
        == (0..<12).map { "0:\($0)" }.joined(separator: " "))
    try browser.keepScreenshot("home-played")

    try browser.click("#viewer-play")
    try browser.click("#viewer-play")
    #expect(try browser.text(button) == "Play")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `a person accepts from the page, with a reason`() throws {
    let fixture = try ServeFixture()
    let before = try fixture.goldens()
    let browser = try Chromium()
    try browser.open(fixture.server.address + "reports/" + fixture.reportID())
    #expect(
      try browser.evaluate("document.querySelector('.accept .primary').disabled") as? Bool == true)
    try browser.click(".accept input[type=text]")
    try browser.type("the new threshold is right")
    try browser.keepScreenshot("served-accept")
    #expect(try fixture.goldens() == before)
    try browser.click(".accept .primary")
    try browser.wait(for: "document.querySelector('.accept .outcome').dataset.done === 'yes'")
    try browser.keepScreenshot("served-accepted")
    #expect(try ServeFixture.test(fixture.folder).status == .passed)
    let manifest = try #require(try fixture.goldens()["yard/motion/golden.yml"])
    #expect(String(decoding: manifest, as: UTF8.self).contains("the new threshold is right"))
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `a person accepts one root cause of two, then the other`() throws {
    let fixture = try ServeFixture(pipeline: PipelineText.branches)
    let rootCauses = try fixture.waitingRoots()
    let browser = try Chromium()
    try browser.open(fixture.server.address + "reports/" + fixture.reportID())
    let send = "document.querySelector('.accept .primary')"
    #expect(
      try browser.text("document.querySelectorAll('.root-causes input:checked').length") == "2")
    try browser.click(".accept input[type=text]")
    try browser.type("the new threshold is right")
    #expect(try browser.text("\(send).textContent") == "Accept yard/motion")
    // The second one is deselected with the keyboard.
    try browser.evaluate("document.querySelectorAll('.root-causes input')[1].focus()")
    try browser.press(" ")
    #expect(try browser.text("\(send).textContent") == "Accept 1 of 2 root causes")
    try browser.keepScreenshot("served-roots")
    try browser.click(".accept .primary")
    try browser.wait(for: "document.querySelector('.accept .outcome').dataset.done === 'yes'")
    #expect(
      try browser.text("document.querySelector('.accept .outcome').textContent")
        == "Accepted: \(rootCauses[0]) of yard/motion. 1 root cause still waits.")
    #expect(try fixture.waitingRoots() == [rootCauses[1]])
    #expect(
      try browser.text("document.querySelectorAll('.root-causes input:disabled').length") == "1")
    try browser.keepScreenshot("served-roots-left")

    #expect(try browser.text("\(send).textContent") == "Accept yard/motion")
    try browser.click(".accept .primary")
    try browser.wait(
      for: "\(send).disabled && document.querySelectorAll('.root-causes :disabled').length === 2")
    #expect(try ServeFixture.test(fixture.folder).status == .passed)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `none of the root causes is no acceptance`() throws {
    let fixture = try ServeFixture(frames: 12, pipeline: PipelineText.branches)
    let browser = try Chromium()
    try browser.open(fixture.server.address + "reports/" + fixture.reportID())
    try browser.click(".accept input[type=text]")
    try browser.type("why")
    for place in 0..<2 {
      try browser.evaluate("document.querySelectorAll('.root-causes input')[\(place)].click()")
    }
    #expect(
      try browser.evaluate("document.querySelector('.accept .primary').disabled") as? Bool == true)
    // The page that opens from disk has no server, so it offers no choice of root causes.
    let page = fixture.folder.file("report/report.html")
    try browser.open(page.absoluteString)
    #expect(try browser.text("document.querySelectorAll('.root-causes').length") == "0")
  }

  @Test func `another site's page, with the token even, cannot accept`() throws {
    let fixture = try ServeFixture(frames: 6)
    let before = try fixture.goldens()
    let folder = try TemporaryFolder("retake-evil")
    let page = try folder.write("<!DOCTYPE html><title>evil</title>", to: "evil.html")
    let browser = try Chromium()
    try browser.open(page.absoluteString)
    let outcome = try browser.text(
      """
      fetch("\(fixture.server.address)accept", { method: "POST", body: '{"key": "yard/motion", "reason": "x"}',
        headers: { "Content-Type": "application/json", "X-Retake-Token": "\(fixture.token)" } }).then(() => "sent", () => "refused")
      """)
    #expect(outcome == "refused")
    let simple = try browser.text(
      """
      fetch("\(fixture.server.address)accept", { method: "POST", mode: "no-cors", body: '{"key": "yard/motion", "reason": "x"}' })
        .then((answer) => answer.type, () => "refused")
      """)
    #expect(simple == "opaque" || simple == "refused")
    let picture = try browser.text(
      """
      new Promise((done) => { const one = new Image(); one.onload = () => done("seen"); one.onerror = () => done("not seen");
        one.src = "\(fixture.server.address)frames/yard/0/1.png"; })
      """)
    #expect(picture == "not seen")
    #expect(try fixture.goldens() == before)
  }
}
