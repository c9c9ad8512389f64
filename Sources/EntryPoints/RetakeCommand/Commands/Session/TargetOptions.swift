import ArgumentParser
import Foundation
import Retake

/// The location of a session that is made from another one.
struct TargetOptions: ParsableArguments {
  @Option(help: "The folder that the new session's folder is made in; Recordings if not given.")
  var into: String?

  @Option(help: "The new session's name; the old one's if not given, with an ending in Recordings.")
  var name: String?

  /// - Parameters:
  ///   - path: The old session's folder.
  ///   - suffix: Added to the name if it must differ from the old one.
  func target(for path: String, in project: Project, suffix: String) -> SessionTarget {
    // Goldens are found by the session's name, so a copy in another folder may keep the name.
    if let into { return SessionTarget(into: into, name: name) }
    let old = URL(fileURLWithPath: path).lastPathComponent
    return SessionTarget(into: project.recordings, name: name ?? "\(old)-\(suffix)")
  }
}
