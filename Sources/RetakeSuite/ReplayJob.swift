import Foundation
import RetakeCache
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeTimePlane

/// One case on one session, from names to a summary.
package struct ReplayJob {
  package var project: Project
  package var definition: CaseDefinition
  /// The session's folder; `nil` for pipelines whose sources have their own frames.
  package var session: String?
  package var registry: StageRegistry
  package var pipelines: [Pipeline]
  package var workers = 2
  package var perturbation: UInt64?
  /// How long a stage's body may take, in real time; `nil` means forever.
  package var watchdog: Duration? = RunOptions.watchdogStandard
  package var poisonsMemory = false
  /// Where the run is written; nothing is written if `nil`.
  package var output: String?
  /// The golden that the run will be compared with.
  package var comparedWith: GoldenManifest?
  /// What is written in addition to the run's folder.
  package var outputs = RunOutputs()
  /// Where results of earlier runs are read and results of this run are stored; nothing is stored
  /// if `nil`. Not used when stages are measured.
  package var cache: CacheFolder?
  /// Opens the cache when the session and the pipeline are known, so that a wrong argument creates
  /// no folder.
  package var openCache: () throws -> CacheFolder? = { nil }
  package var isInterrupted: @Sendable () -> Bool = { false }
  /// Receive everything that happens in the run, in addition to what is written.
  package var observers: [any RunObserver] = []
  /// Called with the number of finished frames and the number of all frames.
  package var progress: (Int, Int) -> Void = { _, _ in }
  /// Receives notes about the case for the user, in sentences.
  package var note: (String) -> Void = { _ in }

  package init(
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
  package func makeReplay() throws -> Replay {
    let (pipeline, reader) = try open()
    return try makeReplay(pipeline, reader: reader)
  }

  /// The file that the pipeline is read from, if it is read from one.
  package var pipelineFile: String? { project.pipelineFile(of: definition.pipeline) }

  private func open() throws -> (Pipeline, SessionReader?) {
    let pipeline = try project.pipeline(
      definition.pipeline, catalog: registry, given: pipelines)
    let reader = try session.map {
      try SessionReader(opening: $0, options: ReadOptions(poisonsMemory: poisonsMemory))
    }
    return (pipeline, reader)
  }

  func makeReplay(_ pipeline: Pipeline, reader: SessionReader?) throws -> Replay {
    var replay = try Replay(
      pipeline, reader: reader, catalog: registry, request: request(reader: reader))
    // A tape measures the computation, and a known value is not computed (docs/cache.md).
    if let reader, outputs.tape == nil, let cache = try cache ?? openCache() {
      replay.cache = try RunCache(cache, reader: reader, tracks: Set(replay.tracks.values))
    }
    return replay
  }

  private func request(reader: SessionReader?) throws -> Replay.Request {
    var options = RunOptions(mode: definition.mode, workers: workers, seed: definition.seed)
    options.costs = try costs(reader: reader)
    options.perturbation = perturbation
    options.watchdog = watchdog
    options.isInterrupted = isInterrupted
    var request = Replay.Request(
      sessionName: reader?.folder.name, caseName: definition.name, options: options,
      tracks: definition.tracks, quantisation: definition.quantisation)
    request.overrides = definition.overrides
    return request
  }

  private func costs(reader: SessionReader?) throws -> RunCosts {
    // Before the mode is asked: in `lossless` a tape is complete (docs/costs.md).
    if outputs.tape != nil { return .measured }
    guard definition.mode != .lossless else { return .declared }
    var costs = try definition.costs.load(session: reader) { project.path($0) }
    costs.isStrict = definition.strictCosts
    return costs
  }

  /// Runs the case and writes the requested outputs.
  ///
  /// - Throws: What the session, the pipeline or the run throws. No incomplete file is left.
  package func run() throws -> RunSummary {
    let (pipeline, reader) = try open()
    // Before any output is opened, which could already overwrite what the run reads.
    try outputs.check(session: session, pipeline: pipelineFile)
    let replay = try makeReplay(pipeline, reader: reader)
    let pixelNotes = try replay.pixelNotes(reader)
    (pixelNotes + replay.costNotes + replay.overrideNotes + outputs.notes(on: replay))
      .forEach(note)
    let progress = ProgressObserver(total: replay.frameCount, progress)
    let outputs = try OpenOutputs(outputs, of: replay, reader: reader, isAlone: output == nil)
    do {
      let live = try liveComparison(reader)
      let summary = try run(
        replay, reader: reader,
        observers: [progress] + observers + outputs.observers + (live.map { [$0] } ?? []))
      try outputs.finish(isHalted: summary.haltedBy != nil)
      for loss in outputs.losses { note("\(loss.message); what came later is not written") }
      return summary
    } catch {
      outputs.discard()
      throw error
    }
  }

  /// Runs the decisions of the case for every combination of a sweep. Nothing is written.
  ///
  /// - Throws: `ReplayError.badSweep`, and what a run throws.
  package func sweep(_ sweep: Sweep) throws -> SweepReport {
    let (pipeline, reader) = try open()
    let request = try request(reader: reader)
    // Made for its notes alone: the sweep makes a replay for each combination, and each would
    // repeat them.
    try Replay(pipeline, reader: reader, catalog: registry, request: request).costNotes
      .forEach(note)
    return try SweepRun(
      pipeline, reader: reader, catalog: registry, request: request, sweep: sweep
    ).run(progress: progress)
  }

  private func run(
    _ replay: Replay, reader: SessionReader?, observers: [any RunObserver]
  ) throws -> RunSummary {
    guard let output else { return try replay.run(observers: observers) }
    let folder = URL(fileURLWithPath: project.path(output))
    if let session { try Project.checkName(ofSession: session) }
    // The run writes a pipeline.json, which may be the very file that its pipeline was read from.
    try RunOutputs.check(
      file: folder.appending(path: GoldenFolder.pipelineName).path, pipeline: pipelineFile)
    try Self.checkFree(folder, named: output)
    return try GoldenRun.write(
      replay, definition: definition, project: project, reader: reader,
      to: GoldenFolder(folder), observers: observers, withRun: true,
      comparedWith: comparedWith)
  }
}

extension ReplayJob {
  /// Only an earlier run is replaced. A golden changes only when it is accepted, never in a replay.
  private static func checkFree(_ folder: URL, named name: String) throws(SuiteError) {
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    // A killed run leaves a hidden folder, which would make an unused folder look occupied.
    GoldenFolder.removeAbandoned(in: folder)
    let entries = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    guard let entries, entries.isEmpty || entries.contains("run.json") else {
      throw .exists(path: name)
    }
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
