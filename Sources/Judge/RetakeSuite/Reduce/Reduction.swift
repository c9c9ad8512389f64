import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
package import RetakeReplay
import RetakeRewrite
package import RetakeRuntime
import RetakeSession

/// Finds the smallest span of a session that still shows a root cause, and writes it as a
/// session in a new project. Implements `retake reduce`.
///
/// Each probe trims the session and replays both sides over the trimmed copy: the pipeline that made
/// the golden (or a revision's), and the working tree's. Without such a pipeline, the golden's stored
/// results are compared, and a probe must return the same results as the full session's run at
/// the frames of the root cause.
package struct Reduction {
  package var project: Project
  package var selected: SelectedCase
  /// Its id; `nil` means the first divergence.
  package var rootCause: String?
  /// A git revision whose pipeline counts as right, instead of the golden's.
  package var base: String?
  /// The folder of the goldens; the project's if `nil`.
  package var goldens: String?
  /// The folder to write.
  package var output: String
  package var options = RunOptions()
  /// See `ReplayJob.openCache`. For the replays of the full session.
  package var openCache: (_ note: (String) -> Void) throws -> CacheFolder? = { _ in nil }
  /// The program name in commands.
  package var program = Tool.name
  /// Called with the name of the replay, the finished frames and the number of all frames.
  package var progress: (String, Int, Int) -> Void = { _, _, _ in }
  /// Receives a line about each probe.
  package var note: (String) -> Void = { _ in }

  package init(_ selected: SelectedCase, in project: Project, output: String) {
    (self.project, self.selected, self.output) = (project, selected, output)
  }

  /// - Throws: `SuiteError` with a code `suite.reduce.…`, errors of the replays of the full session,
  ///   and `RuntimeError.interrupted`. No incomplete folder remains.
  package func run() throws -> ReductionReport {
    try selected.check()
    guard selected.sessionRead != nil else { throw ReductionProbes.noSession(self) }
    let target = URL(fileURLWithPath: project.path(output)).standardizedFileURL
    try project.requireOutside(target.path)
    guard !FileManager.default.fileExists(atPath: target.path) else {
      throw SuiteError.exists(path: target.path)
    }
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    let probes = try ReductionProbes(self, scratch: scratch.url)
    try probes.search()
    return try probes.write(to: target)
  }
}

/// The state of a reduction.
private final class ReductionProbes {
  /// How much longer than the last frame of the root cause the first spans are: frames in flight may
  /// decide about it.
  private static let inFlightNanoseconds: Int64 = 2_000_000_000

  /// A pipeline, with the project whose files it reads.
  private struct Side {
    var project: Project
    var pipeline: Pipeline
  }

  /// A probe that showed the root cause.
  private struct Shown {
    var span: ClosedRange<Int>
    var folder: URL
    var definition: CaseDefinition
    var tracks: Set<Int>
    var frames: Int
    var rootCause: String
  }

  private let reduction: Reduction
  private let scratch: URL
  private let whole: GoldenFolder
  /// The golden of the full session: accepted, or of the revision's run.
  private let golden: GoldenFolder
  private let goldenManifest: GoldenManifest
  private let cause: SoughtCause
  private let times: SessionTimes
  private let base: ReductionReport.Base
  private let sources: [String: Int]
  private let files: [String]
  private var definition: CaseDefinition
  private var change: Side
  private var expected: Side?
  private var sinksLeftOut: Set<String> = []
  private var shown: Shown?
  private var probes = 0
  private var replays = 0
  private var lastProblem: String?

  // MARK: the full session

