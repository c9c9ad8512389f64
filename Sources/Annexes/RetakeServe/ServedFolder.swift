import Foundation
import RetakeCore
import RetakeSession
import RetakeSuite

/// The project's folder, to check whether something is inside it.
struct ServedFolder: Sendable {
  private let path: String
  private let root: String

  init(_ project: Project) {
    path = project.folder
    root = Self.real(project.folder)
  }

  /// Whether a path leads, after all links, to something in the folder.
  func holds(_ path: String) -> Bool {
    let real = Self.real(path)
    // With the slash, or /srv/yard-2 would be inside /srv/yard.
    return real == root || real.hasPrefix(root == "/" ? "/" : root + "/")
  }

  /// - Throws: `serve.request.outside` for a session outside the folder, or with files outside it.
  func check(session folder: SessionFolder) throws {
    let paths = [folder.path, folder.media].flatMap { path in
      // A folder that cannot be listed is reported when the session is opened.
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return [path] + names.map { "\(path)/\($0)" }
    }
    guard paths.allSatisfy(holds) else {
      throw ServeError(
        403, "serve.request.outside",
        "the session '\(folder.name)' leads out of the project's folder",
        advice: "Copy it into the project; links are not followed out of it")
    }
  }

  /// - Throws: `serve.request.outside` for labels outside the folder.
  func check(labels: URL) throws {
    guard OwnFolder.linkOut(of: path, to: labels.path) == nil else {
      throw ServeError(
        403, "serve.request.outside",
        "the labels '\(labels.lastPathComponent)' lead out of the project's folder",
        advice: "Copy them into the project; links are not followed out of it")
    }
  }

  private static func real(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }
}
