import Foundation
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import Testing

@testable import RetakeRuntime

/// The shadow check: live decisions are made again from the record of the core's inputs.
@Suite(.serialized) struct ShadowTests {
  /// 20 runs; `RETAKE_SHADOW_RUNS` sets another number.
  private static var runs: Int {
    ProcessInfo.processInfo.environment["RETAKE_SHADOW_RUNS"].flatMap { Int($0) } ?? 20
  }

  @Test func `every decision of live runs under random load is reproduced, with its values`() throws
  {
    var (seed, runs, decisions, values) = (UInt64(9_000), 0, 0, 0)
    var kinds: Set<String> = []
    while runs < Self.runs {
      defer { seed += 1 }
      guard let run = try ShadowRun(seed: seed) else { continue }
      runs += 1
      let again = try run.reproduced()
      #expect(again.failure == nil, "seed \(seed)")
      let kept = run.kept
      #expect(again.decisions == kept.decisions, "seed \(seed)")
      #expect(again.differences == 0, "seed \(seed)")
      #expect(again.headline == kept.outcome?.headline, "seed \(seed)")
      #expect(again.headline.isBalanced)
      #expect(again.sourcesLost == kept.outcome?.sourcesLost)
      values += try compareValues(again.results, kept.results)
      decisions += kept.decisions.count
      kinds.formUnion(kept.events.map(\.event.kind.rawValue))
    }
    // A test that never saw a timer or a lease has not checked them.
    #expect(
      kinds.isSuperset(of: [
        "arrival", "completion", "timer", "environment", "leaseEnded", "sourceLost",
      ]))
    #expect(values > 10 * runs)
    print("shadow check: \(runs) runs, \(decisions) decisions and \(values) values reproduced")
  }

  /// Frames without payload have values only in the live run.
  private func compareValues(_ again: [LiveResult], _ live: [LiveResult]) throws -> Int {
    var count = 0
    try #require(again.map(\.frame.result.id) == live.map(\.frame.result.id))
    for (one, other) in zip(again, live) {
      let pairs = zip(one.frame.result.outcomes, other.frame.result.outcomes)
      for ((first, second), isComputed) in zip(pairs, one.isComputed) where isComputed {
        #expect(first == second, "frame \(one.frame.result.id)")
        count += 1
      }
    }
    return count
  }

  @Test func `an input that the record does not have is caught`() throws {
    let pipeline = Pipeline(
      [
        PipelineNode(id: "camera", stage: .pushed(track: 0)),
        PipelineNode(
          id: "slow", stage: Nodes.throttle(0, rules: [DeviceRule(thermal: .serious, fps: 1)])),
        .stage("a", AnyStage(Brightness())), .sink(),
      ], ["camera → slow → a → sink"])
    let frames = ManyTracks(readers: [.at(rate: 1_000, count: 40)])
    let told = try frames.heatedRun(of: pipeline).told
    let whole = try Reproduced(pipeline, frames: frames, origin: 0, events: told.events)
    #expect(whole.decisions == told.decisions)

    // The fault: one event was never recorded, and the ordinals do not show it.
    var events = told.events.filter { $0.event.kind != .environment }
    for index in events.indices { events[index].ordinal = index }
    let blind = try Reproduced(pipeline, frames: frames, origin: 0, events: events)
    #expect(blind.decisions != told.decisions)
    #expect(told.decisions.contains { $0.contains(" throttle interval=") })
  }

  @Test func `a completion that comes twice cannot be followed`() throws {
    let runs = (9_100..<9_110 as Range<UInt64>).lazy.compactMap { try? ShadowRun(seed: $0) }
    let run = try #require(
      runs.first { run in run.kept.events.contains { $0.event.kind == .completion } })
    var events = run.kept.events
    let index = try #require(events.firstIndex { $0.event.kind == .completion })
    let twice = events[index]
    events.insert(twice, at: index + 1)
    for place in events.indices.dropFirst(index + 1) { events[place].nanoseconds += 1 }
    let again = try run.reproduced(events)
    #expect(again.failure?.code == "runtime.live.strayEvent")
  }
}

/// A random graph that ran live, on a machine that was kept busy.
struct ShadowRun {
  let pipeline: Pipeline
  let frames: ManyTracks
  let kept: KeptRun.Content

  /// `nil` for seeds that do not draw a valid graph.
  init?(seed: UInt64) throws {
    let example = ModelCase(seed: seed, shape: .graph)
    var readers: [TinyFrames] = []
    pipeline = example.pipeline {
      readers.append($0)
      return .pushed(track: $0.track)
    }.busy(seed: seed).adaptive()
    frames = ManyTracks(readers: readers)
    guard (try? pipeline.validate()) != nil, !readers.isEmpty else { return nil }
    let kept = KeptRun()
    var options = LiveOptions(workers: 2 + Int(seed % 3))
    options.drain = .milliseconds(300)
    let session = try LiveSession(
      pipeline, tracks: frames.live, catalog: StageRegistry(), options: options, tap: kept)
    let spinners = Spinners(count: Int(seed % 3))
    defer { spinners.stop() }
    var random = SeededGenerator(seed: seed)
    var next = readers.map { _ in 0 }
    var changes = example.changes[...]
    while let reader = readers.indices.filter({ next[$0] < readers[$0].times.count })
      .randomElement(using: &random)
    {
      let id = FrameID(track: readers[reader].track, sequence: next[reader])
      next[reader] += 1
      let entry = try frames.entries(of: id.track, sequences: id.sequence..<id.sequence + 1)[0]
      session.push(entry, entry.damage == nil ? try frames.frame(id) : nil)
      if random.chance(5) { session.sourceLost(track: id.track, code: "source.stalled") }
      if random.chance(10), let change = changes.popFirst() { session.push(change.event) }
      Burn.some(random.next())
    }
    _ = try session.finish()
    self.kept = kept.kept
  }

  func reproduced(_ events: [StampedEvent]? = nil) throws -> Reproduced {
    try Reproduced(
      pipeline, frames: frames, origin: kept.facts?.originNanoseconds ?? 0,
      events: events ?? kept.events)
  }
}
