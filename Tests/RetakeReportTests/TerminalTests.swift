import Foundation
import RetakeCore
import Testing

@testable import RetakeReport

@Suite struct TerminalTests {
  @Test func `the root cause comes first, then the table, then what to type`() {
    let text = TerminalReport.render(Samples.regression(), palette: .plain)
    #expect(
      text == """
        changed  yard/motion  first divergence at frame 0:120 (t = 4.000 s), stage motion: output \
        differs while its inputs are equal; 312 findings, 906 later differences that follow
            replay  retake replay yard --pipeline motion --output run
            accept  retake accept yard/motion --root-cause r1 --reason TEXT
            over budget: droppedMax 2, 2 above its limit of 0
            suspected: the pipeline's digest differs

        verdict  case              compared       same     within    changed  tolerance
        changed  yard/motion            240        100         20        120       over
        passed   yard/downsample        240        240          0          0       62 %

        1 changed, 1 passed · 2 cases · 480 frames compared · 1,234 frames/s
        exit 1 (changed): At least one result differs from its golden.
        next:
          see it      retake report open build/report
          accept all  retake accept --reason TEXT

        """)
  }

  @Test func `the first mask, point, embedding or field that differs is named`() {
    var document = Samples.regression()
    var finding = ReportFinding(
      kind: "maskChanged", frame: FrameID(track: 0, sequence: 120), sink: "people",
      message: "the mask person #4: IoU 0.9312, at least 0.9700")
    finding.rootCause = "r1"
    document.cases[1].findings = Excerpt([Samples.finding(0), finding, finding], total: 3)
    #expect(
      TerminalReport.render(document, palette: .plain).contains(
        "that follow\n    the mask person #4: IoU 0.9312, at least 0.9700\n    replay"))
    #expect(
      MarkdownReport.render(document).contains(
        "that follow\n  - worst at frame **0:120**, `people`: the mask person \\#4: IoU 0.9312, at least 0.9700\n\n```sh"
      ))
  }

  @Test func `a line that moved has its allowed error, and the table no share of other tolerances`()
  {
    var document = Samples.regression()
    var finding = ReportFinding(
      kind: "pointMoved", frame: FrameID(track: 0, sequence: 120), sink: "road",
      message: "the polyline lane: moved by 1.200 px")
    (finding.rootCause, finding.allowed, finding.unit) = ("r1", 0.5, "px")
    document.cases[1].findings = Excerpt([finding], total: 1)
    document.cases[1].headroom = [Headroom(measure: "road.score", largest: 0, allowed: 2)]
    let text = TerminalReport.render(document, palette: .plain)
    #expect(text.contains("    the polyline lane: moved by 1.200 px (0.5 px allowed)\n"))
    #expect(text.contains(#/\nchanged +yard/motion +240 +100 +20 +120 +-\n/#))
    document.cases[1].headroom[0].allowed = 0
    #expect(TerminalReport.render(document, palette: .plain).contains(#/120 +-\n/#))
    document.cases[1].headroom[0].largest = 1
    #expect(TerminalReport.render(document, palette: .plain).contains(#/120 +over\n/#))
  }

  @Test func `the first text that differs is named, with the text in its place`() {
    var document = Samples.regression()
    func finding(_ kind: String, _ message: String, frame: Int = 120) -> ReportFinding {
      var finding = ReportFinding(
        kind: kind, frame: FrameID(track: 0, sequence: frame), sink: "stdout", message: message)
      finding.rootCause = "r1"
      return finding
    }
    let long = String(repeating: "0123456789", count: 40)
    let cases = [
      ([finding("factDisappeared", "gate open is missing")], "gate open is missing"),
      (
        [
          finding("factDisappeared", "gate open is missing"),
          finding("factAppeared", "gate late is new", frame: 121),
          finding("factAppeared", "gate closed is new"),
        ], "gate open is missing, and gate closed is new"
      ),
      (
        [finding("factAppeared", "\(long) is new")],
        "\(long.prefix(160))…\(long.suffix(72)) is new"
      ),
    ]
    for (findings, text) in cases {
      document.cases[1].findings = Excerpt([Samples.finding(0)] + findings)
      #expect(
        TerminalReport.render(document, palette: .plain).contains(
          "that follow\n    \(text)\n    replay"))
    }
  }

  @Test func `each budget that was exceeded is named, with how much it was exceeded by`() {
    var document = Samples.regression()
    document.cases[1].budgets = [
      ReportBudget(name: "droppedMax", limit: 3, actual: 3, met: true),
      ReportBudget(name: "latencyMax", limit: 120, actual: 131.5, unit: "ms", met: false),
      ReportBudget(name: "latencyP99", limit: 90, actual: 93.4, unit: "ms", met: false),
    ]
    let said = [
      "over budget: latencyMax 131.5 ms, 11.5 ms above its limit of 120 ms",
      "over budget: latencyP99 93.4 ms, 3.4 ms above its limit of 90 ms",
    ]
    func budgets(_ text: String) -> [String] {
      text.split(separator: "\n").filter { $0.contains("udget") }.map { line in
        String(line.drop { " -".contains($0) })
      }
    }
    #expect(budgets(TerminalReport.render(document, palette: .plain)) == said)
    #expect(budgets(MarkdownReport.render(document)) == said)
  }

  @Test func `an error says its code, its place and what to do`() {
    let text = TerminalReport.render(Samples.allVerdicts(), palette: .plain)
    #expect(
      text.contains(
        """
        errored  street/motion  Recordings/street, frame 0:41: the media differ from the index \
        (packet 41 hashes differently) [session.media.checksum]
            Run: retake session check street
        """))
    #expect(text.contains("expected        yard/motion-slow"))
    #expect(text.contains("    known as known-1"))
  }

  @Test func `how faithful the model is to a live run is said beside the live decisions`() throws {
    var document = Samples.regression()
    var live = RunSummary.LiveAgreement(run: 3)
    (live.same, live.onlyLive, live.onlyReplayed) = (199, 1, 2)
    (live.liveDrops, live.replayedDrops, live.liveLost) = (12, 13, 4)
    document.cases[1].run?.live = live
    let sentence =
      "99 % of 200 live decisions reproduced, 1 only live, 2 only replayed; "
      + "drops 12 live, 13 replayed; lost 4 live, 0 replayed"
    let text = TerminalReport.render(document, palette: .plain)
    #expect(text.contains("live  yard/motion  next to run 3: \(sentence)\n"))
    let page = String(decoding: try HTMLReport.render(document), as: UTF8.self)
    #expect(page.contains("next to live run 3: \(sentence)"))
    #expect(try ReportDocument(parsing: document.encoded()) == document)
  }

  @Test func `a decision is told with what it follows from`() {
    var document = Samples.regression()
    func fate(_ sequence: Int, _ because: [String]) -> ReportFinding {
      var finding = ReportFinding(
        kind: "fateChanged", frame: FrameID(track: 0, sequence: sequence),
        message: "frame 0:\(sequence): drop (queue) at motion, golden: delivered")
      (finding.rootCause, finding.because) = ("r1", because)
      return finding
    }
    document.cases[1].findings.items += [
      fate(14, ["drop of frame 0:14 at motion is new"]), fate(17, ["one", "two", "three", "four"]),
      fate(23, ["five"]),
    ]
    let text = TerminalReport.render(document, palette: .plain)
    #expect(
      text.contains(
        """
        312 findings, 906 later differences that follow
            frame 0:14: drop (queue) at motion, golden: delivered
              because drop of frame 0:14 at motion is new
            frame 0:17: drop (queue) at motion, golden: delivered
              because one
              because two
              and 2 earlier ones
            replay  retake replay
        """))
    #expect(!text.contains("0:23"))
  }

  @Test func `a decision about no frame is shown with its time and its values`() throws {
    var document = Samples.regression()
    var finding = ReportFinding(
      kind: "decisionRemoved", frame: nil, sink: "camera",
      message: "resize at camera (t = 1.500 s) is no longer made: from=6 to=5")
    finding.rootCause = "r1"
    document.cases[1].findings.items = [finding]
    (document.cases[1].rootCauses[0].frame, document.cases[1].rootCauses[0].stage) = (nil, "camera")
    document.cases[1].rootCauses[0].timeNanoseconds = 1_500_000_000
    let text = TerminalReport.render(document, palette: .plain)
    #expect(text.contains("  first divergence in stage camera (t = 1.500 s): "))
    #expect(
      text.contains(
        """
        later differences that follow
            resize at camera (t = 1.500 s) is no longer made: from=6 to=5
            replay  retake replay
        """))
  }

  @Test func `color is asked for, not guessed`() {
    let plain = TerminalReport.render(Samples.regression(), palette: .plain)
    let colored = TerminalReport.render(Samples.regression(), palette: .ansi)
    #expect(!plain.contains("\u{1B}"))
    #expect(
      colored.hasPrefix("\u{1B}[31;1mchanged\u{1B}[0m  \u{1B}[1myard/motion\u{1B}[0m  first"))
    #expect(withoutColor(colored) == plain)
  }

  @Test func `no label reaches the terminal as a control character`() {
    let text = TerminalReport.render(Hostile.document(), palette: .plain)
    let controls = text.unicodeScalars.filter {
      ($0.value < 0x20 && $0 != "\n") || (0x7F...0x9F).contains($0.value)
        || (0x202A...0x202E).contains($0.value) || (0x2028...0x2029).contains($0.value)
    }
    #expect(controls.isEmpty)
    #expect(text.contains("\\u{1B}[31mred\\u{1B}[0m"))
    #expect(text.contains("abc\\u{202E}fdp.exe"))
  }

  @Test func `many passed cases are folded, and no other case is`() {
    var cases = (0..<500).map { index in
      var item = Samples.passedCase()
      item.name = "case-\(index)"
      return item
    }
    cases.append(Samples.changedCase())
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1), cases: cases)
    let text = TerminalReport.render(document, palette: .plain)
    #expect(text.contains("and 441 more passed"))
    #expect(text.contains("changed  yard/motion "))
    #expect(text.split(separator: "\n").count < 80)
  }

  @Test func `a report of nothing says so`() {
    let document = ReportDocument(
      tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 4), cases: [])
    #expect(
      TerminalReport.render(document, palette: .plain) == """
        no cases · 0 cases · 0 frames compared
        exit 4 (nothing compared): No case was selected, or no result could be compared.

        """)
  }

  @Test func `times are rounded to milliseconds, half away from zero`() {
    #expect(Wording.seconds(300_300_000_000) == "300.300 s")
    #expect(Wording.seconds(1_500_000) == "0.002 s")
    #expect(Wording.seconds(-1_500_000) == "-0.002 s")
    #expect(Wording.seconds(-499_999) == "0.000 s")
  }

  @Test func `numbers are short, and never nothing`() {
    #expect(Wording.number(0.40000001) == "0.4")
    #expect(Wording.number(-12) == "-12")
    #expect(Wording.number(1e-9) == "1e-09")
    #expect(Wording.number(.nan) == "nan")
    #expect(Wording.number(1e300) == "1e+300")
    #expect(Wording.grouped(-1_234_567) == "-1,234,567")
  }

  private func withoutColor(_ text: String) -> String {
    text.replacing(/\u{1B}\[[0-9;]*m/, with: "")
  }
}

