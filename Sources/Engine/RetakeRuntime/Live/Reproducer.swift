package import RetakeBuffers
package import RetakeCore
package import RetakeGraph
import RetakeTimePlane

/// Repeats a live run: passes the recorded events to a core, in the same order and at the same
/// times, and computes the values again.
///
/// All timing decisions depend only on the record. A recomputed value that differs from the record
/// is counted, and has no effect on decisions.
package final class Reproducer {
  /// A recomputed value that differs from the recorded one.
  package struct ValueDifference: Hashable, Sendable {
    package var frame: FrameID
    /// −1 for the frame itself.
    package var item: Int
    package var node: String
    package var recorded: String
    package var recomputed: String
  }

  private let host: ReproductionHost
  private let driver: EventDriver
  private let frames: any FrameReader
  /// Tracks that are stored in the format that the pipeline was made for.
  private let usableTracks: Set<Int>
  private let registry: any StageCatalog
  /// The index page that was read last, by track.
  private var pages: [Int: (start: Int, entries: [Int: FrameEntry])] = [:]

  /// - Parameters:
  ///   - tracks: The tracks that the live run was made for. A track that is stored in another
  ///     format is not read.
  ///   - workers: Threads that compute, including the calling thread.
  ///   - decided: Called with each decision line.
  ///   - finished: Called with each frame's result.
  package init(
    _ pipeline: Pipeline, tracks: [LiveTrack], frames: any FrameReader,
    originNanoseconds: Int64, workers: Int, catalog: some StageCatalog,
    decided: @escaping (DecisionLine) -> Void, finished: @escaping (LiveResult) -> Void
  ) throws {
    let prepared = try PreparedRun(live: pipeline, tracks: tracks, catalog: catalog)
    self.frames = frames
    registry = catalog
    usableTracks = Set(
      tracks.filter { live in
        frames.tracks.contains { $0.track == live.track && $0.format == live.format }
      }.map(\.track))
    let memory = prepared.plan.memory(isVirtual: true)
    host = try ReproductionHost(
      plan: prepared.plan, memory: memory, workers: workers, finished: finished)
    driver = EventDriver(
      plan: prepared.plan, memory: memory, tracks: prepared.liveTracks,
      originNanoseconds: originNanoseconds, host: host, observer: decided)
  }

  /// Reports leases and sizes of pools, at the times at which they change.
  package func reportPools(to observer: any RunObserver) { driver.reportPools(to: observer) }

  /// The IDs of the nodes, by number.
  package var nodeIDs: [String] { driver.plan.nodes.map(\.id) }
  package var differences: [ValueDifference] { host.differences }
  package var differenceCount: Int { host.differenceCount }
  /// Bodies whose values could be computed again.
  package var computed: Int { host.computed }
  /// Bodies whose input frames have no pixels, or other pixels than the pipeline saw, and bodies
  /// whose stage remembers such a frame.
  package var notComputed: Int { host.notComputed }

  /// Passes a recorded event to the core.
  ///
  /// - Throws: `RuntimeError.strayExternalEvent`, and the session's errors for its frames.
  package func handle(_ stamped: StampedEvent) throws {
    host.recordedGates = stamped.gates[...]
    let gates = try driver.handle(stamped, value: try carried(stamped))
    // The decisions asked for other values than in the live run, so the two runs differ.
    guard gates == stamped.gates else {
      throw RuntimeError.strayExternalEvent(
        ordinal: stamped.ordinal, detail: "the run asks for other values than the recorded values")
    }
  }

  /// Ends the run. Frames without an outcome stay in flight.
  package func finish() -> (outcome: RunOutcome, decisionDigest: Digest128) {
    host.stop()
    let outcome = driver.finish()
    return (outcome, driver.decisionDigest())
  }

  private func carried(_ stamped: StampedEvent) throws -> EventDriver.Carried {
    switch stamped.event {
    case .arrival(let id): .frame(try entry(of: id), try pixels(of: id))
    case .allocationFailed(let id): .frame(try entry(of: id), nil)
    case .completion(let body, let outcome): .output(try host.output(of: body, recorded: outcome))
    case .command(.swap(let node, let kind, let options)):
      .swap(try swap(node, kind, options, ordinal: stamped.ordinal))
    case .timer, .leaseEnded, .environment, .swapReady, .sourceLost: .nothing
    }
  }

  private func swap(
    _ node: Int, _ kind: String, _ options: JSONValue, ordinal: Int
  ) throws -> StageSwap {
    do {
      return StageSwap(
        at: .nanoseconds(0), node: nodeIDs[node],
        stage: try registry.make(kind: kind, options: options))
    } catch let error as OptionProblem {
      throw RuntimeError.badExternalEvent(
        ordinal: ordinal, detail: "the stage '\(kind)' cannot be made: \(error.message)")
    }
  }

  // MARK: Frames

  private static let pageRows = 1_024

  /// A frame after the last commit of a truncated recording has no index row.
  private func entry(of id: FrameID) throws -> FrameEntry {
    try indexed(id)
      ?? FrameEntry(id: id, pts: nil, timestamp: .zero, isPayloadMissing: true)
  }

  private func indexed(_ id: FrameID) throws -> FrameEntry? {
    if let page = pages[id.track], page.start..<page.start + Self.pageRows ~= id.sequence {
      return page.entries[id.sequence]
    }
    let start = id.sequence / Self.pageRows * Self.pageRows
    let rows = try frames.entries(of: id.track, sequences: start..<start + Self.pageRows)
    let entries = Dictionary(rows.map { ($0.id.sequence, $0) }) { first, _ in first }
    pages[id.track] = (start, entries)
    return entries[id.sequence]
  }

  private func pixels(of id: FrameID) throws -> Frame? {
    let entry = try entry(of: id)
    guard !entry.isPayloadMissing, entry.damage == nil, usableTracks.contains(id.track) else {
      return nil
    }
    var frame = try frames.frame(id)
    frame.id = id
    frame.timestamp = driver.timestamp(of: entry)
    return frame
  }
}

