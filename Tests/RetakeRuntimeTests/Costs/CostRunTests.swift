import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime
@testable import RetakeTimePlane

/// Keeps the spans and decisions that a measuring run reports.
private final class SpanNotes: RunObserver {
  var spans: [CostSpan] = []
  var lines: [DecisionLine] = []
  var wantsDecisions: Bool { true }

  func decided(_ line: DecisionLine) { lines.append(line) }
  func measured(_ span: CostSpan) { spans.append(span) }
  func finished(_ frame: FinishedFrame) {}
}

/// Runs with costs from timings, or with measured costs.
@Suite struct CostRunTests {
  private static func pipeline(failing: [Int] = []) -> Pipeline {
    Pipeline.named("timed").source(Nodes.source(.at(rate: 30, count: 60)))
      .stage(Brightness(), id: "light").stage(Fragile(failing: failing), id: "fragile")
      .queue(capacity: 2, policy: .dropNewest)
      .stage(Counter(), id: "counter").cost(.fixed(.milliseconds(3))).sink(Nodes.sink())
  }

  /// 60 ms for every third frame at `fragile`, 30 ms for the others.
  private static func timings(frames: Int) throws -> RecordedTimings {
    let light = (0..<frames).map { ("light", $0, -1, Int64(1_000_000)) }
    let fragile = (0..<frames).map {
      ("fragile", $0, -1, $0 % 3 == 0 ? Int64(60_000_000) : 30_000_000)
    }
    return try RecordedTimings.of(light + fragile)
  }

  /// A clock that advances by a random amount with each second reading: the duration of a body.
  private static func clock() -> @Sendable () -> Int64 {
    let state = Locked<(time: Int64, readings: Int)>((0, 0))
    return {
      state.withLock { state in
        state.readings += 1
        if state.readings.isMultiple(of: 2) {
          state.time += Int64((state.readings * 7_919) % 97) * 1_000_000
        }
        return state.time
      }
    }
  }

  private func measure(
    _ pipeline: Pipeline, mode: RunOptions.Mode
  ) throws -> (notes: SpanNotes, outcome: RunOutcome) {
    var options = RunOptions(mode: mode, workers: 1)
    options.costs.meter = CostMeter(read: Self.clock())
    let notes = SpanNotes()
    let outcome = try PreparedRun(pipeline, catalog: StageRegistry()).run(options, observer: notes)
    return (notes, outcome)
  }

  @Test
  func `timings decides the same for any number of workers, and counts where costs came from`()
    throws
  {
    var expected: RunPrint?
    for way in RunOptions.ways(mode: .simulate, seed: 3) {
      var options = way
      options.costs.timings = try Self.timings(frames: 45)
      let print = try RunPrint(Self.pipeline(failing: [7, 9]), options)
      #expect(expected.flatMap { print.difference(from: $0) } == nil)
      expected = expected ?? print
    }
    let outcome = try #require(expected?.outcome)
    let served = expected?.lines.filter { $0.kind == .start } ?? []
    let recorded = served.filter { $0.node != "counter" && ($0.frame?.sequence ?? 99) < 45 }
    #expect(outcome.recordedCosts == recorded.count)
    #expect(outcome.modelledCosts == served.count - recorded.count)
    #expect(outcome.headline.droppedTotal > 0)
  }

  @Test func `timings of the declared costs gives the declared decisions`() throws {
    let declared = Self.pipeline().withCost(.fixed(.milliseconds(45)), of: "fragile")
    let expected = try declared.noted().outcome
    var options = RunOptions(mode: .simulate)
    options.costs.timings = try RecordedTimings.of((0..<60).map { ("fragile", $0, -1, 45_000_000) })
    let timed = try Self.pipeline().noted(options).outcome
    #expect(timed.decisionDigest == expected.decisionDigest)
    #expect(expected.headline.droppedTotal > 0)
  }

