import Foundation
import RetakeCore
import RetakeGolden
import RetakeRuntime

/// Finds the first commit that shows a root cause. Implements `retake bisect`.
///
/// git chooses the commits. Each is checked out into a worktree in a temporary folder, built there by
/// the user's command and tested there by a `retake` program. Session, golden and retake.yml are the
/// working tree's at every commit; pipelines, models, programs and code are the commit's.
package struct Bisection {
  /// The most files of the first bad commit that are listed.
  static let filesMax = 100
  /// The time limit of one build or test, in seconds.
  private static let secondsMax = 86_400.0

  package var project: Project
  package var selected: SelectedCase
  /// Its id; `nil` means the first divergence at `bad`.
  package var rootCause: String?
  /// A git revision without the root cause.
  package var good: String
  package var bad = "HEAD"
  /// Builds a commit, in the project's folder of the worktree.
  package var build: [String]
  /// The program that tests, relative to the project's folder of the worktree; `nil` means this one.
  package var program: String?
  /// More words for `retake test`.
  package var testOptions: [String] = []
  /// The folder of the goldens; the project's if `nil`.
  package var goldens: String?
  /// The program name in commands.
  package var toolName = Tool.name
  package var isInterrupted: @Sendable () -> Bool = { false }
  /// Receives a line about each commit.
  package var note: (String) -> Void = { _ in }

  package init(
    _ selected: SelectedCase, in project: Project, good: String, build: [String]
  ) {
    (self.project, self.selected, self.good, self.build) = (project, selected, good, build)
  }

  /// - Throws: `SuiteError` with a code `suite.bisect.…` or `suite.diff.noRevision`, and
  ///   `RuntimeError.interrupted`. The worktree is removed in any case.
  package func run() throws -> BisectionReport {
    try selected.check()
    let git = Git(folder: project.folder, isInterrupted)
    let (good, bad) = (try commit(good, git), try commit(bad, git))
    let count = try git.run(
      ["rev-list", "--count", "\(good)..\(bad)"], self.bad, failure: "git failed")
    guard let commits = Int(count), commits > 0 else {
      throw SuiteError(
        "suite.bisect.order", "there is no commit after '\(self.good)' up to '\(self.bad)'",
        advice: "Name a commit without the root cause, and a later one with it")
    }
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    let tree = scratch.file("tree").path
    _ = try git.run(
      Self.quietly + ["worktree", "add", "--quiet", "--detach", "--no-checkout", tree, bad],
      self.bad, failure: "git cannot make a worktree")
    defer { removeTree(tree) }
    var search = BisectionSearch(
      self, tree: tree, prefix: try git.run(["rev-parse", "--show-prefix"], bad, failure: ""),
      goldens: try copyGolden(into: scratch), reports: scratch.file("report").path)
    return try search.run(good: good, bad: bad, commits: commits)
  }

  /// No hook of the repository runs, and no one is asked.
  fileprivate static let quietly = [
    "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false",
  ]

  private func commit(_ revision: String, _ git: Git) throws -> String {
    try git.run(
      ["rev-parse", "--verify", "--quiet", "--end-of-options", "\(revision)^{commit}"],
      revision, failure: "the repository has no such revision")
  }

  /// Also after an interruption.
  private func removeTree(_ tree: String) {
    let git = Git(folder: project.folder) { false }
    _ = try? git.call(["worktree", "remove", "--force", "--force", tree], bad)
    try? FileManager.default.removeItem(atPath: tree)
    _ = try? git.call(["worktree", "prune"], bad)
  }

  /// The golden stays the same, whatever the user accepts in the meantime.
  private func copyGolden(into scratch: ScratchFolder) throws -> String {
    let key = selected.key
    let folder = URL(fileURLWithPath: goldens ?? project.goldens)
    let golden = GoldenLibrary(root: folder).folder(key)
    guard golden.exists else {
      throw SuiteError(
        "suite.bisect.noGolden", "the case '\(key)' has no golden", at: golden.url.path,
        advice: "Accept one at a commit without the root cause: retake accept --reason \"why\"")
    }
    let copy = scratch.file("Goldens/\(key)")
    do {
      try FileManager.default.createDirectory(
        at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: golden.url, to: copy)
    } catch {
      throw SuiteError.notWritable(path: copy.path, cause: error.systemText)
    }
    return scratch.file("Goldens").path
  }

  // MARK: one commit

  /// Runs a command in the worktree.
  ///
  /// - Parameter variables: Set for this command alone.
  fileprivate func process(
    _ words: [String], in folder: String, _ variables: [String: String] = [:]
  ) throws -> BoundedProcess.Result {
    var environment = ProcessInfo.processInfo.environment
    // Of a hook that called this command.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] { environment[name] = nil }
    environment.merge(variables) { $1 }
    let result: BoundedProcess.Result
    do {
      result = try BoundedProcess(
        executable: "/usr/bin/env", arguments: words, environment: environment, folder: folder,
        secondsMax: Self.secondsMax, isInterrupted: isInterrupted
      ).run()
    } catch {
      throw SuiteError(
        "suite.bisect.notStarted", "'\(words.first ?? "")' cannot be started",
        cause: error.systemText, advice: "Check the command after --")
    }
    if result.end == .interrupted { throw RuntimeError.interrupted }
    return result
  }
}

