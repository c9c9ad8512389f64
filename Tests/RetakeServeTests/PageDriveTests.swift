import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// A report of a real regression, opened from disk in a real browser and used as users do.
@Suite(
  .serialized, .onOwnThread, .oneAtATime(.displays),
  .enabled(
    if: Chromium.command != nil, "chromium is not on this machine: Scripts/setup --with-browser"))
struct PageDriveTests {
  /// This repository's recordings with the motion threshold raised from 24 to 26.
  private struct Regression {
    let folder: TemporaryFolder
    var page: URL { folder.file("report/report.html") }

    init() throws {
      folder = try TemporaryFolder("retake-page")
      for name in ["Recordings", "Goldens", "Pipelines", "retake.yml"] {
        try FileManager.default.copyItem(
          at: packageRoot.appending(path: name), to: folder.file(name))
      }
      let pipeline = folder.file("Pipelines/motion-boxes.json")
      let text = try String(contentsOf: pipeline, encoding: .utf8)
      let changed = text.replacing(/"threshold": *24/, with: "\"threshold\": 26")
      try #require(changed != text)
      try folder.write(changed, to: "Pipelines/motion-boxes.json")
      let outcome = try ServeFixture.test(folder, report: "report")
      try #require(outcome.status == .regression)
    }
  }

  /// Made once; the tests only read it.
  private static let regression = Result { try Regression() }

  private static let area = "document.querySelector('.case.shown .inspector')"

  private func title(_ browser: Chromium) throws -> String {
    try browser.text("\(Self.area).querySelector('h3').textContent")
  }

  @Test func `a person scrubs, filters, copies, and changes the theme`() throws {
    let page = try Self.regression.get().page
    let browser = try Chromium()
    try browser.open(page.absoluteString)
    #expect(try browser.text("document.querySelector('h1').textContent").hasPrefix("Changed"))
    #expect(
      try browser.text("document.querySelectorAll('.case.shown .panels image').length") == "2")
    let first = try title(browser)
    try browser.keepScreenshot("report-light")

    try browser.press("n")
    let second = try title(browser)
    #expect(second != first)
    try browser.press("p")
    #expect(try title(browser) == first)
    try browser.evaluate("\(Self.area).querySelector('input[type=range]').focus()")
    try browser.press("End")
    let last = try title(browser)
    #expect(last != first)
    try browser.press("Home")
    #expect(try title(browser) != last)

