import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// Names as an attacker would choose them, in all places that a run can fill, in a real browser
/// with the page's own policy and without it.
@Suite(
  .serialized, .onOwnThread, .oneAtATime(.displays),
  .enabled(
    if: Chromium.command != nil, "chromium is not on this machine: Scripts/setup --with-browser"))
struct HostileNamesTests {
  private static let mark = "document.documentElement.dataset.owned=1"
  static let names = [
    "<script>\(mark)</script>", "</script><script>\(mark)</script>", "<img src=x onerror=\(mark)>",
    "<svg/onload=\(mark)>", "<svg><script>\(mark)</script></svg>",
    "<iframe srcdoc=\"<script>parent.\(mark)</script>\">",
    "\" onmouseover=\"\(mark)\" x=\"", "' onfocus='\(mark)' autofocus x='", "`-\(mark)-`",
    "javascript:\(mark)", "JaVaScRiPt:\(mark)//", "data:text/html,<script>\(mark)</script>",
    "<style>*{background:red!important}</style>", "</style><script>\(mark)</script>",
    "x;background:url(javascript:\(mark))", "expression(\(mark))",
    "{{constructor.constructor('\(mark)')()}}",
    "{{{title}}}", "${\(mark)}", "#{\(mark)}", "<%= \(mark) %>", "__proto__", "constructor",
    "toString", "hasOwnProperty", "</title><script>\(mark)</script>", "<!--", "-->", "]]>",
    "<![CDATA[<script>\(mark)</script>]]>", "&lt;script&gt;", "&#60;script&#62;",
    "\\u003cscript\\u003e",
    "a\u{2028}b\u{2029}c", "abc\u{202E}gnp.exe", "\u{2066}left\u{2069}",
    "zero\u{200B}width\u{FEFF}",
    "\u{0}nul", "line\nbreak\rreturn", "\u{1B}[31mred", "\u{9B}2J",
    "<math><mtext></p><script>\(mark)</script>",
    "<a href=javascript:\(mark)>go</a>", "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<form action=//evil.example><button>", "<link rel=stylesheet href=//evil.example>",
    "<object data=//evil.example>",
    "\u{301}\u{301}\u{301}", String(repeating: "A", count: 5_000),
    "<noscript><p title=\"</noscript><img src=x onerror=\(mark)>\">",
  ]

  /// A report in which each name is used as a session, case, stage, class, text and more.
  private func document(_ names: [String] = Self.names) throws -> ReportDocument {
    let cases = names.map { name -> ReportCase in
      var item = ReportCase(
        session: name, name: name, pipeline: name, mode: name, verdict: .changed, reason: name)
      item.counts = ComparedCounts(compared: 2, changed: 2)
      item.graph = ReportGraph(
        nodes: [
          ReportNode(id: name, kind: name, status: .rootCause), ReportNode(id: "b", kind: name),
        ],
        edges: [ReportEdge(from: name, to: "b", policy: name, capacity: 1)])
      var cause = ReportRootCause(
        id: name, frame: FrameID(track: 0, sequence: 1), stage: name, why: name, findings: 1)
      cause.equalBefore = [name]
      cause.commands = [ReportCommand(name, "retake accept '\(name)' --reason \"why\"")]
      item.rootCauses = [cause]
      var finding = ReportFinding(
        kind: name, frame: FrameID(track: 0, sequence: 1), sink: name,
        golden: "D \(name):0 1 2 3 4 0.5", actual: name, message: name)
      finding.unit = name
      finding.magnitude = 1
      finding.rootCause = name
      finding.because = [name]
      finding.boxes = [
        ReportBox(.golden, Box(x: 1, y: 1, width: 9, height: 9), label: name),
        ReportBox(.actual, Box(x: 2, y: 1, width: 9, height: 9), label: name),
      ]
      item.findings = Excerpt([finding])
      item.tracks = [ReportTrack(track: 0, width: 32, height: 24, frames: 2)]
      var line = ReportTimeline(track: 0, findings: [0, 1])
      line.lanes = [TimelineLane("dropped", golden: [0, 1], actual: [1, 0])]
      line.marks = [TimelineMark(name, .actual, sequence: 1, text: name)]
      line.errors = [
        TimelineErrors(measure: name, unit: name, allowed: 1, largest: [0, 2], least: [0, 1])
      ]
      item.timelines = [line]
      item.decisions = DecisionDifferences(
        added: 1, removed: 0, moved: 0,
        lines: Excerpt([
          DecisionDifference(
            .added, golden: nil, actual: "@1 \(name) 0:1 \(name)", note: name, because: [name]),
          DecisionDifference(.added, golden: nil, actual: "@1 a 0:1 drop reason=\(name)"),
        ]))
      item.suspects = [ReportSuspect(kind: name, text: name, golden: name, actual: name)]
      item.tolerances = [ReportTolerance(sink: name, rule: name)]
      item.accepted = ReportAcceptance(at: name, reason: name)
      item.notes = [name]
      item.commands = [ReportCommand(name, name)]
      return item
    }
    var document = ReportDocument(
      tool: ReportTool(version: "1"), title: names.joined(separator: " "),
      exit: ReportExit(code: 1), cases: cases)
    document.environment = names.map { EnvironmentRow($0, golden: $0, actual: "x") }
    document.notes = names
    return document
  }

