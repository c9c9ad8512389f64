import Foundation
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeSession

/// One case on one session, from names to a summary.
public struct ReplayJob {
  public var project: Project
  public var definition: CaseDefinition
  /// The session's folder; `nil` for pipelines that bring their own frames.
  public var session: String?
  public var registry: StageRegistry
  public var pipelines: [Pipeline]
  public var workers = 2
  public var perturbation: UInt64?
  public var poisonsMemory = false
  /// Where the run is written; nothing is written if `nil`.
  public var output: String?
  /// Where the unfolded decision lines are written.
  public var decisions: String?
  /// Where a cost tape is written: the run then measures its stages, with one worker.
  public var tape: String?
  public var isInterrupted: @Sendable () -> Bool = { false }
  /// Told of finished frames, and of how many there are.
  public var progress: (Int, Int) -> Void = { _, _ in }
  /// Told what somebody should know of the case, in sentences.
  public var note: (String) -> Void = { _ in }

  public init(
    project: Project, definition: CaseDefinition, session: String?, registry: StageRegistry,
    pipelines: [Pipeline] = []
  ) {
    self.project = project
    self.definition = definition
    self.session = session
    self.registry = registry
    self.pipelines = pipelines
  }

  /// Opens the session and connects the pipeline.
  public func makeReplay() throws -> Replay {
    let (pipeline, reader) = try open()
    return try makeReplay(pipeline, reader: reader)
  }

  private func open() throws -> (Pipeline, SessionReader?) {
    let pipeline = try project.pipeline(
      definition.pipeline, catalog: registry, given: pipelines)
    let reader = try session.map {
      try SessionReader(opening: $0, options: ReadOptions(poisonsMemory: poisonsMemory))
    }
    return (pipeline, reader)
  }

  func makeReplay(_ pipeline: Pipeline, reader: SessionReader?) throws -> Replay {
    var options = RunOptions(mode: definition.mode, workers: workers, seed: definition.seed)
    options.costs = try costs(reader: reader)
    options.perturbation = perturbation
    options.isInterrupted = isInterrupted
    var request = Replay.Request(
      sessionName: reader?.folder.name, caseName: definition.name, options: options,
      tracks: definition.tracks, quantisation: definition.quantisation)
    request.overrides = definition.overrides
    return try Replay(pipeline, reader: reader, catalog: registry, request: request)
  }

  private func costs(reader: SessionReader?) throws -> RunCosts {
    if tape != nil { return .measured }
    guard definition.mode != .lossless else { return .declared }
    var costs = try definition.costs.load(session: reader) { project.path($0) }
    costs.isStrict = definition.strictCosts
    return costs
  }

  /// Runs the case, and writes what was asked for.
  ///
  /// - Throws: What the session, the pipeline or the run throws; nothing half-written stays.
  public func run() throws -> RunSummary {
    let (pipeline, reader) = try open()
    let replay = try makeReplay(pipeline, reader: reader)
    replay.costNotes.forEach(note)
    let progress = ProgressObserver(total: replay.frameCount, progress)
    let files = try RunFiles(decisions: decisions, tape: tape, of: replay)
    do {
      let summary = try run(replay, reader: reader, observers: [progress] + files.observers)
      try files.finish()
      return summary
    } catch {
      files.discard()
      throw error
    }
  }

  private func run(
    _ replay: Replay, reader: SessionReader?, observers: [any RunObserver]
  ) throws -> RunSummary {
    guard let output else { return try replay.run(observers: observers) }
    let folder = URL(fileURLWithPath: project.path(output))
    if let session { try Project.checkName(ofSession: session) }
    try Self.checkFree(folder, named: output)
    return try GoldenRun.write(
      replay, definition: definition, project: project, reader: reader,
      to: GoldenFolder(folder), observers: observers, withRun: true)
  }
}

extension ReplayJob {
  /// Only an earlier run is replaced: a golden is changed by accepting, never by replaying.
  private static func checkFree(_ folder: URL, named name: String) throws(SuiteError) {
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    let entries = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    guard let entries, entries.isEmpty || entries.contains("run.json") else {
      throw .exists(path: name)
    }
  }
}

/// The single files that a run writes: they appear together when it has ended well.
private struct RunFiles {
  private var decisions: UnfoldedDecisionWriter?
  private var tape: CostTapeWriter?

  init(decisions: String?, tape: String?, of replay: Replay) throws(ReplayError) {
    self.decisions = try decisions.map { path throws(ReplayError) in
      try UnfoldedDecisionWriter(path: path)
    }
    do throws(ReplayError) {
      self.tape = try tape.map { path throws(ReplayError) in
        try CostTapeWriter(path: path, key: replay.key)
      }
    } catch {
      self.decisions?.discard()
      throw error
    }
  }

  var observers: [any RunObserver] {
    (decisions.map { [$0] } ?? []) + (tape.map { [$0] } ?? [])
  }

  func finish() throws(ReplayError) {
    try decisions?.finish()
    try tape?.finish()
  }

  func discard() {
    decisions?.discard()
    tape?.discard()
  }
}

/// Counts finished frames for a progress line.
final class ProgressObserver: RunObserver {
  private let total: Int
  private let report: (Int, Int) -> Void
  private var done = 0

  init(total: Int, _ report: @escaping (Int, Int) -> Void) {
    self.total = total
    self.report = report
  }

  func finished(_ frame: FinishedFrame) {
    done += 1
    report(done, total)
  }
}