    // The timeline: a click selects a frame near that position, and a zoom shows fewer frames.
    try browser.click(".case.shown .strip svg", across: 0.7)
    let sequence = try #require(
      Int(try browser.text("\(Self.area).querySelector('input[type=range]').value")))
    #expect((150...290).contains(sequence))
    try browser.click(".case.shown [aria-label='Zoom into the timeline']")
    #expect(
      try browser.text("\(Self.area).querySelector('.strip-bar [role=status]').textContent")
        .hasPrefix("frames "))
    let range = try browser.evaluate(
      "(() => { const one = \(Self.area).querySelector('input[type=range]'); return one.max - one.min; })()"
    )
    #expect((range as? NSNumber)?.intValue == 149)
    try browser.keepScreenshot("timeline-zoomed")
    try browser.click(".case.shown [aria-label='The entire timeline']")

    // Findings are filtered by the typed string.
    try browser.click(".case.shown .browse input[type=search]")
    let all = try browser.text("document.querySelector('.case.shown .pager span').textContent")
    try browser.type("0:5")
    let some = try browser.text("document.querySelector('.case.shown .pager span').textContent")
    #expect(all != some)

    // The replay command is copied.
    try browser.click(".case.shown .cause .commands button")
    try browser.wait(
      for: "document.querySelector('.case.shown .cause .commands button').textContent === 'Copied'")
    #expect(
      try browser.text("navigator.clipboard.readText()")
        == "retake replay figures --pipeline motion")

    // `/` focuses the filter of the findings, `c` the filter of the cases, which their links
    // switch.
    try browser.evaluate("document.activeElement.blur()")
    try browser.press("/")
    #expect(
      try browser.text("document.activeElement.getAttribute('aria-label')") == "Filter findings")
    try browser.evaluate("document.activeElement.blur()")
    try browser.press("c")
    #expect(try browser.text("document.activeElement.id") == "filter")
    try browser.type("slow")
    #expect(
      try browser.text("document.querySelectorAll('#case-list li:not([hidden])').length") == "2")
    try browser.click("#case-list li:not([hidden]) a")
    try browser.wait(for: "document.querySelector('.case.shown h2').textContent.includes('slow')")
    try browser.keepScreenshot("report-slow")

    try browser.prefer(dark: true)
    let dark = try browser.text("getComputedStyle(document.body).backgroundColor")
    try browser.keepScreenshot("report-dark")
    try browser.prefer(dark: false)
    let light = try browser.text("getComputedStyle(document.body).backgroundColor")
    #expect(dark != light)
    try browser.click("#theme")
    try browser.click("#theme")
    #expect(try browser.text("document.getElementById('theme').textContent") == "Theme: dark")
    #expect(try browser.text("getComputedStyle(document.body).backgroundColor") == dark)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `nothing is asked of the network, and a narrow window needs no sideways scroll`()
    throws
  {
    let page = try Self.regression.get().page
    let browser = try Chromium()
    try browser.resize(390, 844)
    try browser.open(page.absoluteString)
    try browser.evaluate("document.querySelector('.case.shown .accept').scrollIntoView()")
    #expect(
      try browser.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth") as? Bool
        == true)
    try browser.keepScreenshot("report-narrow-accept")
    try browser.evaluate("scrollTo(0, 0)")
    try browser.keepScreenshot("report-narrow")
    try browser.evaluate("document.querySelector('.case.shown .inspector').scrollIntoView()")
    try browser.keepScreenshot("report-narrow-frames")
    let asked = browser.requests.filter { !$0.hasPrefix("file:") && !$0.hasPrefix("data:") }
    #expect(asked.isEmpty, "\(asked)")
    #expect(browser.requests.contains { $0.hasSuffix("report.html") })
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  /// A detector with a long name after another stage, followed by a sink with a longer name.
  private static func long(_ before: String) -> String {
    let motion = "a-detector-with-a-name-of-sixty-four-letters-which-is-the-limit"
    let boxes = "the-boxes-of-everything-that-moved-in-the-yard-on-this-night"
    return """
      {"v": 1, "name": "long",
       "nodes": [
        {"id": "camera", "kind": "session"}, \(before),
        {"id": "\(motion)", "kind": "motion", "options": {"threshold": 24}},
        {"id": "\(boxes)", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "before"}, {"from": "before", "to": "\(motion)"},
        {"from": "\(motion)", "to": "\(boxes)"}]}
      """
  }

  @Test(arguments: [
    (
      "downsample",
      #"{"id": "before", "kind": "downsample", "options": {"width": 80, "height": 60}}"#,
      [2, 2, 0, 0]
    ),
    (
      "crop",
      #"{"id": "before", "kind": "crop", "options": {"x": 41, "y": 21, "width": 100, "height": 90}}"#,
      [1, 1, 40, 20]
    ),
  ])
  func `boxes lie on the objects wherever they were found, and long names stay inside`(
    name: String, before: String, map: [Double]
  ) throws {
    let fixture = try ServeFixture(pipeline: Self.long(before))
    let browser = try Chromium()
    try browser.open(fixture.folder.file("report/report.html").absoluteString)
    // The numbers that the sink received, and where they are drawn.
    let texts = try browser.text("\(Self.area).querySelector('.facing pre.golden').textContent")
    let numbers = texts.split(separator: " ").dropFirst(2).prefix(4).compactMap { Double($0) }
    try #require(numbers.count == 4, "\(texts)")
    let expected = [
      map[2] + numbers[0] * map[0], map[3] + numbers[1] * map[1], numbers[2] * map[0],
      numbers[3] * map[1],
    ]
    let drawn = try browser.text(
      """
      (() => { const one = \(Self.area).querySelector('.panels .golden.chosen rect.box');
        return ['x', 'y', 'width', 'height'].map((name) => one.getAttribute(name)).join(' '); })()
      """)
    #expect(drawn.split(separator: " ").compactMap { Double($0) } == expected)
    #expect(
      try browser.text("\(Self.area).querySelector('.panels svg').getAttribute('viewBox')")
        == "0 0 160 120")
    try browser.keepScreenshot("boxes-behind-\(name)")

    let stickingOut = """
      [...document.querySelectorAll('.graph .node')].filter((one) => {
        const box = one.querySelector('rect').getBBox();
        return [...one.querySelectorAll('text')].some((text) => text.getBBox().x + text.getBBox().width > box.x + box.width);
      }).length
      """
    #expect(try browser.text(stickingOut) == "0")
    try browser.resize(400, 900)
    let isNarrow = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    #expect(try browser.evaluate(isNarrow) as? Bool == true)
    try browser.keepScreenshot("long-names-narrow-\(name)")
  }

  @Test func `the accept panel writes the reason into its command, and the rest is there`() throws {
    let page = try Self.regression.get().page
    let browser = try Chromium()
    try browser.open(page.absoluteString + "#case-1")
    try browser.click(".case.shown .accept input")
    try browser.type("it's brighter")
    let command = try browser.text("document.querySelector('.case.shown .accept code').textContent")
    #expect(command.hasPrefix("retake accept "))
    #expect(command.hasSuffix(#"--reason 'it'\''s brighter'"#))
    try browser.keepScreenshot("accept")
    try browser.click(".case.shown .raw summary")
    try browser.wait(for: "document.querySelector('.case.shown .raw pre').textContent.length > 100")
    #expect(
      try browser.text("document.querySelector('.case.shown .raw pre').textContent")
        .contains("\"session\": \"figures\""))
    #expect(
      try browser.text("document.querySelector('.case.shown .tracks').textContent").contains("300"))
    try browser.evaluate("document.querySelector('.case.shown .tracks').scrollIntoView()")
    try browser.keepScreenshot("tracks-and-tables")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `the picture of the README is made of a real regression`() throws {
    let page = try Self.regression.get().page
    let browser = try Chromium()
    try browser.resize(1280, 1240)
    try browser.open(page.absoluteString)
    // Down to the end of the timeline, completely.
    let bottom = try browser.text(
      "String(Math.ceil(document.querySelector('.case.shown .strip').getBoundingClientRect().bottom))"
    )
    let height = try #require(Int(bottom)) + 12
    #expect((1_200...1_800).contains(height))
    try browser.resize(1280, height)
    let picture = try browser.screenshot()
    let image = try MediaImage.decode([UInt8](picture))
    #expect((image.width, image.height) == (1280, height))
    #expect(
      try browser.text("document.querySelector('.case.shown .cause h3').textContent")
        .hasPrefix("First divergence at frame 0:"))
    try browser.keepScreenshot("readme")
  }
}
