import Foundation
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime

/// Writes the trace of a run during the run.
final class StoredTraceWriter: RunObserver {
  private let files: TraceFiles
  private let frames: StoredTraceFile
  private let decisions: StoredTraceFile
  private let blocks: StoredTraceFile
  private var frameHasher = DigestHasher()
  private var lineHasher = DigestHasher()
  private var stages: [TraceFacts.Stage] = []
  private var sinks: [String] = []
  private var frameCount = 0
  private var lineCount = 0

  var wantsDecisions: Bool { true }
  var wantsDigests: Bool { true }

  /// - Parameter folder: An empty folder.
  init(into folder: URL, bytesMax: Int = StoredTraceFile.bytesMax) throws {
    files = TraceFiles(folder: folder)
    frames = try StoredTraceFile(files.frames, bytesMax: bytesMax)
    decisions = try StoredTraceFile(files.decisions, bytesMax: bytesMax)
    blocks = try StoredTraceFile(files.blocks, bytesMax: bytesMax)
  }

  /// Runs a case and leaves its trace in a folder.
  static func record(_ replay: Replay, into folder: URL) throws {
    let writer = try StoredTraceWriter(into: folder)
    try writer.finish(try replay.run(observers: [writer]))
  }

  func began(nodes: [RunNode]) {
    begin(
      stages: nodes.filter(\.role.isDigested).map {
        TraceFacts.Stage(
          id: $0.id, context: .init($0.role), isProgram: $0.kind == AnyStage.processKind,
          isLoop: $0.isLoop, computesBatches: $0.computesBatches)
      }, sinks: nodes.filter { $0.role == .sink }.map(\.id))
  }

  func begin(stages: [TraceFacts.Stage], sinks: [String]) {
    self.stages = stages
    self.sinks = sinks
  }

  func decided(_ line: DecisionLine) {
    let text = Array("\(line)\n".utf8)
    lineHasher.append(text)
    decisions.append(text)
    lineCount += 1
    if lineCount.isMultiple(of: TraceFiles.linesPerBlock) { endBlock() }
  }

  private func endBlock() {
    var record: [UInt8] = []
    // `finish` does not reset the hasher: each digest covers all lines so far, which
    // `TraceComparison` relies on.
    record.append(lineHasher.finish())
    record.append(decisions.count)
    blocks.append(record)
  }

  func finished(_ frame: FinishedFrame) throws {
    try append(
      StoredTrace.FrameRecord(
        frame: frame.result.id,
        sinks: sinks.map { sink in
          frame.result.outcomes.first { $0.sink == sink }?.exactDigest ?? .zero
        }, stages: frame.digests.map(\.inOneWord)))
  }

  func append(_ frame: StoredTrace.FrameRecord) throws {
    precondition(frame.stages.count == stages.count, "each stage of a frame has its digest")
    var record: [UInt8] = []
    record.append(frame.frame.track)
    record.append(frame.frame.sequence)
    for digest in frame.sinks + frame.stages { record.append(digest) }
    frameHasher.append(record)
    var head: [UInt8] = []
    head.append(frameHasher.finish())
    frames.append(head + record)
    frameCount += 1
    // Once for each frame, because `decided` cannot throw.
    for file in [frames, decisions, blocks] { try file.check() }
  }

  func finish(_ summary: RunSummary) throws {
    if !lineCount.isMultiple(of: TraceFiles.linesPerBlock) { endBlock() }
    for file in [frames, decisions, blocks] { try file.finish() }
    // Last: a trace without facts is of a run that did not end, and is refused.
    let facts = TraceFacts(
      summary: summary, stages: stages, sinks: sinks, frames: frameCount, decisions: lineCount,
      mathematics: MathLibrary.digest)
    let file = try StoredTraceFile(files.facts)
    file.append(try JSONEncoder().encode(facts))
    try file.finish()
  }
}

extension TraceFacts.Stage.Context {
  fileprivate init(_ role: RunNode.StageRoleName) {
    switch role {
    case .source, .pure, .throttle, .sample, .route, .fork, .sink: self = .nothing
    case .stateful: self = .earlierFrames
    case .join, .latest, .gather: self = .parts
    }
  }
}

extension NodeDigest {
  /// Zero if the stage did not run. The bits of a failure's code are inverted, so that it is not
  /// mistaken for a value's digest.
  fileprivate var inOneWord: Digest128 {
    switch self {
    case .notRun: .zero
    case .value(let digest): digest
    case .failed(let code): Digest128(high: ~code.high, low: ~code.low)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ digest: Digest128) {
    append(Int(truncatingIfNeeded: digest.high))
    append(Int(truncatingIfNeeded: digest.low))
  }

  /// Most significant byte first.
  fileprivate mutating func append(_ number: Int) {
    for shift in stride(from: 56, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
