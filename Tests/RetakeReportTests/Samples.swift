import Foundation
import RetakeCompare
import RetakeCore

@testable import RetakeReport

/// Documents by name, so that test logs do not contain their full content.
enum Sample: CaseIterable {
  case regression
  case allVerdicts
  case hostile

  var document: ReportDocument {
    switch self {
    case .regression: Samples.regression()
    case .allVerdicts: Samples.allVerdicts()
    case .hostile: Hostile.document()
    }
  }
}

/// Documents that the tests render.
enum Samples {
  /// One changed case with a root cause and one passed case: the usual report.
  static func regression() -> ReportDocument {
    var document = ReportDocument(
      tool: ReportTool(version: "0.1.0"), title: "retake test", exit: ReportExit(code: 1),
      cases: [passedCase(), changedCase()])
    document.totals.framesPerSecond = 1234.4
    document.totals.wallSeconds = 0.5
    document.environment = [
      EnvironmentRow("platform", golden: "linux-x86_64-fma", actual: "linux-x86_64-fma"),
      EnvironmentRow("libavcodec", golden: "59.37.100", actual: "59.37.101"),
    ]
    document.commands = [
      ReportCommand("see it", "retake report open build/report"),
      ReportCommand("accept all", "retake accept --reason TEXT"),
    ]
    return document
  }

  static func passedCase() -> ReportCase {
    var item = ReportCase(
      session: "yard", name: "downsample", pipeline: "downsample-digest", mode: "every-frame",
      verdict: .passed, reason: "240 frames compared, all the same")
    item.counts = ComparedCounts(compared: 240, same: 240)
    item.headroom = [Headroom(measure: "luma.mean", largest: 0.31, allowed: 0.5)]
    return item
  }

  static func changedCase(session: String = "yard", name: String = "motion") -> ReportCase {
    var item = ReportCase(
      session: session, name: name, pipeline: "motion-boxes", mode: "every-frame",
      verdict: .changed,
      reason: "1,218 differences from one root cause")
    item.counts = ComparedCounts(compared: 240, same: 100, withinTolerance: 20, changed: 120)
    item.rootCauses = [rootCause()]
    item.headroom = [
      Headroom(
        measure: "boxes.position", largest: 0.4, allowed: 0, unit: "px",
        frame: FrameID(track: 0, sequence: 121))
    ]
    item.budgets = [ReportBudget(name: "droppedMax", limit: 0, actual: 2, met: false)]
    item.graph = graph()
    item.tracks = [
      ReportTrack(track: 0, width: 320, height: 180, frames: 240, timeBase: TimeBase(1, 30000))
    ]
    item.findings = Excerpt((0..<12).map(finding), total: 1218)
    item.pictures = [
      ReportImage(
        frame: FrameID(track: 0, sequence: 120), node: "camera", width: 320, height: 180,
        png: Array(onePixelPNG),
        boxes: [ReportBox(.both, Box(x: 10, y: 10, width: 40, height: 30), label: "car")])
    ]
    item.timelines = [timeline(frames: 240)]
    item.decisions = DecisionDifferences(
      added: 1, removed: 0, moved: 1,
      lines: Excerpt([
        DecisionDifference(.added, golden: nil, actual: "@400000000 motion 0:12 drop reason=queue"),
        DecisionDifference(
          .moved, golden: "@4000000000 motion 0:120 thin", actual: "@4066000000 motion 0:122 thin",
          note: "2 frames later (66 ms)", because: ["drop of frame 0:12 at motion is new"]),
      ]))
    item.ledgers = [ledger()]
    item.decisionDigest = TextPair(golden: "51c0", actual: "77ab")
    item.resultDigest = TextPair(golden: "aa", actual: "bb")
    item.suspects = [ReportSuspect(kind: "pipeline", text: "the pipeline's digest differs")]
    item.checks = [
      ReportCheck("results", .changed, "1,218 differences"), ReportCheck("decisions", .passed),
    ]
    item.run = ReportRun(workers: 2, wallSeconds: 0.25, framesPerSecond: 960, costsModelled: 240)
    return item
  }

