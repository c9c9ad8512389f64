import Foundation
import RetakeCore
import RetakeGolden

/// Goldens that no suite of the project produces any longer. Implements `retake golden list
/// --stale`.
package struct StaleGoldens {
  package struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    package var key: String
    /// `session` if the session no longer exists, else `case`.
    package var missing: String
    package var path: String
  }

  package var project: Project
  package var goldens: String?
  /// `session`, `session/case`, globs of both; empty is all.
  package var keys: [String] = []

  package init(project: Project) {
    self.project = project
  }

  private var library: GoldenLibrary {
    GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
  }

  /// A golden of the project.
  package struct Golden: Hashable, Sendable, Codable {
    /// `session/case`.
    package var key: String
    package var path: String
  }

  /// All goldens that the keys select, stale goldens as well.
  ///
  /// - Throws: `suite.stale.noGolden`.
  package func all() throws -> [Golden] {
    let known = library.keys()
    try requireKnown(known)
    return known.filter { isMeant($0) }.map {
      Golden(key: $0.description, path: library.folder($0).url.path)
    }
  }

  private func requireKnown(_ goldens: [GoldenLibrary.Key]) throws {
    for pattern in keys
    where !Glob.isPattern(pattern) && !goldens.contains(where: { Acceptance.fits(pattern, $0) }) {
      throw SuiteError(
        "suite.stale.noGolden", "no golden fits '\(pattern)'",
        advice: Suggestion.advice(for: pattern, among: goldens.map(\.description)))
    }
  }

  /// - Throws: `SuiteError.noProjectFile`, `suite.stale.noGolden`.
  package func items() throws -> [Item] { try stale().map(\.item) }

  /// The problems that keep cases of the project from being run, such as a missing session. Their
  /// goldens are not stale.
  ///
  /// - Throws: As `items()`.
  package func problems() throws -> [SuiteError] {
    var found: [SuiteError] = []
    let selected = try selected()
    for problem in selected.compactMap(\.problem) where !found.contains(problem) {
      found.append(problem)
    }
    let known = Set(selected.map(\.key))
    let recordings = MissingRecordings(project: project, library: library)
    let isKept = isKept(recordings)
    for key in library.keys() where isMeant(key) && isKept(key) && !known.contains(key) {
      found.append(recordings.problem(key))
    }
    return found
  }

  /// Whether a golden only lacks its recording. A user who names the golden confirms that the
  /// recording no longer exists; but a recording on a disk that is not mounted may exist.
  private func isKept(_ recordings: MissingRecordings) -> (GoldenLibrary.Key) -> Bool {
    let suites = recordings.suites()
    return { key in
      recordings.includes(key, in: suites)
        && (recordings.isUnknown(key)
          || !keys.contains { !Glob.isPattern($0) && Acceptance.fits($0, key) })
    }
  }

  /// Removes the goldens that `items()` lists. A user's own files next to a golden stay.
  ///
  /// - Returns: The goldens that were removed.
  /// - Throws: `SuiteError.removeInCI`; as `items()`; `GoldenError.io`.
  package func remove(isCI: Bool) throws -> [Item] {
    guard !isCI else { throw SuiteError.removeInCI }
    let stale = try stale()
    // All are checked before the first is removed.
    for (_, key, _) in stale { try library.requireOwn(key) }
    for (_, _, folder) in stale { try folder.remove() }
    return stale.map(\.item)
  }

  private func stale() throws -> [(item: Item, key: GoldenLibrary.Key, folder: GoldenFolder)] {
    let existing = Set(try selected().map(\.key))
    try requireKnown(library.keys())
    let sessions = Set(existing.map(\.session)).union(project.sessionNames)
    let isKept = isKept(MissingRecordings(project: project, library: library))
    return library.stale(isSelected: { isMeant($0) && !isKept($0) }, existing: existing).map {
      key in
      let folder = library.folder(key)
      let item = Item(
        key: key.description, missing: sessions.contains(key.session) ? "case" : "session",
        path: folder.url.path)
      return (item, key, folder)
    }
  }

  /// The cases that any suite runs; without suites, each case on each session.
  private func selected() throws -> [SelectedCase] {
    // Without a project file, it is not known which goldens are wanted.
    guard project.hasFile else { throw SuiteError.noProjectFile }
    return try Selection.ofAllSuites(in: project)
  }

  private func isMeant(_ key: GoldenLibrary.Key) -> Bool {
    keys.isEmpty || keys.contains { Acceptance.fits($0, key) }
  }
}
