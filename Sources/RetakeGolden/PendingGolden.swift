import Foundation
import RetakeCore

/// The files of a pending golden as they were at one moment, under names of their own.
///
/// A run that ends meanwhile replaces what is pending; who looks at a result, decides and accepts it
/// goes on with the one that was looked at.
package final class PendingGolden {
  /// What is pending now, and may be another result by then.
  package let origin: GoldenFolder
  /// Of all names and bytes: the same result has the same identity.
  package let identity: Digest128
  package let folder: GoldenFolder
  /// Goes with the last of those that are in it.
  private let scratch: ScratchFolder

  /// - Throws: `GoldenError.nothingPending`, `io`.
  package convenience init(_ origin: GoldenFolder) throws(GoldenError) {
    try self.init(origin, in: .temporary())
  }

  /// - Parameter scratch: Holds the files of any number of them.
  /// - Throws: `GoldenError.nothingPending`, `io`.
  package init(_ origin: GoldenFolder, in scratch: ScratchFolder) throws(GoldenError) {
    let folder = try scratch.makeFolder()
    (self.origin, self.scratch, self.folder) = (origin, scratch, GoldenFolder(folder))
    let lock = FolderLock(origin.url, .reading)
    defer { withExtendedLifetime(lock) {} }
    guard origin.exists else { throw .nothingPending(folder: origin.url.path) }
    try origin.copyFiles(to: folder)
    identity = try self.folder.identity()
  }

  deinit { try? FileManager.default.removeItem(at: folder.url) }

  /// Takes back what is pending, unless it is another result by now.
  ///
  /// - Returns: Whether nothing of this result is pending any more.
  /// - Throws: `GoldenError.io` where a file cannot be removed.
  @discardableResult
  package func discard() throws(GoldenError) -> Bool {
    let lock = FolderLock(origin.url, .writing)
    defer { withExtendedLifetime(lock) {} }
    guard origin.exists else { return true }
    guard try isStillPending() else { return false }
    try origin.removeFiles()
    return true
  }

  /// For one who keeps others from changing it.
  func isStillPending() throws(GoldenError) -> Bool {
    guard origin.exists else { return false }
    return try origin.identity() == identity
  }
}

extension GoldenFolder {
  /// Leaves a run pending beside this golden: all of its files, in the place of all that was pending
  /// there. Of two runs that end at the same time one is pending afterwards, whole.
  ///
  /// - Parameter run: Its files stay where they are.
  /// - Returns: The identity of what is pending now.
  /// - Throws: `GoldenError.io`.
  @discardableResult
  package func publish(_ run: GoldenFolder) throws(GoldenError) -> Digest128 {
    let scratch = try ScratchFolder(in: url)
    defer { scratch.remove() }
    try run.copyFiles(to: scratch.url)
    let identity = try GoldenFolder(scratch.url).identity()
    try scratch.move(into: pending)
    return identity
  }

  /// A second name for the same bytes where the file system has that, else a copy.
  fileprivate func copyFiles(to folder: URL) throws(GoldenError) {
    for name in fileNames() {
      try io(file(name), "copy the file") {
        try copy(file(name), to: folder.appending(path: name))
      }
    }
  }

  /// Of the names and bytes of all files.
  fileprivate func identity() throws(GoldenError) -> Digest128 {
    var hasher = DigestHasher()
    for name in fileNames() {
      let bytes = try contents(of: file(name))
      hasher.append(name)
      hasher.append(Int64(bytes.count))
      hasher.append(bytes)
    }
    return hasher.finish()
  }
}
