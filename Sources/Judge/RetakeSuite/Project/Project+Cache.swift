import RetakeCore
package import RetakeReplay

extension Project {
  /// Opens the project's cache, without which a run is only slower.
  ///
  /// - Parameter note: Receives the reason why there is no cache.
  package func openCache(note: (String) -> Void) -> CacheFolder? {
    do {
      return try CacheFolder(ofUser: cache, in: self)
    } catch {
      note("no cache: \(error.causeText)")
      return nil
    }
  }
}

extension CacheFolder {
  /// Opens a cache whose files this user created. A folder with files tracked by git is rejected.
  package init(ofUser path: String, in project: Project) throws {
    // Before anything is made: the path must not lead out of the project, and files that came with
    // the repository must not decide a verdict.
    try Self.check(path, in: project.folder)
    if let file = TrackedFiles.first(in: path) { throw CacheError.tracked(path: path, file: file) }
    try self.init(path: path, key: .ofUser())
  }
}
