import Foundation
import RetakeCompare
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeReport

@Suite struct ComparisonTests {
  @Test func `a comparison becomes a case with its root cause, boxes and checks`() throws {
    let item = ReportCase(
      comparison(), session: "yard", name: "motion", pipeline: "motion-boxes", mode: "every-frame",
      graph: Samples.graph(), tracks: [ReportTrack(track: 0, width: 320, height: 180, frames: 6)],
      classes: ["person"])
    #expect(item.verdict == .changed)
    #expect(item.reason == "6 frames compared, 2 changed: 3 findings from 1 root cause")
    #expect(
      item.headline
        == "first divergence at frame 0:2 (t = 0.067 s), stage motion: output differs while its "
        + "inputs are equal; 1 finding, boxes differ by at most 0.4 px (0 px allowed), times of "
        + "decisions by at most 66 ms, 2 later differences that follow")
    #expect(item.rootCauses[0].id == "motion@0:2")
    #expect(item.findings.items.map(\.rootCause) == ["motion@0:2", "motion@0:2", "motion@0:2"])
    #expect(
      item.findings.items[0].boxes == [
        ReportBox(.golden, Box(x: 120, y: 64, width: 32, height: 48), label: "person 0.9132"),
        ReportBox(.actual, Box(x: 120.4, y: 64, width: 32, height: 48), label: "person 0.9100"),
      ])
    #expect(item.checks.map(\.verdict) == [.changed, .changed, .passed])
    #expect(item.checks.map(\.name) == ["results", "decisions", "budgets"])
    #expect(item.timelines[0].findings == [0, 0, 1, 1, 1, 0])
    #expect(item.headroom.map(\.measure) == ["boxes.position"])
  }

  @Test func `a root cause says what its largest error is of, and what follows from it`() {
    func weight(
      _ kind: Finding.Kind, _ magnitude: Double?, of allowed: Double? = nil, downstream: Int
    ) -> String {
      var root = RootCause(stage: "motion", why: .outputDiffers)
      (root.findings, root.downstream) = (1 + downstream, downstream)
      let finding = Finding(kind, magnitude: magnitude, allowed: allowed, message: "")
      return ReportRootCause(root, findings: [finding]).weight
    }
    #expect(
      weight(.scoreChanged, 0.02, downstream: 0) == "1 finding, scores differ by at most 0.02")
    #expect(
      weight(.boxMoved, 4, downstream: 1)
        == "1 finding, boxes differ by at most 4 px, 1 later difference that follows")
    #expect(weight(.budget, 3, downstream: 0) == "1 finding, at most 3")
    #expect(
      weight(.pointMoved, 1.5, of: 0, downstream: 0)
        == "1 finding, points differ by at most 1.5 px (0 px allowed)")
    #expect(
      weight(.pictureChanged, 0.25, of: 0.1, downstream: 0)
        == "1 finding, numbers of maps differ by at most 0.25 (0.1 allowed)")
    let mixed = [
      Finding(.boxMoved, magnitude: 0.5, allowed: 0.1, message: ""),
      Finding(.scoreChanged, magnitude: 0.2, allowed: 0, message: ""),
      Finding(.boxMoved, magnitude: 2, allowed: 0.1, message: ""),
      Finding(.boxDisappeared, message: ""), Finding(.budget, magnitude: 9, message: ""),
    ]
    #expect(
      ReportRootCause(RootCause(stage: "motion", why: .outputDiffers), findings: mixed).extent
        == "boxes differ by at most 2 px (0.1 px allowed), scores by at most 0.2 (0 allowed)")
    var later = ReportRootCause(
      id: "x", frame: nil, stage: nil, why: "", findings: 0, downstream: 53)
    #expect(later.weight == "53 later differences that follow")
    later.downstream = 0
    #expect(later.weight == "0 findings")
  }

  @Test func `what changed in the pipeline keeps its parts, other suspects their words`() throws {
    var comparison = comparison()
    func record(_ threshold: Int) throws -> PipelineRecord {
      let node = #"{"id": "motion", "kind": "motion", "options": {"threshold": \#(threshold)}}"#
      return try PipelineRecord(parsing: Data(#"{"v": 1, "nodes": [\#(node)]}"#.utf8))
    }
    let difference = PipelineDifference(from: try record(24), to: try record(40))
    let change = try #require(difference.changes.first)
    comparison.pipelineChanges = [change]
    comparison.suspects = [change.suspicion, "libavcodec is 60, the golden was made with 59"]
    let item = ReportCase(
      comparison, session: "s", name: "c", pipeline: "p", mode: "every-frame")
    #expect(item.suspects.map(\.text) == comparison.suspects)
    #expect(item.suspects.map(\.kind) == ["pipeline", "change"])
    #expect(item.suspects.map(\.change) == ["option", nil])
    #expect(item.suspects.map(\.place) == ["motion.threshold", nil])
    #expect(item.suspects.map(\.golden) == ["24", nil] && item.suspects[0].actual == "40")
    var document = Samples.regression()
    document.cases = [item]
    var check = try SchemaCheck.ofReports()
    check.check(try JSONValue(parsing: document.encoded()))
    #expect(check.problems == [])
    let page = String(decoding: try HTMLReport.render(document), as: UTF8.self)
    #expect(page.contains("The pipeline changed: motion.threshold: 24 → 40</bdi></li>"))
    #expect(JUnitReport.render(document).contains("suspected: \(change.suspicion)"))
    #expect(MarkdownReport.render(document).contains("suspected: the pipeline changed"))
  }

  @Test func `what lies behind the root is colored, a sink without findings is equal`() {
    let graph = ReportGraph(
      nodes: ["camera", "motion", "smooth", "boxes", "other"].map {
        ReportNode(id: $0, kind: "k", stateful: $0 == "smooth")
      },
      edges: [
        ReportEdge(from: "camera", to: "motion"), ReportEdge(from: "motion", to: "smooth"),
        ReportEdge(from: "smooth", to: "boxes"), ReportEdge(from: "smooth", to: "other"),
      ])
    let statuses = graph.statuses(root: "motion", why: .outputDiffers, touched: ["boxes"])
    #expect(statuses.map(\.status) == [.equal, .rootCause, .tainted, .downstream, .equal])
    #expect(
      graph.statuses(root: "motion", why: .nodeAdded, touched: []).map(\.status)
        == [.equal, .added, .tainted, .equal, .equal])
  }

  @Test func `decision differences are counted by kind`() {
    let differences = ReportCase(
      comparison(), session: "s", name: "c", pipeline: "p", mode: "simulate"
    ).decisions
    #expect(differences?.moved == 1)
    #expect(differences?.added == 0)
    #expect(differences?.lines.items.first?.note == "drop comes 66 ms later")
  }

  @Test func `decisions that no finding repeats are shown all the same, with their causes`()
    throws
  {
    var comparison = comparison()
    let lines = ["@0 motion 0:12 drop reason=queue", "@33000000 motion 0:13 drop reason=queue"]
    comparison.decisions = lines.enumerated().map { index, line in
      Finding(
        .decisionAdded, frame: FrameID(track: 0, sequence: 12 + index), node: "motion",
        actual: line, message: "drop of frame 0:\(12 + index) at motion is new")
    }
    comparison.decisions[1].because = [comparison.decisions[0].message]
    let item = ReportCase(comparison, session: "s", name: "c", pipeline: "p", mode: "simulate")
    let decisions = try #require(item.decisions)
    #expect(decisions.added == 2 && decisions.moved == 0)
    #expect(decisions.lines.items.map(\.because) == [[], ["drop of frame 0:12 at motion is new"]])
    #expect(decisions.groups.map(\.count) == [2] && decisions.groups[0].because.isEmpty)
  }

  @Test func `decisions that moved earlier and later are two groups`() {
    func moved(_ sequence: Int, _ before: Int, _ after: Int) -> DecisionDifference {
      DecisionDifference(
        .moved, golden: "@\(before)000000 motion 0:\(sequence) thin",
        actual: "@\(after)000000 motion 0:\(sequence) thin")
    }
    let groups = DecisionGroup.all([
      moved(1, 10, 5), moved(2, 20, 18), moved(3, 30, 32), moved(4, 40, 40), moved(5, 50, 49),
    ])
    #expect(groups.map(\.count) == [2, 2, 1])
    #expect(groups.map { $0.note?.hasSuffix("earlier") } == [true, false, true])
  }

  @Test func `groups that are not kept are counted`() {
    let lines = (0..<600).map {
      DecisionDifference(
        .added, golden: nil, actual: "@\($0) n\($0 % 2) 0:\($0) drop reason=queue")
    }
    let decisions = DecisionDifferences(added: 600, removed: 0, moved: 0, lines: Excerpt(lines))
    #expect(decisions.groups.count == DecisionGroup.groupsMax && decisions.groupCount == 600)
    var item = Samples.changedCase(name: "many")
    item.decisions = decisions
    let html = CaseMarkup(item: item, number: 1, isOnly: true).decisions?.html
    #expect(html?.contains("<p class=\"quiet\">and 560 other groups</p>") == true)
  }

  @Test func `rows without frames are not shown, also if a side is absent`() {
    var item = Samples.changedCase(name: "first")
    item.ledgers = [Samples.ledger()]
    func names() -> [Substring] {
      CaseMarkup(item: item, number: 1, isOnly: true).ledger(item.ledgers[0]).html
        .matches(of: /<th scope="row">(.*?)<\/th>/).map(\.1)
    }
    #expect(names() == ["captured", "delivered", "dropped: queue"])
    item.ledgers[0].golden = nil
    #expect(names() == ["captured", "delivered", "dropped: queue"])
  }

  @Test func `the curve that comes nearest to its tolerance stands first`() {
    func curve(_ quantity: String, _ largest: [Double], allowed: Double) -> ErrorCurve {
      ErrorCurve(
        sink: "boxes", quantity: quantity, track: 0, framesPerBin: 1, largest: largest,
        least: largest, allowed: allowed)
    }
    let errors = TimelineErrors.all(
      [
        curve("position", [0, 0.123456], allowed: 1), curve("score", [0.009], allowed: 0.01),
        curve("scalar", [0.1], allowed: 0),
      ], track: 0)
    #expect(errors.map(\.measure) == ["boxes.scalar", "boxes.score", "boxes.position"])
    #expect(errors[2].largest == [0, 0.1235] && errors[2].least.isEmpty && errors[2].unit == "px")
    #expect(TimelineErrors.all([curve("score", [1], allowed: 1)], track: 1).isEmpty)
  }

  @Test func `a passed comparison says how many frames were the same`() {
    var same = Comparison(key: "s/c", verdict: .passed)
    same.counts.same = 240
    let item = ReportCase(same, session: "s", name: "c", pipeline: "p", mode: "every-frame")
    #expect(item.reason == "240 frames compared, all the same")
    #expect(item.checks.map(\.verdict) == [.passed, .passed])
    #expect(item.decisions == nil)
  }

  @Test func `a golden that is missing is one check with its reason`() {
    let missing = Comparison(key: "s/c", verdict: .missing, reasons: ["no golden.yml"])
    let item = ReportCase(missing, session: "s", name: "c", pipeline: "p", mode: "every-frame")
    #expect(item.checks == [ReportCheck("results", .missing, "no golden.yml")])
  }

  @Test(arguments: [Verdict.missing, .errored, .notComparable])
  func `where nothing was compared no stage is called equal`(verdict: Verdict) {
    let item = ReportCase(
      Comparison(key: "s/c", verdict: verdict), session: "s", name: "c", pipeline: "p",
      mode: "every-frame", graph: ReportGraph(nodes: [ReportNode(id: "a", kind: "grey")], edges: [])
    )
    #expect(item.graph?.nodes.map(\.status) == [.notCompared])
  }

  @Test func `every verdict has its word in the document`() throws {
    for verdict in Verdict.allCases {
      let item = ReportCase(
        Comparison(key: "s/c", verdict: verdict), session: "s", name: "c", pipeline: "p",
        mode: "every-frame")
      #expect(try JSONValue(encoding: item)["verdict"] == .string(verdict.rawValue))
    }
  }

  @Test func `only result lines of detections have boxes`() {
    #expect(ReportBox(.golden, line: "V luma=3.5", classes: []) == nil)
    #expect(ReportBox(.golden, line: "D -:0 1 2 x 4 0.5", classes: []) == nil)
    #expect(
      ReportBox(.actual, line: "D 7:3 1.0 2.0 3.0 4.0 0.5", classes: [])?.label
        == "7 class 3 0.5")
  }

  @Test func `a mask is drawn by its outline, and points with their bones`() throws {
    let mask = try #require(
      ReportBox(.golden, line: "M 4 person 0.9132 5x4 5310003", classes: []))
    #expect([mask.x, mask.y, mask.width, mask.height] == [1, 1, 3, 3])
    #expect(mask.label == "4 person 0.9132" && mask.lines?.count == 1)
    // The outline ends where it begins.
    #expect(
      mask.lines?.first?.count == 10 && mask.lines?.first?.prefix(2) == mask.lines?.first?.suffix(2)
    )
    let points = try #require(
      ReportBox(
        .actual, line: "K - face 1.0000 0-1,1-2 a=1.0,2.0,1.0000 b=3.0,4.0,1.0000 c=0.5,6.0,1.0000",
        classes: []))
    #expect([points.x, points.y, points.width, points.height] == [0.5, 2, 2.5, 4])
    #expect(points.lines == [[1, 2, 3, 4, 0.5, 6], [1, 2], [3, 4], [0.5, 6]])
    #expect(ReportBox(.actual, line: "E - id 1.0000 AACAPw==", classes: []) == nil)
    #expect(ReportBox(.actual, line: "K - face 1.0000 - a=nan,2.0,1.0000", classes: []) == nil)
    #expect(try JSONValue(encoding: points)["lines"] != nil)
    #expect(
      try JSONValue(encoding: ReportBox(.both, Box(x: 0, y: 0, width: 1, height: 1)))["lines"]
        == nil)
  }

  private func comparison() -> Comparison {
    var root = RootCause(
      frame: FrameID(track: 0, sequence: 2), time: 66_733_333, stage: "motion",
      why: .outputDiffers)
    root.findings = 3
    root.downstream = 2
    var findings = [
      Finding(
        .boxMoved, frame: FrameID(track: 0, sequence: 2), node: "boxes",
        golden: "D -:0 120.0 64.0 32.0 48.0 0.9132", actual: "D -:0 120.4 64.0 32.0 48.0 0.9100",
        magnitude: 0.4, allowed: 0, message: "box moved by 0.4"),
      Finding(
        .boxDisappeared, frame: FrameID(track: 0, sequence: 3), node: "boxes",
        golden: "D -:0 120.0 64.0 32.0 48.0 0.9132", message: "box is missing"),
      Finding(
        .decisionMoved, frame: FrameID(track: 0, sequence: 4), node: "motion",
        golden: "@0 motion 0:4 drop", actual: "@66000000 motion 0:4 drop", magnitude: 66_000_000,
        message: "drop comes 66 ms later"),
    ]
    for index in findings.indices { findings[index].root = 0 }
    var result = Comparison(key: "yard/motion", verdict: .changed)
    result.counts.same = 4
    result.counts.changed = 2
    result.findings = findings
    result.findingCount = 3
    result.rootCauses = [root]
    result.headroom = [
      ErrorHeadroom(
        sink: "boxes", quantity: "position", largest: 0.4, allowed: 0,
        frame: FrameID(track: 0, sequence: 2))
    ]
    result.budgets = [BudgetResult(name: "droppedMax", spent: 0, allowed: 0)]
    return result
  }
}