  /// Visits each case and everything that opens, and returns the final state of the page.
  private static let tour = """
    (async () => {
      for (const link of document.querySelectorAll("#case-list a")) {
        location.hash = link.getAttribute("href");
        await new Promise((done) => setTimeout(done, 0));
        const shown = document.querySelector(".case.shown");
        for (const one of shown.querySelectorAll("details")) one.open = true;
        for (const one of shown.querySelectorAll("button:not([type=submit])")) one.click();
        for (const one of shown.querySelectorAll("*")) {
          one.dispatchEvent(new MouseEvent("mouseover", { bubbles: false }));
        }
      }
      await new Promise((done) => setTimeout(done, 50));
      const handlers = [...document.querySelectorAll("*")].filter((one) => [...one.attributes].some((a) => a.name.startsWith("on")));
      const links = [...document.querySelectorAll("[href], [src], [action]")].map((one) => one.getAttribute("href") || one.getAttribute("src") || one.getAttribute("action"));
      return JSON.stringify({ owned: document.documentElement.dataset.owned || "no", scripts: document.scripts.length,
        styles: document.querySelectorAll("style, link").length, frames: document.querySelectorAll("iframe, object, embed, base, form[action]").length,
        handlers: handlers.length, links: links.filter((one) => !one.startsWith("#") && !one.startsWith("data:image/png;base64,")),
        cases: document.querySelectorAll(".panels").length, polluted: Object.keys(Object.prototype).length });
    })()
    """

  @Test func `no name runs a script or leaves more than text behind`() throws {
    let folder = try TemporaryFolder("retake-hostile")
    let browser = try Chromium()
    // The tour of all names is without the policy, which would stop a script. With it, a few names
    // show that the page does nothing that its own policy forbids.
    for (isOpen, names) in [(true, Self.names), (false, Array(Self.names.prefix(3)))] {
      let text = String(decoding: try HTMLReport.render(try document(names)), as: UTF8.self)
      let bare = text.replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
      try #require(bare != text)
      let file = try folder.write(isOpen ? bare : text, to: isOpen ? "open.html" : "page.html")
      try browser.open(file.absoluteString)
      let outcome = try browser.text(Self.tour)
      #expect(
        outcome
          == "{\"owned\":\"no\",\"scripts\":2,\"styles\":1,\"frames\":0,\"handlers\":0,\"links\":[],"
          + "\"cases\":\(names.count),\"polluted\":0}", "\(file.lastPathComponent)")
    }
    try browser.keepScreenshot("hostile")
    let asked = browser.requests.filter {
      !$0.hasPrefix("file:") && !$0.hasPrefix("data:") && !$0.hasPrefix("blob:")
    }
    #expect(asked.isEmpty, "\(asked)")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `the check sees a script that does run`() throws {
    let folder = try TemporaryFolder("retake-hostile")
    // The script is not in the names: a few of them are enough.
    let page = String(
      decoding: try HTMLReport.render(try document(Array(Self.names.prefix(3)))), as: UTF8.self
    )
    .replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
    .replacing(
      "</body>",
      with: "<p onmouseover=\"\(Self.mark)\">x</p><img src=x onerror=\"\(Self.mark)\"></body>")
    let file = try folder.write(page, to: "page.html")
    let browser = try Chromium()
    try browser.open(file.absoluteString)
    let outcome = try browser.text(Self.tour)
    #expect(outcome.contains("\"owned\":\"1\""))
    #expect(outcome.contains("\"handlers\":2"))
  }

  @Test func `the served list shows hostile folders as text`() throws {
    let names = Self.names.filter {
      !$0.contains("/") && !$0.contains("\u{0}") && $0.utf8.count < 200
    }
    let fixture = try ServeFixture(frames: 6) { _ in
    } prepare: { folder in
      for name in names {
        try? FileManager.default.createDirectory(
          at: folder.file("Recordings/\(name)"), withIntermediateDirectories: true)
        try? Data().write(to: folder.file("Recordings/\(name)/session.sqlite"))
        try? FileManager.default.copyItem(at: folder.file("report"), to: folder.file(name))
      }
    }
    let browser = try Chromium()
    try browser.open(fixture.server.address)
    try browser.wait(for: "document.documentElement.classList.contains('ready')")
    let state = try browser.text(
      """
      JSON.stringify([document.documentElement.dataset.owned || "no", document.scripts.length,
        [...document.querySelectorAll("*")].filter((one) => [...one.attributes].some((a) => a.name.startsWith("on"))).length,
        document.querySelectorAll("iframe, object, embed, base, style").length])
      """)
    #expect(state == "[\"no\",1,0,0]")
    let rows = try browser.text("document.querySelectorAll('#sessions tbody tr').length")
    #expect((Int(rows) ?? 0) > 20)
    try browser.keepScreenshot("hostile-home")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }
}
