package import RetakeCore
package import RetakeRuntime

/// Key figures of a run, computed exactly from its decisions, in virtual time. docs/costs.md
/// describes how each figure is counted.
///
/// Reads decision lines and finished frames as they arrive. How the two sequences interleave makes
/// no difference.
package final class RunFigures: RunObserver {
  /// The time of delivered frames from their arrival at the source to the primary sink.
  package struct Latency: Hashable, Sendable, Codable {
    package var p50Nanoseconds: Int64
    package var p95Nanoseconds: Int64
    package var p99Nanoseconds: Int64
    package var maxNanoseconds: Int64
  }

  package struct Totals: Hashable, Sendable, Codable {
    /// At the primary sink.
    package var frames = FrameLedger()
    /// At the source of the primary sink.
    package var lostBeforeCapture = 0
    /// `nil` if no frame was delivered.
    package var latency: Latency?
    /// Frames that were lost at their source or waited there for a buffer, or that were dropped at
    /// the nodes that read from it because a queue or a pool was full.
    package var stalls = 0
    /// The time from the arrival to the capture of frames that waited for a buffer; `nil` if no
    /// frame waited.
    package var captureWait: Latency?
    /// The total time that senders waited for full queues.
    package var blockedNanoseconds: Int64 = 0
    /// The largest number of captured frames, at one time, without an outcome at every sink.
    package var framesAliveMax = 0
    /// The same in bytes of the tracks' decoded frames.
    package var bytesAliveMax = 0
  }

  private let primarySink: String
  private let frameBytes: [Int: Int]
  private var sinks: Set<String> = []
  private var sources: Set<String> = []
  /// The source of the frames that the primary sink counts.
  private var primarySource: String?
  /// Nodes that read from a source.
  private var receivers: Set<String> = []
  private var totalsSoFar = Totals()
  /// 8 bytes per delivered frame.
  private var latencies: [Int64] = []
  /// 8 bytes per frame that waited for a buffer at its source.
  private var captureWaits: [Int64] = []
  /// Frames that wait at their source, not yet captured.
  private var waiting: Set<FrameID> = []
  private var open: [FrameID: OpenFrame] = [:]
  private var finishedFrames = RecentFrames()
  private var alive = AliveFrames()
  /// The number of decision lines so far.
  private var ordinal = 0
  private var lastTime: Int64 = 0

  package var wantsDecisions: Bool { true }

  /// - Parameter frameBytes: Bytes of a frame, by track.
  package init(primarySink: String, frameBytes: [Int: Int]) {
    self.primarySink = primarySink
    self.frameBytes = frameBytes
  }

  package func began(nodes: [RunNode]) {
    sinks = Set(nodes.filter { $0.role == .sink }.map(\.id))
    sources = Set(nodes.filter { $0.role == .source }.map(\.id))
    primarySource = nodes.source(of: primarySink)
    receivers = Set(nodes.filter { !sources.isDisjoint(with: $0.inputs) }.map(\.id))
  }

  package func decided(_ line: DecisionLine) {
    ordinal += 1
    lastTime = line.time
    guard let id = line.frame else { return }
    guard !readBeforeCapture(line, of: id) else { return }
    // A late line of a finished frame would open an entry that no later line closes.
    guard open[id] != nil || !finishedFrames.contains(id) else { return }
    read(line, into: &open[id, default: OpenFrame(birth: ordinal)])
  }

  /// Reads a line about a frame that is not captured yet.
  ///
  /// - Returns: Whether it is such a line.
  private func readBeforeCapture(_ line: DecisionLine, of id: FrameID) -> Bool {
    switch line.kind {
    // source-lost: the frame is not captured, so no ledger has it, and no `finished` comes for it.
    case .lost:
      if line.node == primarySource { totalsSoFar.lostBeforeCapture += 1 }
      // A frame that waited was counted then.
      if waiting.remove(id) == nil { totalsSoFar.stalls += 1 }
    case .wait:
      // A frame that waits for its turn, then for a buffer, has two such lines.
      if waiting.insert(id).inserted { totalsSoFar.stalls += 1 }
    case .waited:
      waiting.remove(id)
      if let nanoseconds = line["nanoseconds"].flatMap({ Int64($0) }) {
        captureWaits.append(nanoseconds)
      }
    default: return false
    }
    return true
  }

  private func read(_ line: DecisionLine, into frame: inout OpenFrame) {
    switch line.kind {
    case .deliver, .outcome:
      guard sinks.contains(line.node) else { return }
      frame.end = ordinal
      frame.endTime = line.time
      if line.kind == .deliver, line.node == primarySink { frame.delivery = line.time }
    case .drop:
      // Each frame counts once, even if several nodes downstream of its source drop it.
      guard !frame.isStalled, receivers.contains(line.node) || sources.contains(line.node),
        line.lacksRoom
      else { return }
      frame.isStalled = true
      totalsSoFar.stalls += 1
    case .block: frame.blocked.append((line.node, line.item, line.time))
    case .unblock:
      guard
        let index = frame.blocked.firstIndex(where: { $0.node == line.node && $0.item == line.item }
        )
      else { return }
      totalsSoFar.blockedNanoseconds += line.time - frame.blocked.remove(at: index).since
    default: break
    }
  }

  package func finished(_ frame: FinishedFrame) {
    let id = frame.result.id
    finishedFrames.insert(id)
    let found = open.removeValue(forKey: id) ?? OpenFrame(birth: ordinal)
    let isInFlight = frame.result.outcomes.contains { $0.content.fate == .inFlight }
    let endTime = isInFlight ? lastTime : found.endTime ?? lastTime
    // A frame that ended while it was blocked has no `unblock` line.
    for waiting in found.blocked { totalsSoFar.blockedNanoseconds += endTime - waiting.since }
    alive.add(
      // A frame in flight has not ended, so it is counted with all frames that come later.
      from: found.birth, to: isInFlight ? .max : found.end ?? found.birth,
      bytes: frameBytes[id.track] ?? 0)
    // Frames of sources that this sink does not read from are not in its ledger.
    guard let outcome = frame.result.outcomes.first(where: { $0.sink == primarySink }) else {
      return
    }
    totalsSoFar.frames.captured += 1
    totalsSoFar.frames.count(outcome.content.fate)
    if let delivery = found.delivery { latencies.append(delivery - frame.arrivalNanoseconds) }
  }

  /// The totals. Call this when the run has ended.
  package var totals: Totals {
    var totals = totalsSoFar
    totals.latency = Latency(latencies)
    totals.captureWait = Latency(captureWaits)
    totals.framesAliveMax = alive.framesMax
    totals.bytesAliveMax = alive.bytesMax
    return totals
  }
}

