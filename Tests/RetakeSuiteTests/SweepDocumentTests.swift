import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

/// Rows of a sweep, and replays of documents that have the row's values written into them.
@Suite struct SweepDocumentTests {
  /// A random document whose queues and pools can be set.
  private struct RandomDocument {
    private var random: SeededGenerator
    /// The same choices for every value of the axes.
    private let seed: UInt64
    let frames: Int

    init(seed: Int, frames: Int = 30) {
      (self.seed, self.frames) = (UInt64(seed), frames)
      random = SeededGenerator(seed: self.seed)
    }

    /// - Parameters:
    ///   - queue: The capacity of every edge that does not replace; `nil` for the document's own.
    ///   - pool: The buffers of every pool.
    func text(queue: Int? = nil, pool: Int? = nil) -> String {
      var copy = self
      copy.random = SeededGenerator(seed: seed)
      return copy.make(queue: queue, pool: pool)
    }

    private mutating func make(queue: Int?, pool: Int?) -> String {
      let hasJoin = random.chance(60)
      let pooled = #", "pool": "p""#
      var nodes = [
        #"{"id": "camera", "kind": "synthetic", "options": {"fps": 100, "#
          + #""frames": \#(frames), "width": 64, "height": 64}\#(random.chance(60) ? pooled : "")}"#,
        #"{"id": "slow", "kind": "copy", "cost": {"fixed": "\#(random.pick(1...40))ms"}, "#
          + #""concurrency": \#(random.pick(1...2))\#(random.chance(40) ? pooled : "")}"#,
        thinning(),
        #"{"id": "view", "kind": "screen", "options": {"hertz": \#(random.pick([24, 30, 60]))}"#
          + #"\#(random.chance(20) ? #", "hold": "200ms""# : "")}"#,
        #"{"id": "out", "kind": "discard", "primary": true}"#,
      ]
      var edges = [edge("camera", "slow", queue), edge("slow", "thin", queue)]
      if hasJoin {
        let timeout = random.chance(70) ? #", "timeout": "\#(random.pick(1...30))ms""# : ""
        nodes.append(
          #"{"id": "pair", "kind": "join", "options": {"mode": "\#(random.pick(["all", "any"]))", "#
            + #""ports": ["a", "b"]}\#(timeout)}"#)
        edges += [
          edge("camera", "pair.a", queue), edge("thin", "pair.b", queue),
          edge("pair", "out", queue),
        ]
      } else {
        edges.append(edge("thin", "out", queue))
      }
      edges.append(edge(random.pick(["camera", "slow", "thin"]), "view", queue))
      let buffers = random.pick(8...12)
      let policy = random.pick(["drop", "fail"])
      let pools = #"[{"id": "p", "capacity": \#(pool ?? buffers), "policy": "\#(policy)"}]"#
      return #"{"v": 1, "name": "random", "nodes": [\#(nodes.joined(separator: ", "))], "#
        + #""edges": [\#(edges.joined(separator: ", "))], "pools": \#(pools)}"#
    }

    private mutating func thinning() -> String {
      random.pick([
        #"{"id": "thin", "kind": "sample", "options": {"every": \#(random.pick(1...3))}}"#,
        #"{"id": "thin", "kind": "throttle", "options": {"fps": \#(random.pick([20, 50, 90]))}}"#,
        #"{"id": "thin", "kind": "grey", "cost": {"uniform": ["1ms", "\#(random.pick(2...20))ms"]}}"#,
      ])
    }

    private mutating func edge(_ from: String, _ to: String, _ queue: Int?) -> String {
      let policy = random.pick(["block", "dropNewest", "dropOldest", "replace"])
      let own = random.pick(1...4)
      let capacity = policy == "replace" ? 1 : queue ?? own
      return #"{"from": "\#(from)", "to": "\#(to)", "capacity": \#(capacity), "#
        + #""policy": "\#(policy)"}"#
    }
  }

  private static let request: Replay.Request = {
    var request = Replay.Request(caseName: "sweep")
    request.options = RunOptions(mode: .simulate, workers: 0, seed: 5)
    return request
  }()

  private func pipeline(_ text: String) throws -> Pipeline {
    try PipelineDocument.parse(Data(text.utf8), catalog: StageRegistry.builtIn)
  }

