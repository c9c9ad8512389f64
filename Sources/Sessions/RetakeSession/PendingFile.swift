package import Foundation

/// A file that is written under a hidden name in its folder, and gets its own name when it is
/// complete. The writer holds a lock on it; the file of a killed writer has none, and the next
/// writer of the same file removes it.
package final class PendingFile {
  /// The path until `finish`.
  package let hidden: String
  /// For reading and writing.
  package let handle: FileHandle
  private let path: String

  /// Length of the random part of a hidden name.
  private static let randomLength = 8

  /// - Parameters:
  ///   - path: The final path.
  ///   - ending: The end of the hidden name, such as `.mkv`, by which a program may know its type.
  /// - Returns: nil if the file cannot be created; `errno` has the reason.
  package init?(for path: String, ending: String) {
    let url = URL(fileURLWithPath: path)
    self.path = url.path
    let folder = url.deletingLastPathComponent().path
    let prefix = ".\(url.lastPathComponent)."
    Self.sweep(folder, prefix: prefix, ending: ending)
    while true {
      let name = "\(folder)/\(prefix)\(UUID().uuidString.prefix(Self.randomLength))\(ending)"
      let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { return nil }
      // On a file system without locks, the file of a killed writer stays.
      _ = flock(descriptor, LOCK_EX)
      var status = stat()
      // Before it had its lock, another writer may have removed it.
      guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
        close(descriptor)
        continue
      }
      hidden = name
      handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      return
    }
  }

  /// Removes the files, or the folders, that killed writers of the same name left: their names have
  /// a random part, and no process has locked them.
  static func sweep(_ folder: String, prefix: String, ending: String = "") {
    eachAbandoned(folder, prefix: prefix, ending: ending) {
      try? FileManager.default.removeItem(atPath: $0)
    }
  }

  /// The number of hidden files that killed writers of a file left.
  ///
  /// - Parameters:
  ///   - path: The final path, as in `init`.
  ///   - ending: The end of the hidden names.
  ///   - removing: Whether the hidden files are removed.
  @discardableResult
  package static func abandoned(
    for path: String, ending: String, removing: Bool = false
  ) -> Int {
    let url = URL(fileURLWithPath: path)
    var count = 0
    eachAbandoned(
      url.deletingLastPathComponent().path, prefix: ".\(url.lastPathComponent).", ending: ending
    ) { file in
      count += 1
      if removing { try? FileManager.default.removeItem(atPath: file) }
    }
    return count
  }

  private static func eachAbandoned(
    _ folder: String, prefix: String, ending: String, _ body: (String) -> Void
  ) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let count = prefix.count + randomLength + ending.count
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(ending) && name.count == count
    {
      let random = name.dropFirst(prefix.count).prefix(randomLength)
      guard random.allSatisfy(\.isHexDigit), let lock = locked("\(folder)/\(name)") else {
        continue
      }
      body("\(folder)/\(name)")
      // Swift may release a value after its last use, and the lock has to last until the removal.
      withExtendedLifetime(lock) {}
    }
  }

  /// Opens a file or a folder and locks it, if no other process has locked it.
  static func locked(_ path: String) -> FileHandle? {
    // O_NOFOLLOW: `sweep` removes what it can lock, and must not follow a link of such a name.
    let flags = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
    // NFS locks only a file that is open for writing; a folder cannot be.
    var descriptor = open(path, O_RDWR | flags)
    if descriptor < 0, errno == EISDIR { descriptor = open(path, O_RDONLY | flags) }
    guard descriptor >= 0 else { return nil }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // Without waiting: a lock that is held is a writer at work.
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? handle : nil
  }

  /// Makes the bytes durable, and gives the file its name.
  ///
  /// - Parameter replacing: Whether a file of that name is replaced.
  /// - Throws: The error of the file system; the hidden file stays.
  package func finish(replacing: Bool) throws {
    // Before the rename, so that the name never leads to a file with lost bytes.
    try handle.synchronize()
    // The lock lasts until the file has its name.
    if replacing {
      guard rename(hidden, path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    } else {
      try FileManager.default.moveItem(atPath: hidden, toPath: path)
    }
    try handle.close()
  }

  /// Removes the file.
  package func discard() {
    try? FileManager.default.removeItem(atPath: hidden)
    try? handle.close()
  }
}