  static func rootCause() -> ReportRootCause {
    var cause = ReportRootCause(
      id: "r1", frame: FrameID(track: 0, sequence: 120), pts: 120_000,
      timeNanoseconds: 4_000_000_000, stage: "motion",
      why: "output differs while its inputs are equal", findings: 312, downstream: 906)
    cause.commands = [
      ReportCommand("replay", "retake replay yard --pipeline motion --output run"),
      ReportCommand("accept", "retake accept yard/motion --root-cause r1 --reason TEXT"),
    ]
    return cause
  }

  static func graph() -> ReportGraph {
    ReportGraph(
      nodes: [
        ReportNode(id: "camera", kind: "session"), ReportNode(id: "grey", kind: "grey"),
        ReportNode(id: "motion", kind: "motion", stateful: true, status: .rootCause),
        ReportNode(id: "boxes", kind: "results", status: .downstream),
      ],
      edges: [
        ReportEdge(from: "camera", to: "grey"),
        ReportEdge(from: "grey", to: "motion", policy: "dropNewest", capacity: 3),
        ReportEdge(from: "motion", to: "boxes"),
      ])
  }

  static func finding(_ index: Int) -> ReportFinding {
    var finding = ReportFinding(
      kind: "boxMoved", frame: FrameID(track: 0, sequence: 120 + index), sink: "boxes",
      golden: "120.0 64.0 32.0 48.0 0.9132", actual: "120.4 64.0 32.0 48.0 0.9132",
      message: "box moved by 0.4 px")
    finding.rootCause = "r1"
    finding.magnitude = 0.4
    finding.allowed = 0
    finding.unit = "px"
    finding.boxes = [
      ReportBox(.golden, Box(x: 120, y: 64, width: 32, height: 48), label: "person"),
      ReportBox(.actual, Box(x: 120.4, y: 64, width: 32, height: 48), label: "person"),
    ]
    return finding
  }

  static func timeline(frames: Int) -> ReportTimeline {
    var line = ReportTimeline(
      track: 0, findings: (0..<frames).map { $0 < frames / 2 ? 0 : $0 % 7 },
      droppedGolden: Array(repeating: 0, count: frames),
      droppedActual: (0..<frames).map { $0 % 50 == 12 ? 1 : 0 })
    line.startNanoseconds = 0
    line.endNanoseconds = Int64(frames) * 33_366_667
    line.errors = [
      TimelineErrors(
        measure: "boxes.position", unit: "px", allowed: 0.2,
        largest: (0..<frames).map { Double($0 % 5) / 10 })
    ]
    return line
  }

  static func ledger() -> LedgerPair {
    var golden = FrameLedger()
    golden.captured = 240
    golden.delivered = 240
    var actual = golden
    actual.delivered = 238
    actual.dropped = ["queue": 2]
    return LedgerPair(
      track: 0, sink: "boxes", golden: ReportLedger(golden), actual: ReportLedger(actual))
  }

  static func erroredCase() -> ReportCase {
    var item = ReportCase(
      session: "street", name: "motion", pipeline: "motion-boxes", mode: "simulate",
      verdict: .errored, reason: "the case could not be run")
    item.error = ReportProblem(
      code: "session.media.checksum", message: "the media differ from the index",
      cause: "packet 41 hashes differently", place: "Recordings/street, frame 0:41",
      advice: "Run: retake session check street")
    return item
  }

  /// Every verdict once, and an expected change.
  static func allVerdicts() -> ReportDocument {
    var expected = changedCase(name: "motion-slow")
    expected.expected = KnownChange(id: "known-1", url: "https://example.org/1")
    let reasons: [(Verdict, String)] = [
      (.missing, "there is no accepted golden to compare with"),
      (.stale, "a golden exists that no case produces any more"),
      (.notComparable, "golden and result come from different inputs"),
    ]
    var others = reasons.map { verdict, reason in
      ReportCase(
        session: "yard", name: verdict.rawValue, pipeline: "p", mode: "every-frame",
        verdict: verdict, reason: reason)
    }
    others[0].commands = [ReportCommand("accept", "retake accept yard/missing --reason first")]
    return ReportDocument(
      tool: ReportTool(version: "0.1.0"), title: "retake test", exit: ReportExit(code: 2),
      cases: [passedCase(), expected, changedCase(), erroredCase()] + others)
  }

  /// A PNG of one gray pixel.
  static let onePixelPNG =
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5E"
        + "rkJggg==") ?? Data()
}
