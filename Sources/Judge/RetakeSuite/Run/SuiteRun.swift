package import Foundation
package import RetakeCore
import RetakeGolden
package import RetakeReplay
package import RetakeReport
package import RetakeRuntime

/// Everything that `retake test` does: select, replay, compare, judge, report.
package struct SuiteRun {
  package var project: Project
  package var selection: Selection
  /// Cases of the project that another test runner chose; they run instead of the selection. Other
  /// cases are unknown to such a run: it finds no stale golden, and does not change the list of the
  /// last test's goldens that `retake accept` reads.
  package var chosen: [SelectedCase]?
  /// The folder of the goldens; the project's if `nil`.
  package var goldens: String?
  package var options = RunOptions()
  /// Whether the cases that run at once share all processors, in place of the options' `workers`.
  package var sharesProcessors = false
  /// See `ReplayJob.openCache`. Called once for all cases.
  package var openCache: (_ note: (String) -> Void) throws -> CacheFolder? = { _ in nil }
  /// The most sessions whose cases run at once.
  package var jobs = 1
  /// The memory that this run shares with the cases of other runs in this process.
  package var memory: MemoryShare?
  /// Whether a case whose session calls frames damaged is an error instead of a note.
  package var refusesDamage = false
  /// In CI, the run writes no file among the goldens, and a stale golden fails.
  package var isCI = false
  /// The program name in the commands of the report.
  package var program = Tool.name
  /// Where pending goldens are written instead of next to the goldens, also in CI.
  package var pendingFolder: String?
  /// Where the report is written; no report is written if `nil`.
  package var reportFolder: String?
  /// Where the traces of the cases are written, as `SESSION/CASE.json`; no trace is written if
  /// `nil`.
  package var traceFolder: String?
  /// Called with the current case, its finished frames and the number of its frames. If several
  /// cases run at once, called with how many have ended and the frames of all.
  package var progress: (String, Int, Int) -> Void = { _, _, _ in }
  /// Notes that the report shows in addition to its cases, such as why there is no cache.
  private var notes: [String] = []

  /// The outcome of a run.
  package struct Outcome {
    package var status: ExitStatus
    package var document: ReportDocument
    /// The files of the report, the page last.
    package private(set) var files: [URL] = []
    /// Why the report could not be written. The verdict is known all the same.
    package private(set) var reportError: (any CodedError)?
    package var warnings: [String] = []
    /// The cases that need attention, because of which the status is not `passed`.
    package var failing: [ReportCase] = []
    /// The frames that were replayed.
    package var frames = 0

    init(status: ExitStatus, document: ReportDocument) {
      (self.status, self.document) = (status, document)
    }

    /// If the report cannot be written, the status is also that of an error.
    mutating func writeReport(to folder: String?) {
      guard let folder else { return }
      do {
        files = try ReportFolder.write(document, to: URL(fileURLWithPath: folder))
      } catch {
        reportError = error as? any CodedError ?? ErrorFacts(ofUser: error)
        status = ExitStatus.strongest([status, .error]) ?? .error
        document.exit = ReportExit(code: Int(status.rawValue))
      }
    }
  }

  package init(project: Project, selection: Selection) {
    self.project = project
    self.selection = selection
  }

  /// Applies the environment variables of the process.
  package mutating func follow(_ surroundings: EnvironmentVariables) {
    isCI = surroundings.isCI
    pendingFolder = surroundings.pendingFolder
  }

  /// - Throws: `SuiteError` for a selection that cannot be made, and `RuntimeError.interrupted`. An
  ///   error of one case becomes its verdict.
  package func run() throws -> Outcome {
    // Before the cases run, which may be slow: an unusable folder is reported now.
    for folder in [reportFolder, traceFolder, pendingFolder, goldens] {
      if let folder { try project.requireOwn(folder) }
    }
    if let reportFolder {
      try ReportFolder.check(URL(fileURLWithPath: project.path(reportFolder)))
    }
    let (selected, leases) = try project.pulled(chosen ?? selectedCases())
    // The report reads images of the sessions after the last case.
    defer { withExtendedLifetime(leases) {} }
    // A rule for a sink that does not exist would never be used, and the real sink would be
    // compared without it.
    try project.checkRules(and: selection.definition)
    var run = self
    let cache = try openCache { run.notes.append($0) }
    return try run.run(selected, cache)
  }

  private func run(_ selected: [SelectedCase], _ cache: CacheFolder?) throws -> Outcome {
    let scratch = try RunFolder(preferring: pendingRoot)
    defer { scratch.remove() }
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    let library = library
    var results = try replay(selected, runner(library, cache, scratch.url, sessions: selected))
    if chosen == nil {
      results += staleKeys(selected).map { staleResult($0) }
      if let pendingRoot {
        let pending = results.filter { $0.pendingIdentity != nil }.map(\.selected.key)
        LastTest(root: pendingRoot, keys: pending).write(to: project)
      }
    }
    let seconds = Double(clock.monotonicNanoseconds - start) / 1e9
    return report(results, seconds: seconds, at: clock.timeText)
  }

  private func staleResult(_ key: GoldenLibrary.Key) -> CaseResult {
    let why =
      project.definition(named: key.testCase) == nil
      ? "case '\(key.testCase)' is not in \(Project.fileName)"
      : "no suite runs it on '\(key.session)'"
    return CaseResult(
      selected: SelectedCase(
        definition: CaseDefinition(name: key.testCase, pipeline: "-"), session: key.session),
      comparison: .stale(key, why: why), golden: library.folder(key),
      actual: library.folder(key).pending)
  }

  /// The cases that `run` would test, in the same order, and the stale goldens. No case is run, and
  /// no pipeline is read.
  ///
  /// - Throws: `SuiteError` for a selection that cannot be made.
  package func listing() throws -> [ListedCase] {
    let (selected, stale) = try cases()
    return selected.map { ListedCase($0) } + stale.map { ListedCase(stale: $0) }
  }

  /// The selected cases, and the selected goldens that no suite produces.
  ///
  /// - Throws: `SuiteError` for a selection that cannot be made.
  func cases() throws -> (selected: [SelectedCase], stale: [GoldenLibrary.Key]) {
    let selected = try selectedCases()
    return (selected, staleKeys(selected))
  }

  /// The selected cases, and the cases that have a golden but no recording: they cannot be run,
  /// which is an error.
  private func selectedCases() throws -> [SelectedCase] {
    let recordings = MissingRecordings(project: project, library: library)
    var selected: [SelectedCase] = []
    do {
      selected = try selection.resolve(in: project)
    } catch let error as SuiteError {
      guard error.facts.kind == .nothingSelected else { throw error }
      // Without any recording no case is selected, and only the goldens name the recordings.
      selected = recordings.cases(of: selection, besides: [])
      guard !selected.isEmpty else { throw error }
      return selected
    }
    selected = selected.map { recordings.explained($0) }
    return selected + recordings.cases(of: selection, besides: Set(selected.map(\.key)))
  }

  /// Runs the cases of one session one after the other, so that the next case can reuse the values
  /// that the previous case computed.
  private func replay(
    _ selected: [SelectedCase], _ runner: CaseRunner
  ) throws -> [CaseResult] {
    guard jobs > 1 else {
      return try selected.map { item in
        try runner.run(item) { progress(item.key.description, $0, $1) }
      }
    }
    // Sorted, because a Dictionary has no order.
    let groups = Dictionary(grouping: selected.indices) { selected[$0].session }.values
      .sorted { $0[0] < $1[0] }
    let shared = SuiteProgress(cases: selected.count, tell: progress)
    let done = try CaseSchedule(jobs: jobs).run(
      groups, bytes: { $0.count * Self.mediaBytes(ofSession: selected[$0[0]].session) },
      body: { group in
        try group.map { index in
          let result = try runner.run(selected[index]) {
            shared.update(index, done: $0, total: $1)
          }
          shared.end(index)
          return (index, result)
        }
      })
    // In the order of the selection, so that the report is the same for any number of jobs.
    return done.joined().sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The size of a session's media in bytes: a rough measure of the duration of its cases.
  private static func mediaBytes(ofSession folder: String) -> Int {
    let media = folder + "/media"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: media)) ?? []
    return names.reduce(0) { sum, name in
      var status = stat()
      return stat("\(media)/\(name)", &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  private func runner(
    _ library: GoldenLibrary, _ cache: CacheFolder?, _ scratch: URL,
    sessions selected: [SelectedCase]
  ) -> CaseRunner {
    let atOnce = max(1, min(jobs, Set(selected.map(\.session)).count))
    var options = options
    if sharesProcessors { options.workers = RunOptions.workers(sharedBy: atOnce) }
    return CaseRunner(
      project: project, library: library, pendingRoot: pendingRoot,
      isPendingOptional: pendingFolder == nil, scratch: scratch,
      traces: traceFolder.map { URL(fileURLWithPath: project.path($0)) },
      options: options, cache: cache, memory: memory ?? (atOnce > 1 ? .ofMachine : nil),
      refusesDamage: refusesDamage)
  }

  private func staleKeys(_ selected: [SelectedCase]) -> [GoldenLibrary.Key] {
    // A golden of another suite is not stale. If another suite cannot be read, its goldens are
    // unknown, so no golden is reported as stale.
    guard let all = try? Selection.ofAllSuites(in: project) else { return [] }
    let recordings = MissingRecordings(project: project, library: library)
    return library.stale(
      isSelected: { selection.includes($0, in: project) && !recordings.includes($0) },
      existing: Set((selected + all).map(\.key)))
  }

  private func report(
    _ results: [CaseResult], seconds: Double, at time: String
  ) -> Outcome {
    let statuses = results.map { $0.exitStatus(isCI: isCI) }
    let status = ExitStatus.strongest(statuses) ?? .nothingCompared
    var builder = ReportBuilder(project: project, goldens: goldens, program: program, isCI: isCI)
    builder.suite = selection.suite
    let cases = results.map { builder.makeCase($0) }
    var document = ReportDocument(
      tool: ReportTool(version: Tool.version), title: "retake test",
      exit: ReportExit(code: Int(status.rawValue)), cases: cases)
    document.generatedAt = time
    document.environment = environment(results)
    let frames = results.reduce(0) { $0 + ($1.summary?.frames.captured ?? 0) }
    document.totals.wallSeconds = seconds
    document.totals.framesPerSecond = seconds > 0 ? Double(frames) / seconds : nil
    document.totals.cache = results.compactMap { $0.summary?.cache }.map { ReportCache($0) }
      .reduce(nil) { sum, use in sum.map { $0 + use } ?? use }
    document.notes = notes + pendingNotes(results)
    document.nameCommands(ProgramName(program))
    var outcome = Outcome(status: status, document: document)
    outcome.warnings = project.slowness(document.totals.framesPerSecond).map { [$0] } ?? []
    outcome.failing = zip(document.cases, statuses).filter { $1 != .passed }.map(\.0)
    outcome.frames = frames
    outcome.writeReport(to: reportFolder.map { project.path($0) })
    return outcome
  }

  private func environment(_ results: [CaseResult]) -> [EnvironmentRow] {
    // The most exact one: only cases with models name the class of kernels.
    let platform =
      results.map(\.platform.description).max { $0.count < $1.count }
      ?? PlatformKey.current.description
    var golden: [String: String] = [:]
    var actual: [String: String] = [:]
    for result in results {
      // Goldens may be of several ages. The order of the results is fixed, so the same entry is
      // shown in every run.
      let platform = result.platform.description
      golden.merge(result.golden.environment(platform)) { first, _ in first }
      actual.merge(result.actual.environment(platform)) { first, _ in first }
    }
    let rows = Set(golden.keys).union(actual.keys).sorted().map {
      EnvironmentRow($0, golden: golden[$0], actual: actual[$0])
    }
    return [EnvironmentRow("platform", golden: golden.isEmpty ? nil : platform, actual: platform)]
      + rows
  }

  /// Notes about differing results that could not be left pending next to their goldens.
  private func pendingNotes(_ results: [CaseResult]) -> [String] {
    let lost = results.filter {
      // A case that did not run has no result that could be pending.
      $0.pendingRefusal != nil && $0.summary != nil && $0.comparison.verdict != .passed
    }
    guard let first = lost.first, let cause = first.pendingRefusal else { return [] }
    let more = lost.count > 1 ? " and \(lost.count - 1) more" : ""
    return [
      "no pending golden of \(first.selected.key)\(more): \(library.root.path) cannot be written "
        + "(\(cause)). Name another place: RETAKE_PENDING_DIR=DIR"
    ]
  }

  private var library: GoldenLibrary {
    GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
  }

  /// The root folder of pending goldens; `nil` if the run writes no pending goldens.
  private var pendingRoot: URL? {
    if let pendingFolder { return URL(fileURLWithPath: project.path(pendingFolder)) }
    return isCI ? nil : library.root
  }
}

/// Where a run keeps its files until they are compared: a folder that no other run reads.
private struct RunFolder {
  let url: URL
  private let scratch: ScratchFolder
  private let made: NewFolders?

  /// - Parameter folder: A folder in which files can become pending without a copy, if it is
  ///   writable.
  init(preferring folder: URL?) throws {
    // Before `ScratchFolder` makes the missing folders.
    let made = folder.map { NewFolders(upTo: $0) }
    if let folder, let scratch = try? ScratchFolder(in: folder) {
      (self.scratch, self.made, url) = (scratch, made, scratch.url)
    } else {
      // A project that cannot be written is still tested, in the temporary folder.
      scratch = try .temporary()
      (self.made, url) = (nil, scratch.url)
    }
  }

  func remove() {
    scratch.remove()
    made?.removeEmpty()
  }
}
