import Foundation
import RetakeSession
import RetakeSuite

/// The project's folder, to check whether something is inside it.
struct ServedFolder: Sendable {
  private let root: String

  init(_ project: Project) {
    root = Self.real(project.folder)
  }

  /// Whether a path leads, after all links, to something in the folder.
  func holds(_ path: String) -> Bool {
    let real = Self.real(path)
    // With the slash, or /srv/yard-2 would be inside /srv/yard.
    return real == root || real.hasPrefix(root == "/" ? "/" : root + "/")
  }

  /// - Throws: `ServeError.outside` for a session outside the folder, or with files outside it.
  func check(session folder: SessionFolder) throws {
    let paths = [folder.path, folder.media].flatMap { path in
      // A folder that cannot be listed is reported when the session is opened.
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return [path] + names.map { "\(path)/\($0)" }
    }
    guard paths.allSatisfy(holds) else { throw ServeError.outside("the session '\(folder.name)'") }
  }

  private static func real(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }
}