  @Test func `a failing body costs what its entry says`() throws {
    let failing = Self.pipeline(failing: Array(0..<60))
    var options = RunOptions(mode: .simulate)
    options.costs.timings = try Self.timings(frames: 60)
    let run = try failing.noted(options)
    let starts = run.notes.lines.filter { $0.kind == .start && $0.node == "fragile" }
    let ends = run.notes.lines.filter { $0.kind == .fail && $0.node == "fragile" }
    #expect(starts.count == ends.count && starts.count > 20)
    for (start, end) in zip(starts, ends) {
      let sequence = try #require(start.frame?.sequence)
      #expect(end.time - start.time == (sequence % 3 == 0 ? 60_000_000 : 30_000_000))
    }
  }

  @Test func `strict timings ends the run at the first cost that it lacks`() throws {
    for workers in [0, 1, 4] {
      var options = RunOptions(mode: .simulate, workers: workers)
      options.costs.timings = try Self.timings(frames: 60)
      options.costs.isStrict = true
      let error = #expect(throws: RuntimeError.self) { try Self.pipeline().noted(options) }
      #expect(error?.message.contains("'counter'") == true)
      #expect(error?.place?.frame == FrameID(track: 0, sequence: 0))
    }
  }

  @Test func `a measuring run tells of each body once, and its costs are what was measured`() throws
  {
    let (notes, outcome) = try measure(Self.pipeline(failing: [2]), mode: .simulate)
    let starts = notes.lines.filter { $0.kind == .start }
    #expect(notes.spans.map(\.node) == starts.map(\.node))
    #expect(notes.spans.map(\.frame) == starts.compactMap(\.frame))
    #expect(notes.spans.map(\.startNanoseconds) == starts.map(\.time))
    #expect(outcome.recordedCosts == starts.count)
    for span in notes.spans {
      #expect(span.costNanoseconds == span.processorNanoseconds)
      let end = notes.lines.first {
        [.done, .fail].contains($0.kind) && $0.node == span.node && $0.frame == span.frame
      }
      #expect(end?.time == span.endNanoseconds)
      #expect(span.outcome == (end?.kind == .fail ? "fragile.chosen" : "done"))
    }
    #expect(Set(notes.spans.map(\.costNanoseconds)).count > 20)
  }

  @Test func `a replay with the timings of a measuring run decides as that run did`() throws {
    let (notes, measured) = try measure(Self.pipeline(failing: [2, 3]), mode: .simulate)
    var builder = RecordedTimings.Builder()
    for span in notes.spans {
      try builder.append(
        node: span.node, frame: span.frame, item: span.item, nanoseconds: span.costNanoseconds)
    }
    let timings = try builder.finish(name: "measured")
    for workers in [0, 1, 2, 4, 8] {
      var options = RunOptions(mode: .simulate, workers: workers)
      options.costs.timings = timings
      options.costs.isStrict = true
      let outcome = try Self.pipeline(failing: [2, 3]).noted(options).outcome
      #expect(outcome == measured)
    }
    #expect(measured.headline.droppedTotal > 0)
  }

  @Test func `measuring in every-frame mode sees every frame and changes nothing`() throws {
    let plain = try Self.pipeline().noted(RunOptions(mode: .everyFrame)).outcome
    let (notes, outcome) = try measure(Self.pipeline(), mode: .everyFrame)
    #expect(outcome == plain)
    #expect(notes.spans.count == 60 * 3)
  }

  @Test(arguments: [0, 2, 8])
  func `only one worker measures`(workers: Int) throws {
    var options = RunOptions(mode: .simulate, workers: workers)
    options.costs.meter = CostMeter { 0 }
    let error = #expect(throws: RuntimeError.self) { try Self.pipeline().noted(options) }
    #expect(error?.code == "runtime.run.badOption")
  }

  @Test func `the thread's clock counts computing`() {
    let clock = WallClock()
    let start = clock.threadNanoseconds
    var hasher = DigestHasher()
    for round in 0..<100_000 { hasher.append(round) }
    withExtendedLifetime(hasher.finish()) {}
    #expect(clock.threadNanoseconds > start)
  }
}

extension Pipeline {
  fileprivate func withCost(_ cost: Cost, of node: String) -> Pipeline {
    var copy = self
    for index in copy.nodes.indices where copy.nodes[index].id == node {
      copy.nodes[index].cost = cost
    }
    return copy
  }
}