/// Computes the values of the live run again, and compares them with the record.
private final class ReproductionHost: EventHost {
  private let plan: GraphPlan
  private let workers: Workers
  private let stageRun: StageRun
  private let finished: (LiveResult) -> Void
  private var repeated: [BodyName: RepeatedBody] = [:]
  private var gaps = MemoryGaps()
  var recordedGates: ArraySlice<GateValue> = []
  private(set) var differences: [Reproducer.ValueDifference] = []
  private(set) var differenceCount = 0
  private(set) var computed = 0
  private(set) var notComputed = 0

  /// Differences that are kept; further differences are only counted.
  private static let differencesMax = 100

  init(
    plan: GraphPlan, memory: RunMemory, workers: Int, finished: @escaping (LiveResult) -> Void
  ) throws {
    (self.plan, stageRun) = (plan, StageRun(memory: memory))
    self.finished = finished
    self.workers = try Workers(count: workers, lanes: plan.pinned)
  }

  func stop() { workers.stop() }

  func begin(_ wanted: BodyCall) {
    let call = wanted.told(of: stageRun)
    guard let input = call.input else { return gaps.skipped(call.stage) }
    // A run-long memory that lacks a call never equals the live memory again, so the body is not
    // computed.
    guard gaps.canBeWhole(call.stage) else { return }
    let future = ValueFuture(
      node: call.name.node, frame: call.name.frame,
      item: call.name.item < 0 ? nil : call.name.item, inputs: [], lane: call.lane,
      isNeeded: true, isDigested: false
    ) { _ in
      switch call.run(input) {
      case .success(let value): .value(value)
      case .failure(let error): .failure(error)
      }
    }
    repeated[call.name] = RepeatedBody(
      future: future, stage: call.stage, isWhole: gaps.isWhole(call.stage))
    workers.submit(future)
  }

  /// The output of a body whose end was recorded.
  func output(
    of name: BodyName, recorded: CompletionOutcome
  ) throws -> (any PipelineValue)? {
    guard let body = repeated.removeValue(forKey: name) else {
      notComputed += 1
      return nil
    }
    let outcome = try workers.help(body.future)
    if case .value = outcome.resolved { gaps.returned(body.stage) }
    guard body.isWhole else {
      // Computed for the stage's memory alone.
      notComputed += 1
      return nil
    }
    computed += 1
    var known = CostSpan.done
    // The recorded outcome decides; the value, computed again, is only compared with it.
    if case .failure(let error) = recorded { known = error.code }
    switch outcome.resolved {
    case .value(let value):
      if known == CostSpan.done { return value }
      note(name, recorded: known, recomputed: CostSpan.done)
    case .failure(let error):
      if known != error.code { note(name, recorded: known, recomputed: error.code) }
    case .fault, .cancelled, .later: break
    }
    return nil
  }

  private func note(_ body: BodyName, recorded: String, recomputed: String) {
    note(
      Reproducer.ValueDifference(
        frame: body.frame, item: body.item, node: plan.nodes[body.node].id, recorded: recorded,
        recomputed: recomputed))
  }

  private func note(_ difference: Reproducer.ValueDifference) {
    differenceCount += 1
    if differences.count < Self.differencesMax { differences.append(difference) }
  }

  /// Returns the recorded answer, even if the value leads to another answer now.
  func gateValue(_ question: GateQuestion) -> Int {
    let recorded = recordedGates.popFirst()
    let answer = question.answer(plan: plan)
    guard let recorded, recorded.node == question.node, recorded.frame == question.frame else {
      return answer ?? 0
    }
    if let answer, answer != recorded.value {
      note(
        Reproducer.ValueDifference(
          frame: question.frame, item: -1, node: plan.nodes[question.node].id,
          recorded: "\(recorded.value)", recomputed: "\(answer)"))
    }
    return recorded.value
  }

  func prepare(_ swap: LiveSwap, index: Int) {}

  func delivered(_ delivery: LiveDelivery) {
    let kind = plan.nodes[delivery.sink].stage.signature.kind
    delivery.frame.note(delivery, discards: kind == AnyStage.discardKind)
  }

  func settled(_ frame: LiveFrame) {
    finished(frame.result(sinkIDs: plan.sinks.map { plan.nodes[$0].id }))
  }
}

/// A body that is computed again.
private struct RepeatedBody {
  var future: ValueFuture
  var stage: MemoryGaps.Stage
  /// Whether the stage remembered the same calls as in the live run when the body began.
  var isWhole: Bool
}
