import RetakeGolden

/// The cases that a selection would run if their sessions and cases existed. Made once for many
/// goldens, because a project may have thousands of them, and of sessions.
struct ExpectedCases {
  private struct Entry {
    var sessions: SessionNames
    var cases: Set<String>
  }

  private let selection: Selection
  private let project: Project
  /// The key of the case of the selection that reads no session.
  private let ownKey: GoldenLibrary.Key?
  /// The sessions of the selection.
  private let sessions: SessionNames
  /// Sessions of the selection that are named with one case.
  private let sessionsByCase: [String: SessionNames]
  /// The entries of the suite; `nil` if the project does not have the suite or the cases.
  private let entries: [Entry]?
  /// The cases of the entries that read no session.
  private let ownFrames: Set<String>

  init(of selection: Selection, in project: Project) {
    (self.selection, self.project) = (selection, project)
    let wanted = selection.wanted(in: project)
    sessions = SessionNames(wanted.filter { $0.testCase == nil }.map(\.session))
    sessionsByCase = Dictionary(grouping: wanted) { $0.testCase ?? "" }.mapValues {
      SessionNames($0.map(\.session))
    }
    guard selection.definition == nil, let entries = try? selection.entries(in: project) else {
      ownKey = selection.definition.flatMap { definition in
        selection.hasOwnFrames(definition, in: project)
          ? SelectedCase(withOwnFrames: definition, in: project).key : nil
      }
      (self.entries, ownFrames) = (nil, [])
      return
    }
    ownKey = nil
    self.entries = entries.map {
      Entry(sessions: SessionNames($0.sessions), cases: Set($0.cases))
    }
    ownFrames = Set(entries.flatMap(\.cases)).filter { name in
      project.definition(named: name).map { project.hasOwnFrames($0) } ?? false
    }
  }

  /// Whether the selection would run this case.
  func includes(_ key: GoldenLibrary.Key) -> Bool {
    if let definition = selection.definition {
      if let ownKey { return key == ownKey }
      return definition.name == key.testCase
        && (selection.sessions.isEmpty || sessions.includes(key.session))
    }
    guard let entries, isWanted(key) else { return false }
    if let definition = project.definition(named: key.testCase), hasOwnFrames(definition) {
      return key.session == CaseDefinition.ownFrames
        && entries.contains { $0.cases.contains(key.testCase) }
    }
    return selection.suite == nil || entries.contains { $0.sessions.includes(key.session) }
  }

  private func isWanted(_ key: GoldenLibrary.Key) -> Bool {
    guard selection.cases.isEmpty || selection.cases.contains(key.testCase) else { return false }
    return selection.sessions.isEmpty || sessions.includes(key.session)
      || sessionsByCase[key.testCase]?.includes(key.session) == true
  }

  private func hasOwnFrames(_ definition: CaseDefinition) -> Bool {
    // A case of no entry is not in the set.
    ownFrames.contains(definition.name)
      || entries?.contains { $0.cases.contains(definition.name) } == false
        && project.hasOwnFrames(definition)
  }

  /// The case that would produce this golden if its session existed; `nil` if no case would.
  func definition(of key: GoldenLibrary.Key) -> CaseDefinition? {
    guard includes(key) else { return nil }
    // A case that reads no session has no missing recording.
    if let definition = selection.definition { return ownKey == nil ? definition : nil }
    guard key.session != CaseDefinition.ownFrames else { return nil }
    let isExpected = entries?.contains {
      $0.cases.contains(key.testCase) && $0.sessions.includes(key.session)
    }
    return isExpected == true ? project.definition(named: key.testCase) : nil
  }
}

/// Names of sessions, and globs.
private struct SessionNames {
  private let names: Set<String>
  private let globs: [String]

  init(_ texts: [String]) {
    names = Set(texts.filter { !Glob.isPattern($0) })
    globs = texts.filter { Glob.isPattern($0) }
  }

  func includes(_ session: String) -> Bool {
    names.contains(session) || globs.contains { Glob.matches($0, session) }
  }
}