extension DecisionLine {
  /// Whether a frame was dropped because a queue or a pool was full. A join also drops a frame
  /// whose partner is late or missing, which does not count here.
  fileprivate var lacksRoom: Bool {
    switch self["reason"].flatMap(DropReason.init(rawValue:)) {
    case .queue, .pool: true
    case .timeout, .partnerMissing, nil: false
    }
  }
}

extension RunFigures.Latency {
  /// `nil` if there are no times.
  fileprivate init?(_ times: [Int64]) {
    let sorted = times.sorted()
    guard let p50 = sorted.nearestRank(percent: 50), let p95 = sorted.nearestRank(percent: 95),
      let p99 = sorted.nearestRank(percent: 99), let max = sorted.last
    else { return nil }
    self.init(
      p50Nanoseconds: p50, p95Nanoseconds: p95, p99Nanoseconds: p99, maxNanoseconds: max)
  }
}

/// The state of a captured frame, from the decision lines so far.
private struct OpenFrame {
  /// The number of the first line about it.
  var birth: Int
  /// The number of the last line of a sink about it.
  var end: Int?
  var endTime: Int64?
  /// The time of delivery at the primary sink.
  var delivery: Int64?
  var isStalled = false
  var blocked: [(node: String, item: Int?, since: Int64)] = []

  init(birth: Int) {
    self.birth = birth
  }
}

extension SinkOutcome.Content {
  fileprivate var fate: FrameFate {
    switch self {
    case .facts: .delivered
    case .ended(let fate, _): fate
    }
  }
}
