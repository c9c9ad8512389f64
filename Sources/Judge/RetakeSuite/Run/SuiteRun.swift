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
  /// The part of the cases to run; all if `nil`.
  package var shard: ShardNumber?
  /// The plan of all shards. Without it, each shard makes the same plan from the selection.
  package var plan: (file: String, content: ShardPlan)?
  /// Where the results of the shard are written for `ShardMerge`.
  package var blobFile: String?
  /// Where each case of the shard has its result; cases that have one are not run.
  private var store: ShardStore?
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

    /// The cases that ended their processes and are not tried again.
    package var poisoned: [ReportCase] {
      document.cases.filter { $0.error?.code == ShardError.poisonCode }
    }

    /// If the report cannot be written, the status is also that of an error.
    ///
    /// - Parameters:
    ///   - folder: Relative to the project.
    ///   - project: `nil` for runs of no project: then the folder is relative to the process's.
    mutating func writeReport(to folder: String?, of project: Project?) {
      guard let folder else { return }
      do {
        files = try ReportFolder.write(
          document, to: URL(fileURLWithPath: project?.path(folder) ?? folder),
          place: project?.placeInRepository ?? "")
      } catch {
        fail(error)
      }
    }

    /// If the blob cannot be written, the run ends with an error, too. A shard whose disks failed is
    /// run again, and has no blob.
    mutating func write(_ blob: ShardBlob, to file: String) {
      guard status != .infrastructure else {
        warnings.append("\(file) was not written: run this shard again")
        return
      }
      do {
        try blob.write(to: file)
      } catch {
        loseBlob(error)
      }
    }

    /// The shard is run again if the disk of the blob has failed.
    mutating func loseBlob(_ error: any Error) {
      fail(error)
      if let reportError, Infrastructure.isCause(of: reportError) { end(.infrastructure) }
    }

    private mutating func fail(_ error: any Error) {
      reportError = error as? any CodedError ?? ErrorFacts(ofUser: error)
      end(.error)
    }

    /// Ends with this status, unless the run has a stronger one.
    private mutating func end(_ failure: ExitStatus) {
      guard ExitStatus.strongest([status, failure]) == failure, status != failure else { return }
      status = failure
      document.exit = ReportExit(code: Int(status.rawValue))
      // No case has failed, and the code alone would say so.
      document.exit.meaning =
        "The cases were run, but a file with their results could not be written"
        + (failure == .infrastructure ? "; run the test again." : ".")
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
    for folder in [reportFolder, traceFolder, pendingFolder, goldens, blobFile] {
      if let folder { try project.requireOwn(folder) }
    }
    if let reportFolder {
      try ReportFolder.check(URL(fileURLWithPath: project.path(reportFolder)))
    }
    let selected = try chosen ?? selectedCases()
    // A rule for a sink that does not exist would never be used, and the real sink would be
    // compared without it.
    try project.checkRules(and: selection.definition)
    if let blobFile { try ShardBlob.prepare(project.path(blobFile)) }
    let share = try shard.map { try self.share($0, of: selected) }
    let known = share.map { knownRecords($0) } ?? [:]
    let missing = (share?.selected ?? selected).filter { known[$0.key.description] == nil }
    // Sessions that only other shards replay are not fetched.
    let (pulled, leases) = try project.pulled(missing)
    // The report reads images of the sessions after the last case.
    defer { withExtendedLifetime(leases) {} }
    var run = self
    let cache = try openCache { run.notes.append($0) }
    return try run.run(pulled, share, known, cache)
  }

  /// Runs the cases of one shard that have no result in a store, and keeps their results there.
  /// Cases of sessions outside of the folder Recordings have an error.
  ///
  /// - Parameter folder: The store, as an absolute path.
  /// - Throws: As `run`, `SuiteError.noStore`, and `.notWritable` for a store that cannot be written.
  package mutating func run(
    _ shard: ShardNumber, of plan: (file: String, content: ShardPlan), store folder: String
  ) throws -> Outcome {
    // A shared disk that is not mounted: the results would be on the disk of this machine.
    guard FileManager.default.fileExists(atPath: folder) else { throw SuiteError.noStore(folder) }
    (self.shard, self.plan) = (shard, plan)
    selection.suite = plan.content.suite
    store = ShardStore(folder: folder, plan: plan.content)
    let recordings = MissingRecordings(project: project, library: library)
    chosen = plan.content.items(of: shard.number).filter { $0.stale != true }.map {
      recordings.explained(SelectedCase(planned: GoldenLibrary.Key(planned: $0), in: project))
    }
    return try run()
  }

  /// The records of a shard's cases that have a result in the store, by key.
  private func knownRecords(_ share: Share) -> [String: CaseRecord] {
    guard let store, let shard else { return [:] }
    var known: [String: CaseRecord] = [:]
    for item in share.plan.items(of: shard.number) { known[item.key] = store.record(of: item) }
    // Loads the library of models only for results of models.
    let usesModels = known.values.contains { $0.libraries[GoldenWriter.Plan.modelLibrary] != nil }
    let own = GoldenWriter.Plan.libraries(
      models: usesModels ? project.registry.annexes.models : nil)
    // Results of other versions cannot be merged with results of this machine.
    return known.filter { $0.value.libraries.allSatisfy { own[$0.key] == $0.value } }
  }

  /// The cases of one shard.
  private struct Share {
    var plan: ShardPlan
    var selected: [SelectedCase]
    var stale: [GoldenLibrary.Key]
  }

  private func share(_ shard: ShardNumber, of selected: [SelectedCase]) throws -> Share {
    // The plan of `run-shard` names the stale goldens, too.
    let stale =
      chosen == nil
      ? staleKeys(selected)
      : (plan?.content.items ?? []).filter { $0.stale == true }.map { .init(planned: $0) }
    var planner = ShardPlanner(project: project, library: library)
    let own =
      try plan?.content
      ?? planner.plan(selected, stale: stale, shards: shard.count, suite: selection.suite)
    let keys = Set(own.items(of: shard.number).map(\.key))
    let share = Share(
      plan: own, selected: selected.filter { keys.contains($0.key.description) },
      stale: stale.filter { keys.contains($0.description) })
    if let plan {
      try check(share, shard, plan.file, all: selected.map(\.key) + stale, &planner)
    }
    return share
  }

  /// Compares a plan with this project: the program, the names of all cases, and the content of the
  /// shard's cases.
  ///
  /// - Throws: `shard.plan.differs`.
  private func check(
    _ share: Share, _ shard: ShardNumber, _ file: String, all: [GoldenLibrary.Key],
    _ planner: inout ShardPlanner
  ) throws {
    let plan = share.plan
    guard plan.shards == shard.count else {
      throw ShardError.otherCount(shard.count, planned: plan.shards, file: file)
    }
    guard plan.suite == selection.suite else {
      throw ShardError.otherSuite(selection.suite, planned: plan.suite, file: file)
    }
    let fresh = try planner.plan([], stale: [], shards: 1)
    guard plan.build == fresh.build, plan.project == fresh.project else {
      let name = plan.build == fresh.build ? Project.fileName : "this program"
      throw ShardError.otherItem(name, file: file, problem: "is not as the plan has it")
    }
    let planned = Set(plan.items.map(\.key))
    let known = chosen == nil ? Set(all.map(\.description)) : planned
    if let key = plan.items.map(\.key).first(where: { !known.contains($0) }) {
      throw ShardError.otherItem(key, file: file, problem: "is in the plan, and is not selected")
    }
    if let key = all.map(\.description).first(where: { !planned.contains($0) }) {
      throw ShardError.otherItem(key, file: file, problem: "is selected, and is not in the plan")
    }
    let items = Dictionary(plan.items.map { ($0.key, $0) }) { first, _ in first }
    for selected in share.selected {
      let item = try planner.item(selected)
      guard let planned = items[item.key], planned.agrees(with: item) else {
        let what = items[item.key].map { ": \($0.difference(from: item)) differs" } ?? ""
        throw ShardError.otherItem(
          item.key, file: file, problem: "is not as the plan has it\(what)")
      }
    }
  }

  /// The plan of the selected cases.
  ///
  /// - Parameters:
  ///   - shards: From 1 to `ShardPlan.shardsMax`.
  ///   - timings: An earlier report, from which durations are predicted.
  ///   - note: Called if cases cannot be opened here, so that the plan lacks their files.
  /// - Throws: `SuiteError` for a selection that cannot be made, and for a session that must be read
  ///   and cannot be fetched; `RuntimeError.interrupted`.
  package func makePlan(
    shards: Int, timings: ReportDocument?, note: (String) -> Void = { _ in }
  ) throws -> ShardPlan {
    let (selected, stale) = try cases()
    var planner = ShardPlanner(project: project, library: library, timings: timings)
    let plan = try planner.plan(
      selected, stale: stale, shards: shards, suite: selection.suite)
    if let failure = planner.storeFailure { throw failure }
    if let (key, reason) = planner.unopened.first {
      let error = reason as? any CodedError ?? reason.facts
      note(
        "\(counted(planner.unopened.count, "case")) cannot be opened here, and the plan lacks "
          + "\(planner.unopened.count == 1 ? "its" : "their") files: \(key): \(error.message)"
          + (error.cause.map { " (\($0))" } ?? ""))
    }
    return plan
  }

  private func run(
    _ selected: [SelectedCase], _ share: Share?, _ known: [String: CaseRecord],
    _ cache: CacheFolder?
  ) throws -> Outcome {
    let scratch = try RunFolder(preferring: pendingRoot)
    defer { scratch.remove() }
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    let runner = runner(library, cache, scratch.url, sessions: selected)
    var records: [CaseRecord]
    if let share, let store, let shard {
      records = try self.records(selected, share.plan.items(of: shard.number), known, store, runner)
    } else {
      var results = try replay(selected, jobs: jobs) { try runner.run($0, progress: $1) }
      if chosen == nil {
        results += (share?.stale ?? staleKeys(selected)).map { staleResult($0) }
        if let pendingRoot {
          let pending = results.filter { $0.pendingIdentity != nil }.map(\.selected.key)
          LastTest(root: pendingRoot, keys: pending).write(to: project)
        }
      }
      var builder = builder
      records = results.map { CaseRecord($0, builder.makeCase($0), isCI: isCI) }
    }
    let seconds = Double(clock.monotonicNanoseconds - start) / 1e9
    return outcome(report(records, seconds: seconds, at: clock.timeText), share)
  }

  /// The records of a shard's items, of which some are known.
  private func records(
    _ selected: [SelectedCase], _ items: [ShardPlan.Item], _ known: [String: CaseRecord],
    _ store: ShardStore, _ runner: CaseRunner
  ) throws -> [CaseRecord] {
    let keeper = ShardKeeper(
      store: store, runner: runner, builder: builder,
      report: report([], seconds: 0, at: WallClock().timeText))
    let planned = Dictionary(items.map { ($0.key, $0) }) { first, _ in first }
    let attempts = planned.mapValues { known[$0.key] == nil ? store.attempts(at: $0) : 0 }
    var records = known
    // A case that was in a killed process may have killed it, and is then run alone.
    for isSuspect in [false, true] {
      let group = selected.filter { (attempts[$0.key.description] ?? 0 > 0) == isSuspect }
      let done = try replay(group, jobs: isSuspect ? 1 : jobs) { selected, progress in
        let key = selected.key.description
        return try planned[key].map {
          try keeper.record(of: $0, after: attempts[key] ?? 0, selected, progress: progress)
        }
      }
      for case let record? in done { records[record.item.title] = record }
    }
    for item in items where item.stale == true {
      records[item.key] = try keeper.record(of: item) { staleResult(.init(planned: item)) }
    }
    return items.compactMap { records[$0.key] }
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
  private func replay<Result: Sendable>(
    _ selected: [SelectedCase], jobs: Int,
    _ run: @escaping @Sendable (SelectedCase, @escaping (Int, Int) -> Void) throws -> Result
  ) throws -> [Result] {
    guard jobs > 1 else {
      return try selected.map { item in
        try run(item) { progress(item.key.description, $0, $1) }
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
          let result = try run(selected[index]) {
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
    let (expected, suites) = (ExpectedCases(of: selection, in: project), recordings.suites())
    return library.stale(
      isSelected: { expected.includes($0) && !recordings.includes($0, in: suites) },
      existing: Set((selected + all).map(\.key)))
  }

  private var builder: ReportBuilder {
    var builder = ReportBuilder(project: project, goldens: goldens, program: program, isCI: isCI)
    builder.suite = selection.suite
    return builder
  }

  private func report(
    _ records: [CaseRecord], seconds: Double, at time: String
  ) -> SuiteReport {
    SuiteReport(
      records: records, notes: notes, goldens: library.root.path, program: program,
      seconds: seconds, time: time)
  }

  private func outcome(_ report: SuiteReport, _ share: Share?) -> Outcome {
    // A plan may have fewer cases than shards.
    var outcome = report.outcome(empty: share == nil ? .nothingCompared : .passed)
    let speed = outcome.document.totals.framesPerSecond
    outcome.warnings = project.slowness(speed).map { [$0] } ?? []
    if let share, let shard, let blobFile {
      let blob = ShardBlob(plan: share.plan, shard: shard.number, report: report)
      outcome.write(blob, to: project.path(blobFile))
    }
    outcome.writeReport(to: reportFolder, of: project)
    return outcome
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
