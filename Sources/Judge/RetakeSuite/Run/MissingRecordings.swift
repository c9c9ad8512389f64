import Foundation
import RetakeGolden
import RetakeSession

/// Goldens whose recording is not on this disk.
///
/// Such a golden is not stale: somebody else has the recording, or the disk with it is not mounted.
struct MissingRecordings {
  let project: Project
  let library: GoldenLibrary
  private let sessions: Set<String>

  init(project: Project, library: GoldenLibrary) {
    (self.project, self.library) = (project, library)
    sessions = Set(project.sessionNames)
  }

  /// The cases that a selection would run if their recordings were here.
  ///
  /// - Parameter existing: The cases that are selected already.
  func cases(of selection: Selection, besides existing: Set<GoldenLibrary.Key>) -> [SelectedCase] {
    let expected = ExpectedCases(of: selection, in: project)
    return library.keys().compactMap { key in
      guard !sessions.contains(key.session), !existing.contains(key),
        let definition = expected.definition(of: key)
      else { return nil }
      return SelectedCase(
        definition: definition, session: "\(project.recordings)/\(key.session)",
        problem: problem(key))
    }
  }

  /// The cases of all suites, for `includes`.
  func suites() -> [ExpectedCases] {
    Selection.allSuites(of: project).map { ExpectedCases(of: $0, in: project) }
  }

  /// Whether any suite would produce this golden if its recording were here.
  func includes(_ key: GoldenLibrary.Key, in suites: [ExpectedCases]) -> Bool {
    !sessions.contains(key.session) && suites.contains { $0.definition(of: key) != nil }
  }

  /// A case whose session a suite names and whose golden is here: the name is right, and the
  /// recording is not here.
  func explained(_ selected: SelectedCase) -> SelectedCase {
    guard selected.problem?.code == "suite.select.noSession", library.folder(selected.key).exists
    else {
      return selected
    }
    var selected = selected
    selected.problem = problem(selected.key)
    return selected
  }

  func problem(_ key: GoldenLibrary.Key) -> SuiteError {
    project.recordingsProblem
      ?? .noRecording(
        key.session, golden: key.description, folder: project.recordings, link: deadLink(key))
  }

  /// Whether it is not known that the recording is gone: its disk is not mounted, or its folder
  /// cannot be read.
  func isUnknown(_ key: GoldenLibrary.Key) -> Bool {
    project.recordingsProblem != nil || deadLink(key) != nil
  }

  private func deadLink(_ key: GoldenLibrary.Key) -> String? {
    SessionFolder.deadLink("\(project.recordings)/\(key.session)")
  }
}
