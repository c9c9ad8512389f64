import Foundation
package import RetakeCore

/// The files of a pending golden as they were at one moment, copied to a separate folder.
///
/// A run that ends in the meantime replaces the pending golden. A caller that reviews a result and
/// accepts it still works with the result that was reviewed.
package final class PendingGolden {
  /// The current pending golden, which may be another result by then.
  package let origin: GoldenFolder
  /// The digest of all names and bytes: the same result has the same identity.
  package let identity: Digest128
  package let folder: GoldenFolder
  /// Removed with the last pending golden that is stored in it.
  private let scratch: ScratchFolder

  /// - Throws: `GoldenError.nothingPending`, `io`.
  package convenience init(_ origin: GoldenFolder) throws {
    try self.init(origin, in: .temporary())
  }

  /// - Parameter scratch: Can store the files of any number of pending goldens.
  /// - Throws: `GoldenError.nothingPending`, `io`.
  package init(_ origin: GoldenFolder, in scratch: ScratchFolder) throws {
    let folder = try scratch.makeFolder()
    (self.origin, self.scratch, self.folder) = (origin, scratch, GoldenFolder(folder))
    let lock = FolderLock(origin.url, .reading)
    defer { withExtendedLifetime(lock) {} }
    // Under the lock, so that all copied files are from one run.
    guard origin.exists else { throw GoldenError.nothingPending(folder: origin.url.path) }
    try origin.copyFiles(to: folder)
    // From the copy: the identity covers exactly the bytes that are going to be accepted.
    identity = try self.folder.identity()
  }

  deinit { try? FileManager.default.removeItem(at: folder.url) }

  /// Removes the pending golden, unless it is another result by now.
  ///
  /// - Returns: Whether this result is no longer pending.
  /// - Throws: `GoldenError.io` if a file cannot be removed.
  @discardableResult
  package func discard() throws -> Bool {
    let lock = FolderLock(origin.url, .writing)
    defer { withExtendedLifetime(lock) {} }
    // Another process has already accepted or removed it.
    guard origin.exists else { return true }
    guard try isStillPending() else { return false }
    try origin.removeFiles()
    return true
  }

  /// For a caller that has locked the folder.
  func isStillPending() throws -> Bool {
    guard origin.exists else { return false }
    return try origin.identity() == identity
  }
}

extension GoldenFolder {
  /// Makes a run the pending golden of this folder. Its files replace all files of an earlier
  /// pending golden. If two runs end at the same time, either run is pending afterwards, with all
  /// of its files.
  ///
  /// - Parameter run: Its files stay where they are.
  /// - Returns: The identity of the new pending golden.
  /// - Throws: `GoldenError.io`.
  @discardableResult
  package func publish(_ run: GoldenFolder) throws -> Digest128 {
    // Next to the target, so that every file is placed by a rename.
    let scratch = try ScratchFolder(in: url)
    defer { scratch.remove() }
    // The run's own folder is still read, by the report and its images.
    try run.copyFiles(to: scratch.url)
    let identity = try GoldenFolder(scratch.url).identity()
    try scratch.move(into: pending)
    return identity
  }

  /// Makes hard links if the file system supports it, else copies.
  fileprivate func copyFiles(to folder: URL) throws {
    for name in fileNames() {
      // A link is as good as a copy: Retake replaces the files of goldens by a rename and never
      // writes into them, so the linked bytes do not change.
      try io(file(name), "copy the file") {
        try copy(file(name), to: folder.appending(path: name))
      }
    }
  }

  /// The digest of the names and bytes of all files.
  fileprivate func identity() throws -> Digest128 {
    var hasher = DigestHasher()
    for name in fileNames() {
      let bytes = try contents(of: file(name))
      hasher.append(name)
      // The length separates the files: bytes that move from one file to the next change the
      // digest.
      hasher.append(Int64(bytes.count))
      hasher.append(bytes)
    }
    return hasher.finish()
  }
}
