import Foundation
import Testing

@testable import RetakeReport

@Suite struct MarkdownTests {
  @Test func `the summary says the root cause, the table and the commands`() {
    let text = MarkdownReport.render(Samples.regression())
    #expect(text.hasPrefix("<!-- retake report -->\n## ❌ retake test: changed\n"))
    #expect(
      text.contains(
        """
        ### changed: `yard/motion`

        - First divergence at frame **0:120** (t = 4.000 s), stage `motion`: output differs while \
        its inputs are equal; 312 findings, 906 later differences that follow
          - worst at frame **0:120**, `boxes`: box moved by 0.4 px

        ```sh
        # accept
        retake accept yard/motion --root-cause r1 --reason TEXT
        ```
        - over budget: droppedMax 2, 2 above its limit of 0

        <details><summary>Possible causes and notes</summary>

        - suspected: the pipeline's digest differs

        ```sh
        # replay
        retake replay yard --pipeline motion --output run
        ```

        </details>

        <details><summary>2 cases</summary>

        | Verdict | Case | Compared | Same | Within | Changed | Tolerance used |
        """))
    #expect(text.components(separatedBy: "</details>").count == 3)
    #expect(text.contains("| passed | `yard/downsample` | 240 | 240 | 0 | 0 | 62 % |\n"))
  }

  @Test func `the worst case and its worst finding come first`() throws {
    var (small, large) = (Samples.changedCase(name: "small"), Samples.changedCase(name: "large"))
    for index in 0..<12 {
      small.findings.items[index].allowed = 0.2
      large.findings.items[index].allowed = 0.1
    }
    large.findings.items[5].magnitude = 0.7
    large.findings.items[5].message = "box moved by 0.7 px"
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1),
      cases: [Samples.passedCase(), small, large])
    let text = MarkdownReport.render(document)
    let places = try ["large", "small"].map {
      try #require(text.range(of: "yard/\($0)`")).lowerBound
    }
    #expect(places[0] < places[1])
    let worst = "worst at frame **0:125**, `boxes`: box moved by 0.7 px, 7 × the allowed error\n"
    #expect(text.contains(worst))
    #expect(
      AnnotationsReport.render(document).contains(/^::error title=retake%3A changed%3A yard\/large/)
    )
    // An object that is gone has no size, and is worse than any error with one.
    small.findings.items[3].magnitude = nil
    #expect(ReportCase.worstFirst([large, small]).map(\.name) == ["small", "large"])
  }

  @Test func `a long summary stays below 60 KB and says what it left out`() {
    let cases = (0..<3000).map { Samples.changedCase(name: "case-\($0)") }
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1), cases: cases)
    let text = MarkdownReport.render(document)
    #expect(text.utf8.count <= MarkdownReport.bytesMax)
    #expect(text.contains("parts were left out to keep this below 60 KB"))
  }

  @Test func `a table without room for a row is left out with its head`() {
    var item = Samples.changedCase(name: "large")
    item.commands = [ReportCommand("replay", String(repeating: "x", count: 70_000))]
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1), cases: [item])
    let text = MarkdownReport.render(document)
    #expect(!text.contains("| Verdict |"))
    #expect(text.contains("parts were left out"), "the section and the row")
  }

  @Test func `labels make no markup, no link and no mention`() {
    #expect(
      MarkdownReport.prose("@all <b> [x](javascript:1) https://e.org | `a`")
        == "@\u{200B}all &lt;b&gt; \\[x\\]\\(javascript:1\\) https:\u{200B}//e.org \\| \\`a\\`")
    #expect(MarkdownReport.code("a`b``c") == "```a`b``c```")
    #expect(MarkdownReport.code("`") == "`` ` ``")
    let text = MarkdownReport.render(Hostile.document())
    let own = ["<!-- retake report -->", "<details>", "</details>", "<summary>", "</summary>"]
    let others = own.reduce(withoutCode(text)) { $0.replacing($1, with: "") }
    #expect(!others.contains("<"))
    #expect(!text.contains("\u{1B}"))
    #expect(text.utf8.count <= MarkdownReport.bytesMax)
  }

  /// The Markdown without code spans and fenced blocks, parsed as in CommonMark: a run of backticks
  /// without a backslash before it extends to the next run of the same length.
  private func withoutCode(_ text: String) -> String {
    var rest = Array(text.utf8)[...]
    var result: [UInt8] = []
    let tick = UInt8(ascii: "`")
    while let byte = rest.first {
      if byte == UInt8(ascii: "\\") {
        result += rest.prefix(2)
        rest = rest.dropFirst(2)
        continue
      }
      let length = rest.prefix { $0 == tick }.count
      guard length > 0, let end = closing(rest.dropFirst(length), length) else {
        result.append(byte)
        rest = rest.dropFirst()
        continue
      }
      rest = rest[end...]
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func closing(_ text: ArraySlice<UInt8>, _ length: Int) -> Int? {
    var rest = text
    while let start = rest.firstIndex(of: UInt8(ascii: "`")) {
      let run = rest[start...].prefix { $0 == UInt8(ascii: "`") }
      if run.count == length { return run.endIndex }
      rest = rest[run.endIndex...]
    }
    return nil
  }
}