@Suite struct VisibleLinesTests {
  @Test func `an answer keeps its lines and its own colors, and nothing else that acts`() {
    let answer =
      "a\tb\n\u{1B}[1;31mred\u{1B}[0m \u{1B}[2J \u{1B}[8mhidden \u{1B}]0;title\u{7}\u{202E}"
    #expect(
      visibleLines(answer, keepsColors: true)
        == "a\tb\n\u{1B}[1;31mred\u{1B}[0m \\u{1B}[2J \\u{1B}[8mhidden \\u{1B}]0;title\\u{7}\\u{202E}"
    )
    #expect(
      visibleLines("\u{1B}[31mred\u{1B}[", keepsColors: false) == "\\u{1B}[31mred\\u{1B}[")
    #expect(visibleLines("plain\ntext äöü\n", keepsColors: true) == "plain\ntext äöü\n")
  }

  @Test func `every color of a report passes the door`() {
    let text = TerminalReport.render(Samples.regression(), palette: .ansi)
    #expect(text.contains("\u{1B}["))
    #expect(visibleLines(text, keepsColors: true) == text)
  }

  @Test func `escaped JSON is the same JSON`() throws {
    let value = "a\u{9B}b\u{202E}c\u{E0001}d\u{7F}"
    let text = JSONValue.object(["name": .string(value)]).canonicalText
    let escaped = visibleJSON(text)
    #expect(escaped.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) })
    #expect(try JSONValue(parsing: Data(escaped.utf8)) == JSONValue(parsing: Data(text.utf8)))
  }
}