/// The search: git's state in the worktree, and the verdict on each tested commit.
private struct BisectionSearch {
  private enum Outcome {
    case rootCauses([String])
    case untestable(String)
  }

  /// The most characters of a reason.
  private static let reasonMax = 400

  private let bisection: Bisection
  private let git: Git
  /// The project's folder in the worktree.
  private let folder: String
  private let goldens: String
  private let reports: String
  private var rootCause: String?
  private var steps: [BisectionReport.Step] = []

  init(_ bisection: Bisection, tree: String, prefix: String, goldens: String, reports: String) {
    self.bisection = bisection
    git = Git(folder: tree, bisection.isInterrupted)
    folder = "\(tree)/\(prefix)"
    (self.goldens, self.reports) = (goldens, reports)
    rootCause = bisection.rootCause
  }

  mutating func run(good: String, bad: String, commits: Int) throws -> BisectionReport {
    let rootCause = try showRootCause(at: bad)
    var candidates = [bad]
    if commits > 1 { candidates = try search(good: good, bad: bad, commits: commits) }
    // `good` is only tested if no other commit has shown that the root cause was once absent.
    if candidates.count == 1, !steps.contains(where: { $0.verdict == .good }),
      try step(good) == .bad
    {
      throw SuiteError(
        "suite.bisect.goodShows", "'\(bisection.good)' shows the root cause '\(rootCause)' as well",
        advice: "Name an earlier commit with --good")
    }
    let key = bisection.selected.key.description
    return BisectionReport(
      key: key, rootCause: rootCause, good: good, bad: bad, commits: commits, steps: steps,
      first: candidates.count == 1 ? try describe(candidates[0]) : nil, candidates: candidates,
      command: candidates.count == 1
        ? "git show \(candidates[0])" : "git log \(candidates.joined(separator: " ")) --no-walk")
  }

  /// - Returns: The id of the root cause that is searched for.
  private mutating func showRootCause(at bad: String) throws -> String {
    let key = bisection.selected.key
    switch try test(bad) {
    case .untestable(let reason):
      throw SuiteError(
        "suite.bisect.badUntestable", "'\(bisection.bad)' cannot be built and tested",
        cause: reason,
        advice: "Name another commit with --bad, or correct the command after --")
    case .rootCauses(let found):
      guard let id = rootCause ?? found.first, found.contains(id) else {
        throw SuiteError(
          "suite.bisect.badShowsNot",
          found.isEmpty
            ? "'\(key)' passes at '\(bisection.bad)'"
            : "'\(key)' does not show '\(rootCause ?? "")' at '\(bisection.bad)'",
          advice: found.isEmpty
            ? "Name a commit whose result changed with --bad"
            : "Its root causes are: \(found.prefix(10).joined(separator: ", "))")
      }
      rootCause = id
      try add(bad, .bad, found.filter { $0 != id })
      return id
    }
  }

  /// - Returns: The commits of which one is the first; a single one if it was found.
  private mutating func search(good: String, bad: String, commits: Int) throws -> [String] {
    try bisect(["start", "--no-checkout", bad, good])
    // Bounded: each round tests a commit that was not tested before. git may also test merge bases.
    for _ in 0..<(2 * commits + 2) {
      let (left, candidates) = try candidates()
      if left.isEmpty { return candidates }
      let next = try git.run(
        ["rev-parse", "BISECT_HEAD"], bad, failure: "git bisect has no commit")
      switch try step(next) {
      case .good: try bisect(["good", next])
      case .bad: try bisect(["bad", next])
      case .skipped: try bisect(["skip", next])
      }
    }
    throw failed("git bisect does not end")
  }

  private func bisect(_ words: [String]) throws {
    let result = try git.call(["bisect"] + words, bisection.bad)
    // 2: only skipped commits are left, which `candidates` sees.
    guard ![0, 2].contains(result.status) else { return }
    throw failed(result.end)
  }

  private func failed(_ cause: String) -> SuiteError {
    SuiteError(
      "suite.bisect.git", "git cannot bisect from '\(bisection.good)' to '\(bisection.bad)'",
      cause: cause, advice: "Name a commit without the root cause that is an ancestor of the other")
  }

  /// The commits that may be the first, the newest first, and the commits among them that were not tested.
  private func candidates() throws -> (left: [String], all: [String]) {
    let bad = try git.run(["rev-parse", "refs/bisect/bad"], bisection.bad, failure: "git failed")
    let goods = try git.call(
      ["for-each-ref", "--format=%(objectname)", "refs/bisect/good-*"], bisection.bad)
    let listed = try git.call(["rev-list", bad, "--not"] + goods.lines, bisection.bad)
    guard listed.status == 0 else { throw failed(listed.end) }
    let tested = Set(steps.map(\.commit))
    return (listed.lines.filter { !tested.contains($0) }, listed.lines)
  }

