import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestSupport

/// Fails on every seventh frame.
struct Picky: PureStage {
  static let kind = "picky"

  init(options: NoOptions) {}
  init() {}

  func process(_ input: Frame, _ context: StageContext) throws -> Frame {
    guard context.frame.sequence % 7 != 3 else {
      throw StageError(code: "picky.seventh", message: "a seventh frame")
    }
    return input
  }
}

/// Keeps the decisions.
final class DecisionNotes: RunObserver {
  private(set) var lines: [DecisionLine] = []
  var wantsDecisions: Bool { true }
  func decided(_ line: DecisionLine) { lines.append(line) }
  func finished(_ frame: FinishedFrame) {}
}

/// Pipelines whose runs make many decisions.
enum TracePipelines {
  /// A random line of stages that is too slow for its frames.
  static func line(_ random: inout SeededGenerator) -> Pipeline {
    var chain = Pipeline.named("random")
      .source(
        .synthetic(SyntheticOptions(scene: .figures, width: 16, height: 16, frames: 80)))
    for _ in 0..<random.pick(1...4) {
      if random.chance(25) { chain = chain.throttle(fps: Double(random.pick([12, 25, 40]))) }
      chain =
        random.chance(30)
        ? chain.stage(Picky())
        : chain.map("pass\(random.pick(0...9999))") {
          frame, _ in frame
        }
      chain = chain.cost(
        .uniform(.milliseconds(random.pick(0...30)), .milliseconds(random.pick(30...90))))
      if random.chance(60) { chain = chain.on(executor: "shared") }
      let policy = random.pick(EdgePolicy.allCases)
      chain = chain.queue(capacity: policy == .replace ? 1 : random.pick(1...4), policy: policy)
    }
    return chain.executor("shared", count: random.pick(1...3)).results()
  }

  /// Every kind of node, all of them too slow.
  static let graph = """
    {"v": 1, "name": "graph",
     "nodes": [
      {"id": "camera", "kind": "synthetic", "pool": "frames",
       "options": {"scene": "figures", "width": 96, "height": 64, "frames": 90}},
      {"id": "motion", "kind": "motion", "cost": {"uniform": ["20ms", "90ms"]}, "executor": "vision",
       "timeout": "70ms", "fallback": "previous"},
      {"id": "pair", "kind": "join", "options": {"ports": ["frame", "boxes"]}, "timeout": "150ms"},
      {"id": "people", "kind": "forEach",
       "body": {
        "nodes": [
         {"id": "crop", "kind": "region-crop"},
         {"id": "colour", "kind": "mean-colour", "cost": {"uniform": ["1ms", "60ms"]},
          "executor": "vision", "timeout": "50ms"}],
        "edges": [{"from": "crop", "to": "colour"}], "output": "colour"}},
      {"id": "overlay", "kind": "latest", "options": {"ports": ["frame", "boxes"]}},
      {"id": "rate", "kind": "throttle", "options": {"fps": 12}},
      {"id": "labels", "kind": "results", "primary": true},
      {"id": "screen", "kind": "metadata", "hold": "40ms"}],
     "edges": [
      {"from": "camera", "to": "motion", "capacity": 2, "policy": "dropOldest"},
      {"from": "motion", "to": "pair.boxes"}, {"from": "camera", "to": "pair.frame", "capacity": 9},
      {"from": "pair", "to": "people", "capacity": 1, "policy": "dropNewest"},
      {"from": "people", "to": "labels"},
      {"from": "camera", "to": "overlay.frame"}, {"from": "motion", "to": "overlay.boxes"},
      {"from": "overlay", "to": "rate"}, {"from": "rate", "to": "screen"}],
     "executors": [{"id": "vision", "count": 2}],
     "pools": [{"id": "frames", "capacity": 7, "policy": "drop"}]}
    """

  /// A queue, a slow stage, and a pool whose buffers both of them hold.
  static let pool = """
    {"v": 1, "name": "pool",
     "nodes": [
      {"id": "camera", "kind": "synthetic", "pool": "frames",
       "options": {"scene": "figures", "width": 16, "height": 16, "frames": 60}},
      {"id": "mean", "kind": "luminance", "cost": {"uniform": ["20ms", "90ms"]}},
      {"id": "results", "kind": "results"}],
     "edges": [{"from": "camera", "to": "mean", "capacity": 5, "policy": "dropOldest"},
      {"from": "mean", "to": "results"}],
     "pools": [{"id": "frames", "capacity": 4, "policy": "fail"}]}
    """
}
