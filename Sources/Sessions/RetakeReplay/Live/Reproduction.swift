import Foundation
import RetakeBuffers
import RetakeCore
public import RetakeGraph
package import RetakeRuntime
public import RetakeSession

/// Repeats a recorded live run, event by event, and compares the decisions with the decisions of
/// the live run. This proves that the record contains everything that the decisions depend on.
public struct Reproduction: Sendable {
  private let session: SessionReader
  private let live: LiveRunReader
  private let pipeline: Pipeline
  private let registry: StageRegistry
  private let workers: Int
  private let hasOtherPipeline: Bool

  /// - Parameters:
  ///   - session: The session that the pipeline ran next to.
  ///   - run: The number of the live run; the newest one if `nil`.
  ///   - pipeline: Replaces the recorded pipeline. A pipeline with closures is not recorded.
  ///   - registry: Makes the stages of a recorded pipeline.
  ///   - workers: Threads that compute; changes the speed only.
  /// - Throws: `SessionError.noLiveRun`, `PipelineError`, `ReplayError`.
  public init(
    _ session: SessionReader, run: Int? = nil, pipeline: Pipeline? = nil,
    registry: StageRegistry, workers: Int = 2
  ) throws {
    self.session = session
    self.registry = registry
    self.workers = workers
    live = try session.liveRun(run)
    if let pipeline {
      self.pipeline = pipeline
      hasOtherPipeline = live.pipeline.map { Self.isOther($0, than: pipeline) } ?? false
    } else {
      hasOtherPipeline = false
      guard let document = live.pipeline else {
        throw ReplayError.noPipeline(session: session.folder.name, run: live.number)
      }
      self.pipeline = try PipelineDocument.parseStored(
        Data(document.utf8), catalog: registry, file: "run \(live.number)")
    }
  }

  private static func isOther(_ recorded: String, than pipeline: Pipeline) -> Bool {
    // A pipeline with closures has no document, so it counts as another one.
    (try? PipelineDocument.json(of: pipeline))?.canonicalText != recorded
  }

  /// The number of the live run.
  package var runNumber: Int { live.number }
  package var pipelineName: String { pipeline.name }
  package var pools: [PipelinePool] { pipeline.pools }

  /// The nodes that ran, in topological order, with inserted conversions.
  ///
  /// - Throws: `PipelineError`, `RuntimeError`.
  package func nodes() throws -> [RunNode] {
    try PreparedRun(live: pipeline, tracks: live.tracks, catalog: registry).runNodes
  }

  /// Makes every decision of the live run again, and computes the values from the stored frames.
  ///
  /// - Parameters:
  ///   - isInterrupted: Called between events; `true` ends the run with `RuntimeError.interrupted`.
  ///   - progress: Called from time to time with the number of reproduced decisions.
  /// - Throws: `RuntimeError`, `SessionError`.
  public func run(
    isInterrupted: () -> Bool = { false }, progress: (Int) -> Void = { _ in }
  ) throws -> ReproductionReport {
    try run(observer: nil, values: .computed, isInterrupted: isInterrupted, progress: progress)
  }

  /// Whether the values are computed. The decisions do not need them.
  package enum Values: Sendable {
    /// The values are computed again from the stored frames and compared.
    case computed
    case leftOut
  }

