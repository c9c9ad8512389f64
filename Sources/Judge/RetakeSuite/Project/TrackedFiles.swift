import Foundation
import RetakeCore

/// Asks git about a folder.
package enum TrackedFiles {
  private static let secondsMax = 120.0

  /// A file in the folder that is tracked by git; `nil` without such a file, outside a repository,
  /// or if git is not installed.
  ///
  /// Only repositories of the parent folders are searched. If the folder looks like a bare
  /// repository, git itself would use it as the repository, and would read its configuration.
  package static func first(in folder: String) -> String? {
    // git cannot run in a folder that does not exist.
    guard let path = OwnFolder.realPath(folder) else { return nil }
    var above = URL(fileURLWithPath: path).deletingLastPathComponent()
    // Ends at the root folder, because each round goes to the folder above.
    while true {
      if RegularFile.isTaken(above.appending(path: ".git").path),
        let file = first(in: path, ofRepository: above.path)
      {
        return file
      }
      if above.path == "/" { return nil }
      above.deleteLastPathComponent()
    }
  }

  private static func first(in folder: String, ofRepository root: String) -> String? {
    var environment = ProcessInfo.processInfo.environment
    // git sets these for its hooks. They would name its own repository instead of the folder's.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] { environment[name] = nil }
    // git then skips optional locks, for which another git would have to wait (`man 1 git`).
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    environment["LC_ALL"] = "C"
    // Without core.fsmonitor: a repository's configuration may name a program there, which git
    // would run (`man 1 git-config`).
    let safety = ["-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"]
    let git = BoundedProcess(
      executable: "/usr/bin/env",
      arguments: ["git"] + safety + ["-C", root, "ls-files", "-z", "--", folder],
      environment: environment,
      secondsMax: secondsMax)
    guard let result = try? git.run(), result.end == .exited(0) else { return nil }
    // Only the end of the output is kept, so the first name may be cut off. The last name is
    // complete.
    guard let name = result.closingResponse.split(separator: "\0").last else { return nil }
    let (file, prefix) = (root == "/" ? "/\(name)" : "\(root)/\(name)", folder + "/")
    return file.hasPrefix(prefix) ? String(file.dropFirst(prefix.count)) : String(name)
  }
}
