import Foundation
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane

/// The time plane alone, without any values: decisions, their lines and their digest for six nodes,
/// and the memory that it uses after a number of frames.
struct TimePlaneSection {
  let scale: Scale

  func run() throws -> SectionReport {
    let frames = scale.count(10_000_000, tiny: 400)
    let block = frames / 40
    var report = SectionReport(
      name: "timePlane",
      title: "The time plane alone: \(frames) frames through six nodes, best of 40 parts", hash: "")
    var best = Double.infinity
    var memory: [Double] = []
    let marks = [frames / 10, frames / 2, frames]
    let clock = WallClock()
    var start = clock.monotonicNanoseconds
    report.hash = try TimePlaneDriver().run(frames: frames) { done in
      if done % block == 0 {
        let now = clock.monotonicNanoseconds
        best = min(best, Double(now - start) / 1e9 / Double(block))
        start = now
      }
      if marks.contains(done), let megabytes = Self.residentMegabytes { memory.append(megabytes) }
    }
    report.figures = [Figure(name: "timePlane.rate", value: 1 / best, unit: "frames/s")]
    for (mark, megabytes) in zip(marks, memory) {
      report.figures.append(
        Figure(name: "timePlane.memory.\(mark)", value: megabytes, unit: "MB resident"))
    }
    if let first = memory.first, let last = memory.last, memory.count == marks.count {
      report.figures.append(
        Figure(name: "timePlane.growth", value: last - first, unit: "MB"))
    } else {
      report.notes.append("this system does not tell the resident memory")
    }
    return report
  }

  /// `VmRSS` of this process.
  static var residentMegabytes: Double? {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
      let kilobytes = line.split(separator: " ").compactMap({ Double($0) }).first
    else { return nil }
    return kilobytes / 1_024
  }
}

/// Drives a decision core directly: camera, four stages, sink.
final class TimePlaneDriver: GateKeeperWithoutValues {
  private static let costs: [Int64] = [2_000_000, 45_000_000, 8_000_000, 3_000_000]
  private static let interval: Int64 = 33_333_333

  /// - Parameter isDone: Called after each frame with the number of frames so far.
  /// - Returns: The digest of all decisions.
  func run(frames: Int, _ isDone: (Int) -> Void) throws -> String {
    var chain = Pipeline.named("time").frames(RepeatedFrame(count: 1))
    for _ in Self.costs { chain = chain.stage(Pass()) }
    let plan = try GraphPlan(chain.sink(.resultSink))
    var core = DecisionCore(plan: plan, rules: .simulate)
    var turn = EventContext(gates: self)
    var arrived = 0
    core.addArrival(source: plan.sources[0], id: FrameID(track: 0, sequence: 0), time: 0)
    while let event = try core.popEvent() {
      core.handle(event, &turn)
      for case .start(let node, let work, _) in turn.actions {
        let cost = Self.costs[plan.nodes[node].rank - 1]
        core.addCompletion(node: node, work: work, time: event.key.time + cost)
      }
      turn.actions.removeAll(keepingCapacity: true)
      guard event.kind == .arrival else { continue }
      arrived += 1
      if arrived < frames {
        core.addArrival(
          source: plan.sources[0], id: FrameID(track: 0, sequence: arrived),
          time: Int64(arrived) * Self.interval)
      }
      isDone(arrived)
    }
    return "\(core.log.digest())"
  }
}
