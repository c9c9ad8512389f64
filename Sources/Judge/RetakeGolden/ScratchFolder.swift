package import Foundation

/// A hidden folder of one writer, next to the files that it will become or in the system's
/// temporary folder.
///
/// Its process holds a lock on it for as long as it lives. A folder without a lock belongs to a
/// process that was killed, and the next process removes it. Unlike a process id, a lock also works
/// between processes of two containers.
package final class ScratchFolder {
  private static let suffix = ".new"
  private static let prefix = ".writing-"
  private static let temporaryPrefix = ".retake-run-"
  /// The most writers with the same process id in one folder.
  private static let countMax = 1_000

  package let url: URL
  private let descriptor: Int32

  package convenience init(in folder: URL) throws {
    try self.init(in: folder, prefix: Self.prefix, mode: 0o777)
  }

  /// A folder in the system's temporary folder, readable only by its user.
  package static func temporary() throws -> ScratchFolder {
    try ScratchFolder(
      in: FileManager.default.temporaryDirectory, prefix: temporaryPrefix, mode: 0o700)
  }

  private init(in folder: URL, prefix: String, mode: mode_t) throws {
    Self.removeAbandoned(in: folder, prefix: prefix)
    let process = ProcessInfo.processInfo.processIdentifier
    for number in 0..<Self.countMax {
      // Another run may have removed the folder in the meantime, because it found it empty.
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let url = folder.appending(path: "\(prefix)\(process)-\(number)\(Self.suffix)")
      guard mkdir(url.path, mode) == 0 else {
        // EEXIST: a second writer of this process, or one of another container with the same
        // process id.
        if errno == EEXIST || errno == ENOENT { continue }
        break
      }
      if let descriptor = Self.hold(url) {
        (self.url, self.descriptor) = (url, descriptor)
        return
      }
    }
    throw GoldenError.io(
      path: folder.path, action: "make a folder in it", cause: POSIXError.last.systemText)
  }

  deinit {
    remove()
    close(descriptor)
  }

  /// Locks a folder that was just created; `nil` if another process removed it before it was
  /// locked, because it looked abandoned.
  private static func hold(_ url: URL) -> Int32? {
    let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    // If the file system has no locks, no folder is considered abandoned either.
    while flock(descriptor, LOCK_EX) != 0 && errno == EINTR {}
    guard names(url, descriptor) else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  static func removeAbandoned(in folder: URL) { removeAbandoned(in: folder, prefix: prefix) }

  private static func removeAbandoned(in folder: URL, prefix: String) {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for entry in entries where entry.hasPrefix(prefix) && entry.hasSuffix(suffix) {
      removeIfAbandoned(folder.appending(path: entry))
    }
  }

  /// - Parameter isOpen: Called when the folder is open, before its lock is tried.
  static func removeIfAbandoned(_ url: URL, isOpen: () -> Void = {}) {
    // O_NOFOLLOW: a link with this name must not lead to the removal of another folder.
    let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    isOpen()
    // Not waiting: a lock that is held shows that its writer is alive. And a writer may have ended
    // since, and another one have made a folder of that name.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, names(url, descriptor) else { return }
    try? FileManager.default.removeItem(at: url)
  }

  /// Whether a path still names an open folder. While the folder is open, no other folder gets its
  /// inode number.
  private static func names(_ url: URL, _ descriptor: Int32) -> Bool {
    var (held, named) = (stat(), stat())
    return fstat(descriptor, &held) == 0 && lstat(url.path, &named) == 0
      && held.st_ino == named.st_ino && held.st_dev == named.st_dev
  }

  package func file(_ name: String) -> URL { url.appending(path: name) }

  /// The most folders in one scratch folder; more results are never compared together.
  private static let foldersMax = 1_000_000

  /// Creates a folder in this one, with a unique name.
  func makeFolder() throws -> URL {
    for number in 0..<Self.foldersMax {
      let folder = file(String(number))
      // `mkdir` checks and creates in one step, so two callers never get the same name.
      if mkdir(folder.path, 0o777) == 0 { return folder }
      guard errno == EEXIST else { break }
    }
    throw GoldenError.io(
      path: url.path, action: "make a folder in it", cause: POSIXError.last.systemText)
  }

  /// Moves all files to the target's names. The old golden.yml is removed first and the new
  /// golden.yml is moved last, so that a reader finds a complete golden or no golden.
  ///
  /// - Parameter isWanted: Called when the target is locked. If it returns `false`, no file is
  ///   moved.
  /// - Returns: Whether the files were moved.
  @discardableResult
  func move(
    into target: GoldenFolder, if isWanted: () throws -> Bool = { true }
  ) throws -> Bool {
    let lock = FolderLock(target.url, .writing)
    defer { withExtendedLifetime(lock) {} }
    guard try isWanted() else { return false }
    let entries = try io(url, "list the files") {
      try FileManager.default.contentsOfDirectory(atPath: url.path)
    }
    let names = entries.sorted().filter { $0 != GoldenFolder.manifestName }
    // Only a run's folder has a run.json, and the run.json of an earlier run must not stay.
    let old = target.fileNames() + (target.form == .accepted ? ["run.json"] : [])
    // golden.yml first: without it there is no golden, so no reader mixes old and new files.
    for name in [GoldenFolder.manifestName] + old {
      try? FileManager.default.removeItem(at: target.file(name))
    }
    for name in names + [GoldenFolder.manifestName] {
      try replace(target.file(name), with: file(name))
    }
    synchronize(folder: target.url)
    remove()
    return true
  }

  /// Removes the folder, once: afterwards another writer may have one of the same name.
  package func remove() {
    guard Self.names(url, descriptor) else { return }
    try? FileManager.default.removeItem(at: url)
  }
}

extension GoldenFolder {
  /// Removes the scratch folders of killed writers; the folders of running writers stay.
  package static func removeAbandoned(in folder: URL) { ScratchFolder.removeAbandoned(in: folder) }
}