  init(_ reduction: Reduction, scratch: URL) throws {
    (self.reduction, self.scratch) = (reduction, scratch)
    var definition = reduction.selected.definition
    change = Side(
      project: reduction.project, pipeline: try reduction.project.pipeline(definition.pipeline))
    change.project.budgets = GoldenManifest.Budgets()
    whole = GoldenFolder(scratch.appending(path: "whole/actual"))
    let made = GoldenFolder(scratch.appending(path: "whole/golden"))
    var job = Self.job(reduction, change.project, definition, reduction.selected.session)
    job.openCache = reduction.openCache
    let (replay, reader) = try job.open(change.pipeline)
    guard let reader else { throw Self.noSession(reduction) }
    let accepted = try Self.accepted(reduction, replay)
    job.comparedWith = accepted?.manifest
    // golden.yml has the rules; limits of a full run do not apply to a span.
    if let accepted { change.project.compare = accepted.manifest.compare }
    job.project = change.project
    try Self.run(&job, replay, reader, to: whole, "the full session", reduction)
    replays = 1
    expected = try Self.expected(reduction, accepted?.folder, change, definition, scratch)
    if let side = expected {
      job.project = side.project
      let (replay, reader) = try job.open(side.pipeline)
      try Self.run(&job, replay, reader, to: made, "the full session, base", reduction)
      replays += 1
    }
    golden = accepted?.folder ?? made
    cause = try SoughtCause(reduction.rootCause, of: Self.compare(golden, whole, reduction))
    // The golden's document alone does not show the cause if the code of a stage changed as well.
    if expected != nil, accepted != nil,
      try cause.index(in: Self.compare(made, whole, reduction), first: [:]) == nil
    {
      expected = nil
    }
    base = expected == nil ? .results : accepted == nil ? .revision : .pipeline
    goldenManifest = try golden.manifest()
    sources = replay.tracks
    let inputs = [replay.modelFiles, replay.programFiles, replay.storedFiles]
    files = (inputs.flatMap(\.keys) + definition.costs.files).sorted()
    times = try SessionTimes(reader, tracks: Set(replay.tracks.values))
    definition.pipeline = try ReducedProject.pipelineName(of: definition, in: reduction.project)
    self.definition = definition
  }

  /// The golden that the case is compared with; `nil` for a comparison with a revision.
  private static func accepted(
    _ reduction: Reduction, _ replay: Replay
  ) throws -> (folder: GoldenFolder, manifest: GoldenManifest)? {
    guard reduction.base == nil else { return nil }
    let root = URL(fileURLWithPath: reduction.goldens ?? reduction.project.goldens)
    let folder = GoldenLibrary(root: root).folder(reduction.selected.key)
      .fitting(
        PlatformKey.current(models: replay.modelFiles, devices: replay.modelDevices).description)
    return (folder, try folder.manifest())
  }

  fileprivate static func noSession(_ reduction: Reduction) -> SuiteError {
    SuiteError(
      "suite.reduce.noSession", "the case '\(reduction.selected.key)' reads no session",
      advice: "Only sessions can be reduced: a case with its own frames has none")
  }

  private static func job(
    _ reduction: Reduction, _ project: Project, _ definition: CaseDefinition, _ session: String
  ) -> ReplayJob {
    var job = ReplayJob(project: project, definition: definition, session: session)
    job.options = reduction.options
    return job
  }

  private static func run(
    _ job: inout ReplayJob, _ replay: Replay, _ reader: SessionReader?, to folder: GoldenFolder,
    _ label: String, _ reduction: Reduction
  ) throws {
    job.destination = .golden(folder)
    job.progress = { reduction.progress(label, $0, $1) }
    _ = try job.run(replay, reader: reader)
  }

  /// The pipeline that makes the golden's results; `nil` if it is the working tree's own, or unknown.
  private static func expected(
    _ reduction: Reduction, _ golden: GoldenFolder?, _ change: Side,
    _ definition: CaseDefinition, _ scratch: URL
  ) throws -> Side? {
    if let base = reduction.base {
      let files = try RevisionFiles(
        base, of: reduction.project.folder, scratch: scratch,
        isInterrupted: reduction.options.isInterrupted ?? { false })
      let inputs = RevisionInputs(change.project, files)
      guard let pipeline = try inputs.pipeline(of: definition) else {
        throw SuiteError(
          "suite.reduce.noBase", "\(base) has no \(definition.pipeline)",
          advice: "Name a later revision, or leave out --base")
      }
      return Side(project: inputs.base, pipeline: pipeline)
    }
    guard let golden, let record = try golden.pipeline(of: golden.manifest()),
      record != PipelineRecord(change.pipeline)
    else { return nil }
    // Its stages may be unknown to this program.
    let pipeline = try? PipelineDocument.parseStored(
      Data(record.text.utf8), catalog: change.project.catalog)
    return pipeline.map { Side(project: change.project, pipeline: $0) }
  }

  private static func compare(
    _ golden: GoldenFolder, _ actual: GoldenFolder, _ reduction: Reduction
  ) throws -> Comparison {
    let options = GoldenComparator.Options.withImages
      .interrupted(by: reduction.options.isInterrupted)
    let comparison = GoldenComparator(golden: golden, actual: actual, options: options).outcome()
    try options.checkInterruption()
    return comparison
  }

  // MARK: probes