  private func rows(_ text: String, _ sweep: String) throws -> [SweepReport.Row] {
    try SweepRun(
      pipeline(text), reader: nil, catalog: StageRegistry.builtIn, request: Self.request,
      sweep: Sweep(parsing: sweep)
    ).run().rows
  }

  /// A replay of the document, with the figures of its decision lines.
  private func replayed(
    _ text: String
  ) throws -> (summary: RunSummary, figures: RunFigures.Totals, lines: [DecisionLine]) {
    let replay = try Replay(
      pipeline(text), reader: nil, catalog: StageRegistry.builtIn, request: Self.request)
    let (figures, kept) = (replay.makeFigures(), KeptLines())
    let summary = try replay.run(observers: [figures, kept])
    return (summary, figures.totals, kept.lines)
  }

  private final class KeptLines: RunObserver {
    private(set) var lines: [DecisionLine] = []
    var wantsDecisions: Bool { true }
    func decided(_ line: DecisionLine) { lines.append(line) }
    func finished(_ frame: FinishedFrame) {}
  }

  /// 60 documents; `RETAKE_SWEEPS` sets another number.
  private static let documents =
    ProcessInfo.processInfo.environment["RETAKE_SWEEPS"].flatMap { Int($0) } ?? 60

  @Test func `each row of a sweep is the replay of the document with its values`() throws {
    var reasons: Set<String> = []
    for seed in 0..<Self.documents {
      let document = RandomDocument(seed: seed)
      let values = [(1, 8), (1, 12), (4, 8), (4, 12)].map { (queue: $0.0, pool: $0.1) }
      let rows = try rows(document.text(), "queue=1|4,p.capacity=8|12")
      for (row, value) in zip(rows, values) {
        let text = document.text(queue: value.queue, pool: value.pool)
        let replay = try replayed(text)
        #expect(row.decisionDigest == replay.summary.decisionDigest, "\(text)")
        #expect(row.figures == replay.figures, "\(text)")
        reasons.formUnion(replay.lines.compactMap { $0["reason"] })
        if replay.lines.contains(where: { $0.kind == .vsync }) { reasons.insert("screen") }
      }
    }
    #expect(reasons.contains("screen"), "\(reasons)")
  }

  /// The screen keeps a buffer until its next refresh, so a pool of two loses frames.
  @Test func `a screen keeps its buffers in a sweep as in a replay`() throws {
    func text(_ capacity: Int) -> String {
      """
      {"v": 1, "name": "screen",
       "nodes": [
        {"id": "camera", "kind": "synthetic", "pool": "frames",
         "options": {"fps": 100, "frames": 60, "width": 64, "height": 64}},
        {"id": "out", "kind": "screen", "options": {"hertz": 30}}],
       "edges": [{"from": "camera", "to": "out", "capacity": \(capacity)}],
       "pools": [{"id": "frames", "capacity": 2, "policy": "drop"}]}
      """
    }
    let row = try #require(try rows(text(3), "queue=1").first)
    let replay = try replayed(text(1))
    #expect(row.decisionDigest == replay.summary.decisionDigest)
    #expect(row.figures.frames.dropped["pool"] == 41)
  }

  /// The slow branch needs 50 ms, so the join drops all frames at its timeout, and no frame waits
  /// for a buffer.
  @Test func `a frame that a join drops at its timeout is not a stall`() throws {
    let text = """
      {"v": 1, "name": "late",
       "nodes": [
        {"id": "camera", "kind": "synthetic",
         "options": {"fps": 10, "frames": 20, "width": 64, "height": 64}},
        {"id": "slow", "kind": "copy", "cost": {"fixed": "50ms"}},
        {"id": "pair", "kind": "join", "options": {"ports": ["a", "b"]}, "timeout": "5ms"},
        {"id": "out", "kind": "discard"}],
       "edges": [
        {"from": "camera", "to": "pair.a"}, {"from": "camera", "to": "slow"},
        {"from": "slow", "to": "pair.b"}, {"from": "pair", "to": "out"}]}
      """
    let row = try #require(try rows(text, "queue=2").first)
    #expect(row.figures.frames.dropped["timeout"] == 20)
    #expect(row.figures.stalls == 0)
  }
}