  private mutating func step(_ commit: String) throws -> BisectionReport.Step.Verdict {
    switch try test(commit) {
    case .untestable(let reason):
      try add(commit, .skipped, [reason])
      return .skipped
    case .rootCauses(let found):
      let isBad = rootCause.map(found.contains) ?? false
      try add(commit, isBad ? .bad : .good, found.filter { $0 != rootCause })
      return isBad ? .bad : .good
    }
  }

  private mutating func add(
    _ commit: String, _ verdict: BisectionReport.Step.Verdict, _ details: [String]
  ) throws {
    let subject = try git.run(["show", "-s", "--format=%s", commit], commit, failure: "git failed")
    let detail = details.isEmpty ? nil : details.prefix(5).joined(separator: ", ")
    steps.append(.init(commit: commit, subject: subject, verdict: verdict, detail: detail))
    bisection.note(
      "build \(steps.count): \(commit.prefix(10)) \(verdict.rawValue)  \(subject)"
        + (detail.map { "  (\($0))" } ?? ""))
  }

  // MARK: one commit

  private func test(_ commit: String) throws -> Outcome {
    // Products of the last build stay, so that the next build compiles changed files only.
    _ = try git.run(
      Bisection.quietly + ["checkout", "--quiet", "--force", "--detach", commit], commit,
      failure: "it cannot be checked out")
    guard FileManager.default.fileExists(atPath: folder) else {
      return .untestable("it has no folder of the project")
    }
    let built = try bisection.process(bisection.build, in: folder)
    guard built.end == .exited(0) else { return .untestable("build: \(Self.text(built))") }
    let (file, copy) = (
      URL(fileURLWithPath: bisection.project.path(Project.fileName)),
      URL(fileURLWithPath: folder).appending(path: Project.fileName)
    )
    do {
      // It may be a link, which would lead elsewhere.
      try? FileManager.default.removeItem(at: copy)
      try Data(contentsOf: file).write(to: copy)
    } catch {
      throw SuiteError.notWritable(path: copy.path, cause: error.systemText)
    }
    try? FileManager.default.removeItem(atPath: reports)
    // In CI no pending golden is written.
    let tested = try bisection.process(
      testCommand, in: folder, ["CI": "true", "GITHUB_ACTIONS": "false"])
    if tested.end == .exited(0) { return .rootCauses([]) }
    guard tested.end == .exited(1), let found = reportedRootCauses() else {
      return .untestable("test: \(reportedError ?? Self.text(tested))")
    }
    return .rootCauses(found)
  }

  private var testCommand: [String] {
    let own = NewProcessRuns.ownExecutable
    let program = bisection.program.map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }
    let name = bisection.selected.definition.name
    return [
      program ?? URL(fileURLWithPath: own).resolvingSymlinksInPath().path, "test",
      bisection.selected.session, "--pipeline", name, "--goldens", goldens, "--report", reports,
    ] + bisection.testOptions
  }

  /// From the report's file, because programs of other versions may print something else.
  private var reportedCase: JSONValue? {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: "\(reports)/report.json")),
      case .array(let cases)? = try? JSONValue(parsing: data)["cases"]
    else { return nil }
    return cases.first
  }

  private func reportedRootCauses() -> [String]? {
    guard case .array(let found)? = reportedCase?["rootCauses"] else { return nil }
    return found.compactMap { if case .string(let id)? = $0["id"] { id } else { nil } }
  }

  /// Why the case could not be tested, in words.
  private var reportedError: String? {
    guard let error = reportedCase?["error"] else { return nil }
    let parts = ["message", "cause"].compactMap { key -> String? in
      if case .string(let text)? = error[key] { text } else { nil }
    }
    let lines = parts.joined(separator: ": ").split(whereSeparator: \.isNewline)
    return lines.isEmpty ? nil : String(lines.joined(separator: " ").prefix(Self.reasonMax))
  }

  private static func text(_ result: BoundedProcess.Result) -> String {
    let end =
      switch result.end {
      case .exited(let status): "exit status \(status)"
      case .signalled(let number): "signal \(number)"
      case .stopped, .interrupted: "it did not end"
      }
    let words = result.closingResponse.suffix(200)
    return words.isEmpty ? end : "\(end): \(words)"
  }

  private func describe(_ commit: String) throws -> BisectionReport.Commit {
    let facts = try git.call(["show", "-s", "--format=%an%n%aI%n%s", commit], commit)
    let files = try git.call(
      ["show", "-m", "--first-parent", "--name-only", "--format=", commit], commit)
    guard facts.status == 0, facts.lines.count >= 2 else { throw failed(facts.end) }
    return BisectionReport.Commit(
      hash: commit, author: facts.lines[0], authorDate: facts.lines[1],
      subject: facts.lines.dropFirst(2).joined(separator: " "),
      files: Array(files.lines.prefix(Bisection.filesMax)))
  }
}