  /// Finds the smallest span, then the fewest branches and tracks.
  func search() throws {
    let frames = [cause.root.frame, cause.finding.frame].compactMap(\.self)
      .compactMap { times.index(of: $0) }
    let kept = (frames.min() ?? 0)...(frames.max() ?? 0)
    let last = times.times.count - 1
    let near = times.index(Self.inFlightNanoseconds, after: kept.upperBound)
    var span: ClosedRange<Int>?
    for end in near == last ? [last] : [near, last] where span == nil {
      span = try SpanSearch { try self.shows($0) }.span(keeping: kept, end: end)
    }
    guard let span else {
      throw SuiteError(
        "suite.reduce.notShown", "no part of the session shows '\(cause.root.id)' alone",
        cause: lastProblem,
        advice: base == .results
          ? "Name the revision that made the golden, because a golden has no costs: --base REV; or "
            + "check that the case is deterministic: retake verify "
            + "\(reduction.selected.sessionName.shellWord) --pipeline "
            + "\(reduction.selected.definition.name.shellWord)"
          : "Attach the session as it is")
    }
    try leaveOutBranches(span)
  }

  private func leaveOutBranches(_ span: ClosedRange<Int>) throws {
    guard let own = PipelineBranches(change.pipeline) else { return }
    let other = expected.flatMap { PipelineBranches($0.pipeline) }
    let sinks = change.pipeline.nodes.filter { $0.stage.signature.role == .sink }.map(\.id)
    for sink in sinks where sink != cause.finding.node && sinksLeftOut.count + 1 < sinks.count {
      let (oldChange, oldExpected) = (change, expected)
      sinksLeftOut.insert(sink)
      do {
        change.pipeline = try own.pipeline(without: sinksLeftOut, catalog: change.project.catalog)
        if let side = expected, let other {
          expected?.pipeline = try other.pipeline(
            without: sinksLeftOut, catalog: side.project.catalog)
        }
        if try shows(span) { continue }
      } catch is PipelineError {}
      sinksLeftOut.remove(sink)
      (change, expected) = (oldChange, oldExpected)
    }
  }

  /// The tracks that the pipeline reads.
  private var tracks: Set<Int> {
    let nodes = Set(change.pipeline.nodes.map(\.id))
    return Set(sources.filter { nodes.contains($0.key) }.values)
  }

  private func shows(_ span: ClosedRange<Int>) throws -> Bool {
    probes += 1
    let folder = scratch.appending(path: "probe-\(probes)")
    var found: Shown?
    do {
      found = try probe(span, in: folder)
    } catch {
      if reduction.options.isInterrupted?() == true { throw RuntimeError.interrupted }
      lastProblem = error.facts.message
    }
    let count = times.frames(in: span, of: tracks).count
    let seconds = FixedDecimal(times.seconds(span), decimals: 3).text
    let branches =
      sinksLeftOut.isEmpty ? "" : " without \(sinksLeftOut.sorted().joined(separator: ", "))"
    reduction.note(
      "probe \(probes): \(counted(count, "frame")), \(seconds) s\(branches): "
        + (found == nil ? "does not show it" : "shows it"))
    let old = found == nil ? folder : shown?.folder
    if let old { try? FileManager.default.removeItem(at: old) }
    guard let found else { return false }
    shown = found
    return true
  }

  private func probe(_ span: ClosedRange<Int>, in folder: URL) throws -> Shown? {
    let (tracks, offsets) = (tracks, times.offsets(span))
    let first = times.first(in: span, of: tracks)
    let isInterrupted = reduction.options.isInterrupted ?? { false }
    let trimmed = try SessionTrim(
      of: reduction.selected.session,
      SessionTrim.Options(
        from: offsets.lowerBound, to: offsets.upperBound, tracks: tracks,
        target: SessionTarget(
          into: folder.appending(path: "Recordings").path, name: reduction.selected.sessionName)),
      report: { _ in !isInterrupted() }
    ).run()
    let definition = try definition(for: span, first: first)
    let (actual, golden) = (
      GoldenFolder(folder.appending(path: "actual")), GoldenFolder(folder.appending(path: "golden"))
    )
    let decisions = DecisionNotes()
    try replay(change, definition, trimmed.path, to: actual, [decisions])
    if let expected {
      try replay(expected, definition, trimmed.path, to: golden, [])
    } else {
      let stored = SpanGolden(
        golden: self.golden, whole: whole, actual: actual, decisions: decisions.lines,
        frames: chosenFrames(first))
      guard try stored.isRepeated() else { return nil }
      try stored.write(to: golden)
    }
    let comparison = try Self.compare(golden, actual, reduction)
    guard let index = cause.index(in: comparison, first: first) else { return nil }
    return Shown(
      span: span, folder: folder, definition: definition, tracks: tracks, frames: trimmed.frames,
      rootCause: comparison.rootCauses[index].id)
  }

