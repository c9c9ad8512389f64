import Foundation

/// Asks git about a folder.
package enum TrackedFiles {
  private static let secondsMax = 20.0

  /// A file in the folder that is tracked by git; `nil` without such a file, outside a repository,
  /// or if git is not installed.
  package static func first(in folder: String) -> String? {
    // git cannot run in a folder that does not exist.
    guard FileManager.default.fileExists(atPath: folder) else { return nil }
    var environment = ProcessInfo.processInfo.environment
    // git sets these for its hooks. They would name its own repository instead of the folder's.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] { environment[name] = nil }
    // git then takes no lock for which another git would have to wait (`man 1 git`).
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    environment["LC_ALL"] = "C"
    // Without core.fsmonitor: a repository's configuration may name a program there, which git
    // would run (`man 1 git-config`).
    let git = BoundedProcess(
      executable: "/usr/bin/env",
      arguments: ["git", "-c", "core.fsmonitor=false", "-C", folder, "ls-files", "-z", "--", "."],
      environment: environment,
      secondsMax: secondsMax)
    guard let result = try? git.run(), result.end == .exited(0) else { return nil }
    // Only the end of the output is kept, so the last name is the one that is whole.
    return result.lastWords.split(separator: "\0").last.map(String.init)
  }
}
