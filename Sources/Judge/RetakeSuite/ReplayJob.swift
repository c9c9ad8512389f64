import Foundation
package import RetakeCore
package import RetakeGolden
package import RetakeGraph
package import RetakeReplay
package import RetakeRuntime
package import RetakeSession
import RetakeTimePlane

/// One case on one session, from names to a summary.
package struct ReplayJob {
  package var project: Project
  package var definition: CaseDefinition
  /// The session's folder; `nil` for pipelines whose sources have their own frames.
  package var session: String?
  /// How the case is run. The definition determines its mode, seed and costs.
  package var options = RunOptions()
  /// Opens the folder where results of earlier runs are read and new results are stored; without a
  /// folder, the run computes every result. Not used when stages are measured.
  ///
  /// Called when the session and the pipeline are known, so that a wrong argument creates no
  /// folder. Its argument receives the reason why there is no cache, for the user.
  package var openCache: (_ note: (String) -> Void) throws -> CacheFolder? = { _ in nil }
  package var destination = Destination.nowhere
  /// The golden that the run will be compared with.
  package var comparedWith: GoldenManifest?
  /// Files and streams in addition to the results' folder.
  package var outputs = RunOutputs()
  /// Receive every event of the run, in addition to the observers that write the outputs.
  package var observers: [any RunObserver] = []
  /// Called with the number of finished frames and the number of all frames.
  package var progress: (Int, Int) -> Void = { _, _ in }
  /// Receives notes about the case for the user, in sentences.
  package var note: (String) -> Void = { _ in }

  /// The folder that the results are written to.
  package enum Destination: Equatable {
    case nowhere
    /// The folder of a run, with run.json. It may replace an earlier run, but no other file.
    case run(String)
    /// A golden. A halted run writes no golden.
    case golden(GoldenFolder)
  }

  package init(project: Project, definition: CaseDefinition, session: String?) {
    self.project = project
    self.definition = definition
    self.session = session
  }

  /// Opens the session and connects the pipeline.
  package func makeReplay() throws -> Replay { try open().replay }

  /// The file that the pipeline is read from, if it is read from one.
  var pipelineFile: String? { project.pipelineFile(of: definition.pipeline) }

  /// - Parameter pipeline: Replaces the pipeline of the case.
  package func open(
    _ pipeline: Pipeline? = nil
  ) throws -> (replay: Replay, reader: SessionReader?) {
    let (pipeline, reader) = try inputs(pipeline)
    return (try connect(pipeline, reader), reader)
  }

  /// Connects the pipeline to the job's session, which the caller has opened.
  func replay(_ pipeline: Pipeline, of reader: SessionReader?) throws -> Replay {
    try connect(sourced(pipeline), reader)
  }

  /// The pipeline with the source of the case, if the case has one.
  private func sourced(_ pipeline: Pipeline) throws -> Pipeline {
    guard let source = definition.source else { return pipeline }
    return try source.applied(to: pipeline, catalog: project.catalog)
  }

  private func inputs(_ pipeline: Pipeline? = nil) throws -> (Pipeline, SessionReader?) {
    let pipeline = try sourced(pipeline ?? project.pipeline(definition.pipeline))
    let options = ReadOptions(
      poisonsMemory: self.options.poisonsMemory,
      decoderThreads: min(max(1, self.options.workers), Self.decoderThreadsMax))
    return (pipeline, try session.map { try SessionReader(opening: $0, options: options) })
  }

  /// Bounded, because each thread of a decoder holds its own images.
  private static let decoderThreadsMax = 4

  private func connect(_ pipeline: Pipeline, _ reader: SessionReader?) throws -> Replay {
    var replay = try Replay(
      pipeline, reader: reader, catalog: project.catalog, request: request(reader: reader))
    // Timings measure the computation, and a known value is not computed (docs/cache.md).
    if let reader, outputs.timings == nil, let cache = try openCache(note) {
      replay.cache = try RunCache(
        cache, reader: reader, tracks: Set(replay.tracks.values), isFrozen: replay.isFrozen)
    }
    return replay
  }

  private func request(reader: SessionReader?) throws -> Replay.Request {
    var options = options
    (options.mode, options.seed) = (definition.mode, definition.seed)
    options.costs = try costs(reader: reader)
    var request = Replay.Request(
      sessionName: reader?.folder.name ?? definition.source?.name, caseName: definition.name,
      options: options,
      tracks: definition.tracks, precision: definition.precision)
    request.overrides = definition.overrides
    return request
  }

  private func costs(reader: SessionReader?) throws -> RunCosts {
    // Before the mode is checked: in `every-frame` timings are complete (docs/costs.md).
    if outputs.timings != nil { return .measured }
    guard definition.mode != .everyFrame else { return .declared }
    var costs = try definition.costs.load(session: reader) { try project.costPath($0) }
    costs.isStrict = definition.strictCosts
    return costs
  }

  /// Runs the case and writes the requested outputs.
  ///
  /// - Throws: Errors of the session, the pipeline or the run. No incomplete file remains.
  package func run() throws -> RunSummary {
    let (pipeline, reader) = try inputs()
    try checkOutputs()
    let replay = try connect(pipeline, reader)
    let pixelNotes = try replay.pixelNotes(reader)
    let overrideNotes = try replay.overrideNotes()
    (pixelNotes + replay.unreadNotes(reader) + replay.costNotes + overrideNotes
      + outputs.notes(on: replay)).forEach(note)
    guard let vanished = VanishedNumbers(replay) else { return try run(replay, reader: reader) }
    var job = self
    job.observers.append(vanished)
    let summary = try job.run(replay, reader: reader)
    vanished.notes.forEach(note)
    return summary
  }

  /// Runs the case for results that are used as results of all frames.
  ///
  /// - Throws: `SuiteError.halted`, and the errors of `run`.
  package func runToEnd() throws -> RunSummary {
    let summary = try run()
    if let halt = summary.halt { throw SuiteError.halted(halt) }
    return summary
  }

  /// Refuses outputs that would overwrite an input of the run. Opens no output.
  ///
  /// - Throws: `SuiteError.outputOverInput`, `suite.output.overMedia`.
  func checkOutputs() throws {
    try outputs.check(
      session: session, pipeline: pipelineFile,
      // A run that writes timings measures its stages and reads no costs.
      costs: outputs.timings == nil ? definition.costs.files.map { project.path($0) } : [])
  }

  /// Runs the replay that `open` returned. The caller has checked the outputs.
  func run(_ replay: Replay, reader: SessionReader?) throws -> RunSummary {
    let progress = ProgressObserver(total: replay.frameCount, progress)
    let outputs = try OpenOutputs(
      outputs, of: replay, reader: reader, isAlone: destination == .nowhere)
    do {
      let live = try liveComparison(reader)
      let summary = try write(
        replay, reader: reader,
        observers: [progress] + observers + outputs.observers + (live.map { [$0] } ?? []))
      try outputs.finish(isHalted: summary.haltedBy != nil)
      for loss in outputs.losses { note("\(loss.message); later output is not written") }
      return summary
    } catch {
      outputs.discard()
      throw error
    }
  }

  /// Runs the decisions of the case for every combination of a sweep. Writes no file.
  ///
  /// - Parameter comparesNumbers: Whether everything is computed, and the numbers that reach sinks
  ///   are compared with the numbers of an every-frame run.
  /// - Throws: `ReplayError.badSweep`, `SuiteError.halted`, and errors of a run.
  package func sweep(_ sweep: Sweep, comparesNumbers: Bool = false) throws -> SweepReport {
    let (pipeline, reader) = try inputs()
    let request = try request(reader: reader)
    // Made for its notes alone: the sweep makes a replay for each combination, and each would
    // repeat them.
    try Replay(pipeline, reader: reader, catalog: project.catalog, request: request).costNotes
      .forEach(note)
    var run = SweepRun(
      pipeline, reader: reader, catalog: project.catalog, request: request, sweep: sweep)
    run.comparesNumbers = comparesNumbers
    do {
      return try run.run(progress: progress)
    } catch let failure as StageFailure {
      throw SuiteError.halted(failure)
    }
  }

  private func write(
    _ replay: Replay, reader: SessionReader?, observers: [any RunObserver]
  ) throws -> RunSummary {
    func write(to folder: GoldenFolder, withRun: Bool) throws -> RunSummary {
      try GoldenRun.write(
        replay, definition: definition, project: project, reader: reader, to: folder,
        observers: observers, withRun: withRun, comparedWith: comparedWith)
    }
    switch destination {
    case .nowhere: return try replay.run(observers: observers)
    case .run(let path): return try write(to: runFolder(path), withRun: true)
    case .golden(let folder): return try write(to: folder, withRun: false)
    }
  }
}

extension ReplayJob {
  /// The folder of a run. Throws if the run would overwrite any other file.
  private func runFolder(_ path: String) throws -> GoldenFolder {
    let folder = URL(fileURLWithPath: project.path(path))
    if let session { try Project.checkName(ofSession: session) }
    try project.requireOutside(path)
    // The run writes a pipeline.json, which may be the very file that its pipeline was read from.
    try RunOutputs.checkPipeline(
      pipelineFile, file: folder.appending(path: GoldenFolder.pipelineName).path)
    try Self.checkFree(folder, named: path)
    return GoldenFolder(folder)
  }

  /// Only an earlier run is replaced. A golden changes only when it is accepted, never in a replay.
  private static func checkFree(_ folder: URL, named name: String) throws {
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    // A killed run leaves a hidden folder, which would make an unused folder look occupied.
    GoldenFolder.removeAbandoned(in: folder)
    let entries = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    guard let entries, entries.isEmpty || entries.contains("run.json") else {
      throw SuiteError.exists(path: name)
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