  private func replay(
    _ side: Side, _ definition: CaseDefinition, _ session: String, to folder: GoldenFolder,
    _ observers: [any RunObserver]
  ) throws {
    replays += 1
    var job = Self.job(reduction, side.project, definition, session)
    job.comparedWith = goldenManifest
    job.observers = observers
    let (replay, reader) = try job.open(side.pipeline)
    try Self.run(&job, replay, reader, to: folder, "probe \(probes)", reduction)
  }

  /// The case for a trimmed session, whose virtual time and frame numbers begin later.
  private func definition(
    for span: ClosedRange<Int>, first: [Int: Int]
  ) throws -> CaseDefinition {
    var definition = definition
    let nodes = Set(change.pipeline.nodes.map(\.id))
    definition.tracks = definition.tracks.filter { nodes.contains($0.key) }
    // A source whose track has no frame in the span must not read another one.
    if Set(sources.values).count > 1 {
      definition.tracks = sources.filter { nodes.contains($0.key) }
    }
    definition.precision = definition.precision.filter { nodes.contains($0.key) }
    definition.overrides = try CaseOverride.shifted(
      definition.overrides, by: times.shift(of: span), first: first)
    return definition
  }

  /// The frames between the root cause and its first finding, by their numbers in a trimmed session.
  private func chosenFrames(_ first: [Int: Int]) -> [FrameID: FrameID] {
    let ends = [cause.root.frame, cause.finding.frame].compactMap(\.self)
      .compactMap { times.index(of: $0) }
    guard let start = ends.min(), let end = ends.max() else { return [:] }
    var frames: [FrameID: FrameID] = [:]
    for frame in times.frames(in: start...end, of: tracks) {
      let sequence = frame.sequence - (first[frame.track] ?? 0)
      frames[FrameID(track: frame.track, sequence: sequence)] = frame
    }
    return frames
  }

  // MARK: the result

  func write(to target: URL) throws -> ReductionReport {
    guard let shown else { preconditionFailure("a search that returns has shown the cause") }
    let key = reduction.selected.key
    let reduced = ReducedProject(
      project: change.project, definition: shown.definition,
      session: reduction.selected.sessionName,
      pipeline: sinksLeftOut.isEmpty ? nil : change.pipeline, files: files)
    let reason = "reduced from \(key), root cause \(cause.root.id)"
    replays += 1
    try reduced.write(
      to: target,
      document: reduction.project.pipelineName(reduction.selected.definition.pipeline),
      recordings: shown.folder.appending(path: "Recordings"),
      golden: GoldenFolder(shown.folder.appending(path: "golden")), reason: reason
    ) {
      try reduced.check($0, shows: shown.rootCause, options: reduction.options)
    }
    let all = 0...(times.times.count - 1)
    var report = ReductionReport(
      key: key.description, rootCause: cause.root.id, reducedRootCause: shown.rootCause, base: base,
      wholeFrames: times.frames(in: all, of: Set(sources.values)).count,
      wholeSeconds: times.seconds(all), frames: shown.frames, seconds: times.seconds(shown.span),
      fromSeconds: Double(times.offsets(shown.span).lowerBound.nanoseconds) / 1e9,
      tracks: shown.tracks.sorted(), sinksLeftOut: sinksLeftOut.sorted(), probes: probes,
      replays: replays, bytes: ReducedProject.bytes(of: target), folder: target.path,
      command: "cd \(target.path.shellWord) && \(reduction.program) test")
    let start = cause.root.frame.flatMap { times.index(of: $0) } ?? shown.span.lowerBound
    let before = times.seconds(shown.span.lowerBound...max(start, shown.span.lowerBound))
    if before > 5 {
      report.notes.append(
        "the root cause depends on the \(FixedDecimal(before, decimals: 1).text) s before it: "
          + "no later start shows it")
    }
    if base == .results {
      report.notes.append(
        "the golden's pipeline could not be run again, so the new golden has the stored results of "
          + "the root cause's frames, and this program's results before them")
    }
    return report
  }
}

/// Keeps the decisions of a run.
private final class DecisionNotes: RunObserver {
  private(set) var lines: [DecisionLine] = []
  var wantsDecisions: Bool { true }
  func decided(_ line: DecisionLine) { lines.append(line) }
  func finished(_ frame: FinishedFrame) {}
}
