import Foundation
import RetakeCore
import RetakeGolden

/// The requested sessions and cases.
package struct Selection: Sendable {
  /// Names, paths or globs, each followed by `/CASE` to select one case of the project; empty is
  /// all sessions that the suite names.
  package var sessions: [String] = []
  /// Cases by name; empty is all.
  package var cases: [String] = []
  package var suite: String?
  /// A case that the project does not define.
  package var definition: CaseDefinition?

  package init(sessions: [String] = [], cases: [String] = []) {
    self.sessions = sessions
    self.cases = cases
  }

  /// The cases to run, sorted by session and case. A case of the project that cannot be run has a
  /// problem, and does not keep others from being run.
  ///
  /// - Throws: `SuiteError` for requested names that do not exist, `nothingSelected` for an empty
  ///   result.
  package func resolve(in project: Project) throws -> [SelectedCase] {
    try checkCases(in: project)
    let result = try found(in: project)
    guard !result.isEmpty else {
      if let problem = project.recordingsProblem { throw problem }
      throw SuiteError.nothingSelected(
        description(in: project),
        advice: advice(in: project))
    }
    return try distinct(result)
  }

  private func found(in project: Project) throws -> [SelectedCase] {
    var result: [SelectedCase] = []
    if let definition, hasOwnFrames(definition, in: project) {
      result = [SelectedCase(withOwnFrames: definition, in: project)]
    } else if let definition {
      let names = sessions.isEmpty ? ["*"] : sessions
      for path in try paths(names, in: project) {
        result.append(SelectedCase(definition: definition, session: path))
      }
    } else {
      for entry in try entries(in: project) { result += try resolve(entry, in: project) }
    }
    return result
  }

  /// Whether a case that the project does not define runs once, and on no session. A person who names
  /// a session gets the case on it.
  func hasOwnFrames(_ definition: CaseDefinition, in project: Project) -> Bool {
    definition.source != nil || sessions.isEmpty && project.hasOwnFrames(definition)
  }

  /// The cases that any suite runs; without suites, each case on each session. A golden that only
  /// one suite produces is not stale in another.
  ///
  /// - Throws: `SuiteError`, but not for a suite that selects no case.
  static func ofAllSuites(in project: Project) throws -> [SelectedCase] {
    var all: [SelectedCase] = []
    for selection in allSuites(of: project) {
      do {
        all += try selection.resolve(in: project)
      } catch let error as SuiteError {
        // Another suite may have the cases.
        guard error.facts.kind == .nothingSelected else { throw error }
      }
    }
    return all
  }

  /// A selection for each suite; without suites, the selection of all cases.
  static func allSuites(of project: Project) -> [Selection] {
    // Sorted, because the order of a Dictionary differs between runs.
    let suites = project.suites.isEmpty ? [nil] : project.suites.keys.sorted().map { Optional($0) }
    return suites.map { suite in
      var selection = Selection()
      selection.suite = suite
      return selection
    }
  }

  /// Each case of each session once.
  private func distinct(_ cases: [SelectedCase]) throws -> [SelectedCase] {
    var paths: [GoldenLibrary.Key: String] = [:]
    var result: [SelectedCase] = []
    for var item in cases {
      do {
        try Project.checkName(ofSession: item.session)
      } catch let error as SuiteError {
        // A person who names the session gets an error at once. A session that only a glob finds
        // must not keep the other cases from running.
        guard definition == nil, sessions.isEmpty else { throw error }
        item.problem = item.problem ?? error
      }
      let known = paths.updateValue(item.session, forKey: item.key)
      // Both would have one golden, and each would be compared with the other's results.
      if let known, known != item.session {
        throw SuiteError(
          "suite.select.sameName",
          "two sessions are named '\(item.sessionName)': \(known) and \(item.session)",
          advice: "Test them one after the other, with different folders for --goldens")
      }
      if known == nil { result.append(item) }
    }
    return result
  }

  func entries(in project: Project) throws -> [SuiteEntry] {
    for name in cases where project.definition(named: name) == nil {
      throw SuiteError.noCase(name, known: project.cases.map(\.name))
    }
    if let suite {
      guard let entries = project.suites[suite] else {
        throw SuiteError(
          "suite.select.noSuite", "there is no suite '\(suite)'",
          advice: Suggestion.advice(for: suite, among: project.suites.keys.sorted()))
      }
      return entries
    }
    if let entries = project.suites["default"] { return entries }
    return [SuiteEntry(sessions: ["*"], cases: project.cases.map(\.name))]
  }

  private func resolve(
    _ entry: SuiteEntry, in project: Project
  ) throws -> [SelectedCase] {
    let own = entry.cases.compactMap { project.definition(named: $0) }
      .filter { project.hasOwnFrames($0) }
      .map { SelectedCase(withOwnFrames: $0, in: project) }
    let isNamed = !own.isEmpty && !project.sessionNames.contains(CaseDefinition.ownFrames)
    // By path; an empty name means all cases.
    var wanted: [String: Set<String>] = [:]
    for item in self.wanted(in: project)
    where !(isNamed && item.session == CaseDefinition.ownFrames) {
      for path in try paths([item.session], in: project) {
        wanted[path, default: []].insert(item.testCase ?? "")
      }
    }
    var result = own.filter { item in
      (cases.isEmpty || cases.contains(item.definition.name))
        && (sessions.isEmpty || self.wanted(in: project).contains { $0.includes(item.key) })
    }
    let ownNames = Set(own.map(\.definition.name))
    for session in try entry.sessions.flatMap({ try found($0, in: project) }) {
      for name in entry.cases
      where (cases.isEmpty || cases.contains(name)) && !ownNames.contains(name) {
        let isWanted =
          sessions.isEmpty
          || wanted[session.path].map { !$0.isDisjoint(with: ["", name]) } ?? false
        guard isWanted, let definition = project.definition(named: name) else { continue }
        result.append(
          SelectedCase(definition: definition, session: session.path, problem: session.problem))
      }
    }
    return result
  }

  /// An element of `sessions`, split into its parts.
  struct Wanted {
    var session: String
    var testCase: String?

    func includes(_ key: GoldenLibrary.Key) -> Bool {
      Glob.matches(session, key.session) && (testCase ?? key.testCase) == key.testCase
    }
  }

  func wanted(in project: Project) -> [Wanted] {
    sessions.map { text in
      let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      // A folder with this path is meant before a case: `yard/motion` may be a session.
      guard parts.count == 2, definition == nil, project.definition(named: parts[1]) != nil,
        !FileManager.default.fileExists(atPath: project.path(text))
      else { return Wanted(session: text) }
      return Wanted(session: parts[0], testCase: parts[1])
    }
  }

  /// In `yard/moton` it is the case that does not exist, not a session of that name.
  private func checkCases(in project: Project) throws {
    guard definition == nil else { return }
    for item in wanted(in: project) where item.testCase == nil {
      let parts = item.session.split(separator: "/", omittingEmptySubsequences: false)
        .map(String.init)
      guard parts.count == 2,
        !FileManager.default.fileExists(atPath: project.path(item.session)),
        project.sessionNames.contains(parts[0])
      else { continue }
      throw SuiteError.noCase(parts[1], known: project.cases.map(\.name))
    }
  }

  /// The sessions that a suite entry names, or the problem of a name that does not exist.
  private func found(
    _ name: String, in project: Project
  ) throws -> [(path: String, problem: SuiteError?)] {
    do {
      return try paths([name], in: project).map { ($0, nil) }
    } catch let error as SuiteError {
      // The path where it should be, so that the case with the error has a key in the report.
      return [("\(project.recordings)/\(name)", error)]
    }
  }

  /// The folders of the requested sessions. Sessions of stores are not fetched.
  ///
  /// - Throws: `SuiteError` for a name that does not exist, and if nothing is requested.
  func sessionPaths(in project: Project) throws -> [String] {
    var seen: Set<String> = []
    let found = try paths(sessions, in: project).filter { seen.insert($0).inserted }
    guard !found.isEmpty else {
      throw SuiteError.nothingSelected("no session in \(project.recordings) fits")
    }
    return found
  }

  /// A glob may match no session; a name must exist.
  private func paths(_ names: [String], in project: Project) throws -> [String] {
    var result: [String] = []
    for name in names {
      if Glob.isPattern(name) {
        result += project.sessionNames.filter { Glob.matches(name, $0) }
          .map { "\(project.recordings)/\($0)" }
      } else {
        result.append(try project.sessionPlace(name))
      }
    }
    return result
  }

  private func advice(in project: Project) -> String? {
    if !project.hasFile, definition == nil {
      return "Go to the folder of your project, or make this one a project: retake init"
    }
    let others = suitesThatFit(in: project)
    if !others.isEmpty {
      let (noun, verb) = others.count == 1 ? ("suite", "runs") : ("suites", "run")
      let options = others.map { "--suite \($0.shellWord)" }.joined(separator: ", or ")
      return
        "The \(noun) \(others.map { "'\($0)'" }.joined(separator: ", ")) \(verb) it: \(options)"
    }
    guard project.sessionNames.isEmpty else { return nil }
    return "Make a session: retake import clip.mp4, or: retake record synthetic:figures"
  }

  /// The other suites in which this selection runs at least one case, in the order of their names.
  private func suitesThatFit(in project: Project) -> [String] {
    guard definition == nil else { return [] }
    return project.suites.keys.sorted().filter { name in
      var selection = self
      selection.suite = name
      return name != suite ?? "default" && (try? selection.found(in: project))?.isEmpty == false
    }
  }

  private func description(in project: Project) -> String {
    if sessions.isEmpty, project.sessionNames.isEmpty, definition != nil || !project.cases.isEmpty {
      return "there is no session in \(project.recordings)"
    }
    if definition == nil, project.cases.isEmpty {
      return project.hasFile
        ? "retake.yml names no cases"
        : "there is no retake.yml in \(project.folder), and no --pipeline was given"
    }
    let named = sessions.joined(separator: ", ")
    let names = wanted(in: project).map(\.session)
    if definition == nil, !names.isEmpty, (try? paths(names, in: project))?.isEmpty == false {
      let what = cases.isEmpty ? "no case" : "none of \(cases.joined(separator: ", "))"
      return "the suite '\(suite ?? "default")' runs \(what) on \(named)"
    }
    return sessions.isEmpty
      ? "no session in \(project.recordings) fits" : "no session fits \(named)"
  }
}
