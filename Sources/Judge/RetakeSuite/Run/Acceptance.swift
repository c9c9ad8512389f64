import Foundation
package import RetakeCompare
package import RetakeCore
package import RetakeGolden
import RetakeGraph
import RetakeMedia
import RetakeProcess
import RetakeReplay
import RetakeReport
import RetakeRuntime
import RetakeSession

/// Accepts or rejects pending goldens. Implements `retake accept`, `reject` and `review`.
package struct Acceptance {
  /// A pending golden, and the change if it is accepted or rejected.
  package struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    package var key: String
    /// `new`, `changed`, or `replaced` if it cannot be compared with the golden of the same name;
    /// `alternate` if an alternate was added next to a golden.
    package var kind: String
    /// Ids of the root causes that are accepted or rejected.
    package var rootCauses: [String]
    /// Ids of the root causes that are still pending.
    package var left: [String] = []
    /// The number of frames that change.
    package var frames: Int
    /// All frames of the result.
    package var captured = 0
    /// Captured frames that failed at a stage and therefore have no results at a sink.
    package var failed = 0
    /// Captured frames that the session calls damaged, and that therefore have no results; `nil` if
    /// the result has no such frames.
    package var damaged: GoldenManifest.Damage?
    /// The differences between the inputs that the two goldens describe, such as another session;
    /// empty if both describe the same inputs.
    package var replaces: [String] = []
    /// Whether the results came closer to the session's labels, in words; `nil` without labels.
    package var labels: String?
    /// Whether they came closer: the sum of the errors fell.
    package var isBetter: Bool?
    /// A step that makes the next test use the golden; `nil` if the project needs no change.
    package var advice: String?
  }

  package var project: Project
  package var goldens: String?
  package var pendingFolder: String?
  /// `session`, `session/case`, globs of both; empty is all.
  package var keys: [String] = []
  /// Ids of root causes, such as `motion@0:12`, or globs of them; empty is all.
  package var rootCauses: [String] = []
  /// Stages of root causes, or globs of them; empty is all.
  package var stages: [String] = []
  /// Accept as an alternate for this platform only. The golden stays in use for all other
  /// platforms.
  package var asAlternate = false
  /// By key, the pending result that was reviewed: if the pending result is no longer the same, it
  /// is not changed. A key without an entry is used as it is found.
  package var seen: [String: Digest128] = [:]
  package var isCI = false
  /// Whether, without keys, root causes and stages, only pending goldens of the last test are
  /// chosen.
  package var isOfLastTest = false
  /// Whether a pending golden may replace a golden with another description, such as another
  /// session of the same name. If `false`, that is an error.
  package var replacesOthers = false
  /// Whether only results that came closer to the labels of their session are accepted. The words
  /// about the labels are then a reason.
  package var onlyBetter = false

  package init(project: Project) {
    self.project = project
  }

  /// The platform for whose goldens a pending result counts.
  private func platform(of pending: PendingGolden) -> String {
    // A manifest that cannot be read is an error of the comparison.
    (try? pending.folder.manifest())?.platform ?? PlatformKey.current.description
  }

  private var library: GoldenLibrary {
    GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
  }

  private var pendingLibrary: GoldenLibrary {
    pendingFolder.map { GoldenLibrary(root: URL(fileURLWithPath: project.path($0))) } ?? library
  }

  private var choosesRootCauses: Bool { !rootCauses.isEmpty || !stages.isEmpty }

  /// Accepts the chosen pending goldens.
  ///
  /// - Parameters:
  ///   - reason: Stored in golden.yml.
  ///   - isDryRun: If `true`, returns the items and changes no file.
  /// - Throws: `SuiteError`, with a code `suite.accept.…`; `GoldenError`. Nothing is accepted in
  ///   these cases.
  package func run(reason: String, isDryRun: Bool = false) throws -> [Item] {
    let reason = reason.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !reason.isEmpty || onlyBetter else { throw SuiteError.missingReason }
    guard !isCI || isDryRun else { throw SuiteError.acceptInCI }
    guard !(asAlternate && choosesRootCauses) else { throw SuiteError.partialAlternate }
    // For the readers of golden.yml: no comparison uses it.
    let date = WallClock().dateText
    let chosen = try self.chosenBetter()
    for waiting in chosen { try requirePresentInputs(waiting) }
    // Before the first pending golden is accepted, so that the error leaves all goldens as they
    // were. An alternate is added to the goldens and replaces no golden.
    if !replacesOthers, !asAlternate, !isDryRun,
      let other = chosen.first(where: { !$0.item.replaces.isEmpty })?.item
    {
      throw SuiteError(
        "suite.accept.replacesOther",
        "the golden of '\(other.key)' would be replaced, not changed: "
          + other.replaces.joined(separator: "; "),
        advice: "To keep that golden, restore its files if they are damaged, or rename the session "
          + "or the case; then test again. To replace it: "
          + "retake accept \(other.key) --replace --reason \"why\"")
    }
    return try chosen.map { waiting in
      var item = waiting.item
      // The golden of the other platforms stays.
      if asAlternate, !waiting.alternate.exists { (item.kind, item.replaces) = ("alternate", []) }
      if isDryRun { return item }
      func entry(_ rootCauses: [String], _ frames: Int, _ largest: Double)
        -> GoldenManifest.Acceptance
      {
        // At most 20 rootCauses: golden.yml has one line for each acceptance, and a run any number
        // of causes.
        GoldenManifest.Acceptance(
          at: date, reason: reason.isEmpty ? "labels: \(item.labels ?? "better")" : reason,
          rootCauses: Array(rootCauses.prefix(20)), frames: frames,
          maxError: largest)
      }
      if item.left.isEmpty {
        let target = asAlternate ? waiting.alternate : waiting.golden
        try target.accept(
          entry(item.rootCauses, item.frames, waiting.largest), from: waiting.pending.folder)
        // If it cannot be removed, no harm is done: it now equals the golden.
        _ = try? waiting.pending.discard()
      } else {
        let split = try waiting.golden.accept(
          from: waiting.pending.folder, options: .withImages, rootCauses: { isChosen($0) }
        ) {
          entry($0.map(\.id), $1, $0.map(\.largest).max() ?? 0)
        }
        // Another acceptance may have accepted the other root causes in the meantime.
        if split.left.isEmpty { _ = try? waiting.pending.discard() }
      }
      return item
    }
  }

  /// Removes pending goldens, or only the changes that follow from the chosen root causes. A
  /// rejected result can no longer be accepted.
  ///
  /// - Throws: As `run(reason:isDryRun:)`.
  package func reject(isDryRun: Bool = false) throws -> [Item] {
    // A separate pending folder is an artifact of CI, and not among the goldens.
    guard !isCI || isDryRun || pendingFolder != nil else { throw SuiteError.rejectInCI }
    return try chosen().map { waiting in
      if isDryRun { return waiting.item }
      if waiting.item.left.isEmpty {
        guard try waiting.pending.discard() else {
          throw GoldenError.pendingChanged(folder: waiting.pending.origin.url.path)
        }
        Self.removeEmptyFolders(of: waiting.pending)
      } else {
        _ = try waiting.golden.reject(
          from: waiting.pending, options: .withImages, rootCauses: { isChosen($0) })
      }
      return waiting.item
    }
  }

  /// Removes the folders of the case and of the session if they are empty. They may still contain a
  /// golden or a user's notes.
  private static func removeEmptyFolders(of pending: PendingGolden) {
    var folder = pending.origin.url.standardizedFileURL
    for _ in 0..<2 {
      // `rmdir` removes only empty folders.
      guard rmdir(folder.path) == 0 else { return }
      folder.deleteLastPathComponent()
    }
  }

  /// The pending goldens, with all root causes of each golden.
  ///
  /// - Throws: `SuiteError.nothingPending`, `suite.accept.notPending`.
  package func waiting() throws -> [Comparison] { try waitingResults().map(\.comparison) }

  /// The same, with an identity that distinguishes each result from another.
  func waitingResults() throws -> [(comparison: Comparison, identity: Digest128)] {
    // All copies share a folder. Each copy holds it, so it is removed with the last copy.
    let scratch = try ScratchFolder.temporary()
    return try selectedKeys().compactMap { key in
      guard let pending = try pending(key, in: scratch) else { return nil }
      let golden = library.folder(key).fitting(platform(of: pending))
      return (compare(golden, pending.folder), pending.identity)
    }
  }

  /// The current pending golden; `nil` if a run has removed it since it was found.
  private func pending(
    _ key: GoldenLibrary.Key, in scratch: ScratchFolder
  ) throws -> PendingGolden? {
    do {
      // Later the golden is written in the first folder, and the pending result removed from the
      // second.
      try library.requireOwn(key)
      try pendingLibrary.requireOwn(key)
      let pending = try PendingGolden(pendingLibrary.folder(key).pending, in: scratch)
      guard let seen = seen[key.description], seen != pending.identity else { return pending }
      throw GoldenError.pendingChanged(folder: pending.origin.url.path)
    } catch let error as GoldenError {
      if case .nothingPending = error { return nil }
      throw error
    }
  }

  private func compare(_ golden: GoldenFolder, _ pending: GoldenFolder) -> Comparison {
    GoldenComparator(
      golden: golden, actual: pending, options: .withImages, labels: labels(golden, pending)
    ).outcome()
  }

  /// Scores both sides; `nil` without labels, or without the session.
  private func labels(
    _ golden: GoldenFolder, _ pending: GoldenFolder
  ) -> GoldenComparator.LabelMeter? {
    guard let manifest = try? pending.manifest() else { return nil }
    var result = CaseResult(golden: golden, actual: pending, manifest)
    result.addSources(manifest, project)
    return (try? CaseLabels(project, result))?.compare
  }

  // MARK: choosing

  /// A pending golden that was chosen, entirely or with some of its root causes.
  private struct Waiting {
    var item: Item
    var largest = 0.0
    var golden: GoldenFolder
    var alternate: GoldenFolder
    var pending: PendingGolden
  }

  /// - Throws: `SuiteError.noRootCause` for a root cause or a stage that no pending golden has.
  private func chosen() throws -> [Waiting] {
    // Pending goldens are moved and removed, which must not happen through a link.
    if let pendingFolder { try project.requireOwn(pendingFolder) }
    try project.requireOutside(library.root.path)
    let scratch = try ScratchFolder.temporary()
    let all = try selectedKeys().compactMap { try look($0, in: scratch) }
    guard !all.isEmpty else { throw SuiteError.nothingPending }
    guard choosesRootCauses else { return all }
    let known = all.flatMap { $0.item.rootCauses + $0.item.left }
    // Without this check, a misspelt root cause would accept no golden and look like a success.
    for pattern in rootCauses where !known.contains(where: { Glob.matches(pattern, $0) }) {
      throw SuiteError.noRootCause(pattern, known: Set(known).sorted())
    }
    let knownStages = known.map { String($0.prefix { $0 != "@" }) }
    for pattern in stages where !knownStages.contains(where: { Glob.matches(pattern, $0) }) {
      throw SuiteError.noRootCause(pattern, known: Set(knownStages).sorted())
    }
    return all.filter { !$0.item.rootCauses.isEmpty }
  }

  /// The chosen results; with `onlyBetter`, only if they came closer to the labels.
  ///
  /// - Throws: `suite.accept.notBetter` if no result did.
  private func chosenBetter() throws -> [Waiting] {
    let all = try chosen()
    guard onlyBetter else { return all }
    let better = all.filter { $0.item.isBetter == true }
    guard better.isEmpty else { return better }
    let texts = all.map {
      "\($0.item.key) (\($0.item.labels ?? "not scored: no labels, no golden, or another pipeline than now"))"
    }
    throw SuiteError(
      "suite.accept.notBetter",
      "no pending result is better by its labels: \(SuiteError.list(texts))",
      advice: "See the frames: retake test --report report; to accept all the same, leave out "
        + "--if-better and say why: --reason \"why\"")
  }

  private func isChosen(_ root: RootCause) -> Bool {
    (rootCauses.isEmpty || rootCauses.contains { Glob.matches($0, root.id) })
      && (stages.isEmpty || stages.contains { Glob.matches($0, root.stage ?? "") })
  }

  /// The keys that match the patterns. Each pattern must match at least one.
  private func selectedKeys() throws -> [GoldenLibrary.Key] {
    let pending = pendingLibrary.pendingKeys()
    guard !pending.isEmpty else { throw SuiteError.nothingPending }
    for pattern in keys where !pending.contains(where: { Self.fits(pattern, $0) }) {
      throw SuiteError(
        "suite.accept.notPending", "no pending golden fits '\(pattern)'",
        advice: Suggestion.advice(for: pattern, among: pending.map(\.description)))
    }
    guard keys.isEmpty else {
      return pending.filter { key in keys.contains { Self.fits($0, key) } }
    }
    let earlier = earlierKeys(pending)
    guard earlier.count < pending.count else {
      let keys = earlier.map(\.description)
      throw SuiteError(
        "suite.accept.notOfLastTest",
        "no golden is pending from the last 'retake test', only from earlier tests: "
          + SuiteError.list(keys),
        advice: "Test them again: retake test; or name them: retake accept "
          + "\((keys.first ?? "").shellWord) --reason \"why\"")
    }
    return pending.filter { !earlier.contains($0) }
  }

  /// Pending goldens that an earlier test left, as `session/case`, in order.
  package var leftByEarlierTests: [String] {
    earlierKeys(pendingLibrary.pendingKeys()).map(\.description)
  }

  /// The pending goldens that are not chosen, because the last test did not run their case.
  private func earlierKeys(_ pending: [GoldenLibrary.Key]) -> [GoldenLibrary.Key] {
    guard isOfLastTest, keys.isEmpty, !choosesRootCauses,
      let last = LastTest(reading: project, root: pendingLibrary.root)
    else { return [] }
    let known = Set(last.keys)
    return pending.filter { !known.contains($0.description) }
  }

  static func fits(_ pattern: String, _ key: GoldenLibrary.Key) -> Bool {
    Glob.matches(pattern, pattern.contains("/") ? key.description : key.session)
  }

  private func look(_ key: GoldenLibrary.Key, in scratch: ScratchFolder) throws -> Waiting? {
    guard let pending = try pending(key, in: scratch) else { return nil }
    let platform = platform(of: pending)
    let golden = library.folder(key).fitting(platform)
    try check(pending)
    let advice = try advice(key, pending)
    let alternate = library.folder(key).alternate(platform)
    let summary = try pending.folder.manifest().summary
    let failed = try pending.folder.failedFrames()
    func waitsAsAWhole(_ kind: String, replaces: [String] = []) -> Waiting {
      Waiting(
        item: Item(
          key: key.description, kind: kind, rootCauses: [], frames: summary.captured,
          captured: summary.captured, failed: failed, damaged: summary.damaged, replaces: replaces,
          advice: advice),
        golden: golden, alternate: alternate, pending: pending)
    }
    // A golden without root causes is chosen entirely or not at all.
    guard golden.exists else { return waitsAsAWhole("new") }
    let comparison = compare(golden, pending.folder)
    if comparison.verdict == .notComparable {
      return waitsAsAWhole("replaced", replaces: comparison.reasons)
    }
    // The comparison failed, so no one has seen the differences.
    if comparison.verdict == .errored {
      return waitsAsAWhole("replaced", replaces: [Self.damage(of: golden)])
    }
    let counts = comparison.counts
    let (rootCauses, left) = (
      comparison.rootCauses.filter { isChosen($0) }, comparison.rootCauses.filter { !isChosen($0) }
    )
    let own = comparison.findings.filter { finding in
      // A finding without a root cause counts only if every root cause is chosen.
      finding.root.map { isChosen(comparison.rootCauses[$0]) } ?? left.isEmpty
    }
    // A finding may cover many lost or inserted frames, so findings are not counted as frames.
    let frames =
      left.isEmpty
      ? counts.changed + counts.missing + counts.inserted : Set(own.compactMap(\.frame)).count
    return Waiting(
      item: Item(
        key: key.description, kind: "changed", rootCauses: rootCauses.map(\.id),
        left: left.map(\.id),
        frames: frames, captured: summary.captured, failed: failed, damaged: summary.damaged,
        labels: comparison.labels.map { ReportLabels($0).text },
        isBetter: comparison.labels?.change.map { $0.word == .better }, advice: advice),
      largest: own.compactMap(\.magnitude).max() ?? 0, golden: golden, alternate: alternate,
      pending: pending)
  }

  /// A result of an older pipeline or session, or of files that have changed since, must not become
  /// the present golden.
  ///
  /// - Throws: `suite.accept.outdated`.
  private func requirePresentInputs(_ waiting: Waiting) throws {
    let manifest = try waiting.pending.folder.manifest()
    // The rest of a result that was rejected in parts: it has the golden's pipeline, and names the
    // golden's acceptances, which no result of a run does.
    let accepted = manifest.accepted.isEmpty ? nil : try? waiting.golden.manifest()
    guard let changed = changedInput(since: manifest, accepted) else { return }
    // A session of this name outside of Recordings may have been tested; `replaces` shows that, and
    // `--replace` asks for it.
    if changed == .session, !waiting.item.replaces.isEmpty { return }
    if changed != .pipeline, replacesOthers { return }
    let isOfProject = project.definition(named: manifest.testCase.name) != nil
    let arguments =
      isOfProject
      ? waiting.item.key.shellWord
      : "\(manifest.input.session.shellWord) --pipeline \(manifest.testCase.pipeline.shellWord)"
    throw SuiteError(
      "suite.accept.outdated",
      "the pending result of '\(waiting.item.key)' is of \(changed.text)",
      advice: "Test again: retake test \(arguments)"
        + changed.advice)
  }

  private enum ChangedInput: Equatable {
    case pipeline
    case session
    /// Files, as the golden or the case names them.
    case files([String])

    var text: String {
      switch self {
      case .pipeline: "another pipeline than now"
      case .session: "another session than now"
      case .files(let files): "other files than now: \(SuiteError.list(files))"
      }
    }

    var advice: String {
      switch self {
      case .pipeline: ""
      case .session: "; for a session outside of Recordings, add --replace"
      case .files: "; for a result of other files on another machine, add --replace"
      }
    }
  }

  /// `nil` if all are the present inputs, or if the present inputs cannot be read here: a program of
  /// its own may define the pipeline, and the session may be on another machine.
  ///
  /// - Parameter accepted: The golden of a result that was rejected in parts, because it is a change
  ///   of that golden; nil for any other result.
  private func changedInput(
    since manifest: GoldenManifest, _ accepted: GoldenManifest?
  ) -> ChangedInput? {
    let input = manifest.input
    // A pipeline with its own frames has no session. With --source, it is not the file's pipeline.
    let hasSession = input.digest != .zero
    let pipeline =
      hasSession || input.session == CaseDefinition.ownFrames
      ? try? project.pipeline(manifest.testCase.pipeline) : nil
    if let pipeline,
      ![pipeline.digest, accepted?.pipeline.digest].contains(manifest.pipeline.digest)
    {
      return .pipeline
    }
    let reader =
      hasSession
      ? (try? project.sessionPath(input.session)).flatMap { try? SessionReader(opening: $0) } : nil
    if let digest = try? reader?.inputDigest(tracks: input.tracks.values.sorted()),
      digest != input.digest
    {
      return .session
    }
    let files =
      changedPrograms(since: manifest, accepted)
      + changedFiles(of: pipeline, since: manifest, accepted)
      + changedCosts(since: manifest.testCase, reader)
    return files.isEmpty ? nil : .files(files)
  }

  /// Files of programs with other contents now. Which modules a program imports is only known when
  /// it runs, so these are the files that the run has noted. A missing file may be on another machine.
  private func changedPrograms(
    since manifest: GoldenManifest, _ accepted: GoldenManifest?
  ) -> [String] {
    manifest.programs.keys.sorted().filter { path in
      let digest = manifest.programs[path]
      guard accepted?.programs[path] != digest,
        let present = Self.digest(ofProgramFile: path, in: project)
      else { return false }
      return present != digest
    }
  }

  /// SHA-256 of a file, folder or program in PATH that `GoldenManifest.programs` names.
  static func digest(ofProgramFile name: String, in project: Project) -> String? {
    for path in [project.path(name), ChildProcess.path(of: name)].compactMap(\.self) {
      if case .contents(let digest)? = TreeDigest(of: path) { return digest }
    }
    return nil
  }

  /// Models and stored results of the present pipeline that have other contents.
  private func changedFiles(
    of pipeline: Pipeline?, since manifest: GoldenManifest, _ accepted: GoldenManifest?
  ) -> [String] {
    guard let pipeline else { return [] }
    let present = Replay.files(of: pipeline)
    func changes(_ old: [String: String], _ accepted: [String: String]?) -> [String] {
      old.keys.sorted().filter { name in
        present[name] != nil && ![present[name], accepted?[name]].contains(old[name])
      }
    }
    return changes(manifest.models, accepted?.models) + changes(manifest.files, accepted?.files)
  }

  /// The timings and the device profile of the case, if the result has the same kind of costs with
  /// other contents. The command line may have chosen costs of another kind.
  private func changedCosts(
    since testCase: GoldenManifest.Case, _ reader: SessionReader?
  ) -> [String] {
    guard let definition = project.definition(named: testCase.name),
      definition.mode.rawValue == testCase.mode,
      let costs = try? definition.costs.load(session: reader, path: { try project.costPath($0) })
    else { return [] }
    // `timings:1a2b3c4d+profile:slow-phone@5e6f7a8b`
    func kinds(_ text: String) -> [Substring] {
      text.split(separator: "+").map { $0.prefix { $0 != ":" } }
    }
    guard costs.text != testCase.costs, kinds(costs.text) == kinds(testCase.costs) else {
      return []
    }
    let session = definition.costs.readsSession ? ["the stage times of the session"] : []
    return session + definition.costs.files
  }

  /// The next `retake test` does not run a case that was only named on a command line.
  private func advice(_ key: GoldenLibrary.Key, _ pending: PendingGolden) throws -> String? {
    guard project.hasFile, project.definition(named: key.testCase) == nil else { return nil }
    let pipeline = JSONValue.string(try pending.folder.manifest().testCase.pipeline).canonicalText
    return
      "retake.yml has no case '\(key.testCase)', so the next 'retake test' calls this golden stale. "
      + "To keep it, write under 'cases': \(key.testCase): {pipeline: \(pipeline)}"
  }

  /// Which file of an accepted golden cannot be read, and why. No advice: the caller has its own.
  private static func damage(of golden: GoldenFolder) -> String {
    let unread = "the old golden could not be read"
    do {
      _ = try GoldenComparator(golden: golden, actual: golden).compare()
      return unread
    } catch let error as GoldenError {
      return "\(unread): \(error.place.map { "\($0): " } ?? "")\(error.message)"
    } catch {
      return "\(unread): \(error.causeText)"
    }
  }

  /// A pending golden that was damaged after it was written must not be accepted. Errors name the
  /// pending file.
  private func check(_ pending: PendingGolden) throws {
    do {
      _ = try GoldenComparator(golden: pending.folder, actual: pending.folder).compare()
    } catch {
      // The error above names a temporary copy. The same check of the original names the file that
      // a person can find.
      _ = try GoldenComparator(golden: pending.origin, actual: pending.origin).compare()
      throw error
    }
  }
}