  /// - Parameters:
  ///   - observer: Notified of the decisions, and of leases and sizes of pools.
  ///   - isInterrupted: Called between events; `true` ends the run with `RuntimeError.interrupted`.
  ///   - progress: Called from time to time with the number of reproduced decisions.
  /// - Throws: `RuntimeError`, `SessionError`.
  package func run(
    observer: (any RunObserver)?, values: Values, isInterrupted: () -> Bool = { false },
    progress: (Int) -> Void = { _ in }
  ) throws -> ReproductionReport {
    // Only for `wallSeconds`. The times of decisions come from the record.
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    let comparison = ReproductionComparison(live, try LiveResultLines(pipeline))
    let isComputed = values == .computed
    let frames: any FrameReader = isComputed ? session : NoFrames()
    // A live stage reads by the arrival that the session has stored, and so does this one.
    let sensors =
      isComputed
      ? try SensorBinding(pipeline, reader: session, arrivesAtPresentation: false) : nil
    let reproducer = try Reproducer(
      sensors?.applied(to: pipeline) ?? pipeline, tracks: live.tracks, frames: frames,
      originNanoseconds: live.originNanoseconds, workers: workers, catalog: registry,
      decided: { line in
        observer?.decided(line)
        comparison.decided("\(line)")
      }, finished: { if isComputed { comparison.finished($0) } })
    if let observer { reproducer.reportPools(to: observer) }
    let outcome = try follow(
      reproducer, comparison, isInterrupted: isInterrupted, progress: progress)
    var report = ReproductionReport(
      session: session.folder.name, run: live.number, pipeline: pipeline.name)
    report.hasOtherPipeline = hasOtherPipeline ? true : nil
    report.events = comparison.events
    report.recordedDecisions = try comparison.countRecorded()
    report.reproducedDecisions = comparison.reproduced
    report.divergence = comparison.divergence
    report.values = comparison.values(with: reproducer, hasExactPixels: live.hasExactPixels)
    report.frames = outcome.outcome.headline
    report.lostBeforeCapture = outcome.outcome.headlineLost
    report.waits = outcome.outcome.waits.isEmpty ? nil : outcome.outcome.waits
    report.decisionDigest = outcome.decisionDigest
    report.wallSeconds = Double(clock.monotonicNanoseconds - start) / 1e9
    return report
  }

  /// Handles events until the record ends, or cannot be followed any further.
  private func follow(
    _ reproducer: Reproducer, _ comparison: ReproductionComparison, isInterrupted: () -> Bool,
    progress: (Int) -> Void
  ) throws -> (outcome: RunOutcome, decisionDigest: Digest128) {
    let nodes = Dictionary(
      reproducer.nodeIDs.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    var next = 0
    // Bounded: each turn reads a page of a finite table.
    while case let page = try live.events(from: next), !page.isEmpty {
      for row in page where comparison.divergence == nil {
        if isInterrupted() { throw RuntimeError.interrupted }
        do {
          // A missing event is a fault of the record, even if all decisions would come out again.
          guard row.ordinal == next else {
            throw RuntimeError.strayExternalEvent(
              ordinal: row.ordinal, detail: "the events before it, from \(next) on, are missing")
          }
          comparison.begin(event: next)
          try reproducer.handle(
            try StampedEvent(
              ordinal: row.ordinal, nanoseconds: row.nanoseconds, kind: row.kind,
              text: row.json, nodes: nodes))
        } catch let error as RuntimeError where error.isAboutRecord {
          // An event that does not fit is a divergence at a known place. Any other error is an
          // error, and no evidence about the record.
          comparison.diverge(because: error.message)
        }
        try comparison.check()
        next += 1
      }
      progress(comparison.reproduced)
      if comparison.divergence != nil { break }
    }
    let outcome = reproducer.finish()
    try comparison.end()
    return outcome
  }
}

/// Provides no frames: the decisions of a live run do not depend on pixels.
private struct NoFrames: FrameReader {
  let tracks: [TrackDescription] = []

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] { [] }
  func chain(of id: FrameID) -> Int { id.track }

  func frame(_ id: FrameID) throws -> Frame {
    throw RuntimeError.frameUnreadable(id, cause: "only decisions are reproduced", advice: nil)
  }
}

extension RuntimeError {
  /// Whether the record itself differs from a record that a live run writes.
  fileprivate var isAboutRecord: Bool {
    switch self {
    case .badExternalEvent, .strayExternalEvent: true
    default: false
    }
  }
}
