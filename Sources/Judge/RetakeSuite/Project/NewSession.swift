import Foundation
import RetakeCore
import RetakeGolden

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

  private var isRecording: Bool {
    url.deletingLastPathComponent().path
      == URL(fileURLWithPath: project.recordings).standardizedFileURL.path
  }

  /// Whether the suite `default` runs cases on the session; `nil` if there is no project with
  /// cases, or if the session is not one of its recordings.
  private var isTested: Bool? {
    guard project.hasFile, !project.cases.isEmpty, isRecording else { return nil }
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

  /// How goldens are made for a redacted copy; `nil` if no case of the project has a golden of the
  /// original.
  ///
  /// - Parameter original: The folder of the original.
  package func adviceOnGoldens(of original: String) -> String? {
    let (old, new) = (URL(fileURLWithPath: original).lastPathComponent, url.lastPathComponent)
    let cases = GoldenLibrary(root: URL(fileURLWithPath: project.goldens)).keys()
      .filter { $0.session == old && project.definition(named: $0.testCase) != nil }
      .map(\.testCase)
    guard !cases.isEmpty else { return nil }
    guard old != new else {
      return
        "the copy has the name of its original, so a test would compare it with the goldens of "
        + "the original: choose another name with --as"
    }
    let commands = cases.prefix(Self.casesMax).flatMap { name in
      [
        "retake test \(shortPath.shellWord) --pipeline \(name.shellWord)",
        "retake diff \("Goldens/\(old)/\(name)".shellWord) \("Goldens/\(new)/\(name)".shellWord)",
      ]
    }
    let more = cases.count - Self.casesMax
    let accept = "retake accept \(new.shellWord) --reason \("redacted copy of \(old)".shellWord)"
    return "the goldens of '\(old)' do not fit the copy. Make new ones, compare, and accept them"
      + (more > 0 ? " (and \(counted(more, "more case")))" : "") + ":\n  "
      + (commands + [accept]).joined(separator: "\n  ")
  }

  /// The most cases whose commands are listed.
  private static let casesMax = 5

  /// The session's name if it is a recording of the project, otherwise its path.
  private var shortPath: String { isRecording ? url.lastPathComponent : path }

  private var name: String { "'\(url.lastPathComponent)'" }
}
