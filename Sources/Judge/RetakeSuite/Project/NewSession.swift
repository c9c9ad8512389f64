import Foundation

/// Notes for the user about how a session that a command has just made affects the next `retake
/// test`.
package struct NewSession {
  private let project: Project
  private let path: String

  /// - Parameter path: The folder of the session.
  package init(_ path: String, in project: Project) {
    self.project = project
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
  }

  private var url: URL { URL(fileURLWithPath: path) }

  /// Whether the suite `default` runs cases on the session; `nil` if there is no project with
  /// cases, or if the session is not one of its recordings.
  private var isTested: Bool? {
    let parent = url.deletingLastPathComponent().path
    guard project.hasFile, !project.cases.isEmpty,
      parent == URL(fileURLWithPath: project.recordings).standardizedFileURL.path
    else { return nil }
    // A project whose suite cannot be resolved is an error of `test`, and not of this command.
    let selected = try? Selection(sessions: [url.lastPathComponent]).resolve(in: project)
    return selected?.isEmpty == false
  }

  /// A note for a recording that the suite `default` does not select; `nil` in any other case.
  package var noteOfFootage: String? {
    guard isTested == false else { return nil }
    return "the suite 'default' of retake.yml does not select \(name): to test it, add it to the "
      + "'sessions' of an entry"
  }

  /// A note for a copy that the suite `default` selects and that has no golden; `nil` in any other
  /// case.
  package var noteOfCopy: String? {
    let golden = "\(project.goldens)/\(url.lastPathComponent)"
    guard isTested == true, !FileManager.default.fileExists(atPath: golden) else { return nil }
    return "the suite 'default' of retake.yml selects \(name) as well, which has no golden: "
      + "'retake test' exits with 3 until a golden is accepted. To avoid this, copy with --into FOLDER"
  }

  private var name: String { "'\(url.lastPathComponent)'" }
}
