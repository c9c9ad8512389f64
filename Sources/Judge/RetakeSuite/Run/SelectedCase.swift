import Foundation
import RetakeCore
package import RetakeGolden

/// One case on one session, selected to be run.
package struct SelectedCase: Hashable, Sendable {
  package var definition: CaseDefinition
  /// The session's folder. If the case has its own frames, only the last component is used: it
  /// replaces the name of a session.
  package var session: String
  /// Whether the case replays the session; `false` if it has its own frames.
  private(set) var readsSession: Bool
  /// Why it cannot be run: the project names a session that does not exist, or whose name a golden
  /// cannot have.
  package var problem: SuiteError?

  package init(definition: CaseDefinition, session: String, problem: SuiteError? = nil) {
    self.definition = definition
    self.session = session
    self.problem = problem
    readsSession = true
  }

  /// A case that reads no session.
  init(withOwnFrames definition: CaseDefinition, in project: Project) {
    let name = definition.source?.name ?? CaseDefinition.ownFrames
    self.init(definition: definition, session: "\(project.recordings)/\(name)")
    readsSession = false
  }

  /// A case of a plan. A case or a session that the project does not have is a problem.
  init(planned key: GoldenLibrary.Key, in project: Project) {
    guard let definition = project.definition(named: key.testCase) else {
      let problem = SuiteError.noCase(key.testCase, known: project.cases.map(\.name))
      self.init(
        definition: CaseDefinition(name: key.testCase, pipeline: "-"),
        session: "\(project.recordings)/\(key.session)", problem: problem)
      return
    }
    guard !project.hasOwnFrames(definition) else {
      self.init(withOwnFrames: definition, in: project)
      return
    }
    self.init(definition: definition, session: "\(project.recordings)/\(key.session)")
    do {
      try Project.checkName(ofSession: session)
      session = try project.sessionPlace(key.session)
    } catch {
      problem = error as? SuiteError ?? SuiteError(facts: ErrorFacts(ofUser: error))
    }
  }

  /// - Throws: `problem`, if it cannot be run.
  package func check() throws {
    if let problem { throw problem }
  }

  /// The session's folder; `nil` if the case has its own frames.
  package var sessionRead: String? { readsSession ? session : nil }
  package var sessionName: String { URL(fileURLWithPath: session).lastPathComponent }
  package var key: GoldenLibrary.Key {
    GoldenLibrary.Key(session: sessionName, testCase: definition.name)
  }
}
