package import Foundation
import RetakeCore

/// A hidden folder next to a session's future path. It becomes the session, or is removed.
///
/// The folder is locked while it is built. A folder without a lock was left by a process that was
/// killed; the next import or recording in the same parent folder removes it.
package struct SessionBuilder {
  package let folder: SessionFolder
  /// Released with the last copy of this value.
  private let lock: FileHandle
  private let target: SessionFolder
  /// Whether the parent folder was made for this import.
  private let parentIsNew: Bool

  package init(for target: SessionFolder) throws {
    let parent = URL(fileURLWithPath: target.path).deletingLastPathComponent().path
    self.target = target
    // Asked first, because making the folder makes its parent, too.
    parentIsNew = !FileManager.default.fileExists(atPath: parent)
    (folder, lock) = try Self.makeFolder(beside: target)
  }

  /// Builds a session, and gives it its name. An error leaves no folder.
  package static func build<Made>(
    _ target: SessionFolder, _ body: (SessionBuilder) throws -> Made
  ) throws -> Made {
    let site: SessionBuilder
    do {
      site = try SessionBuilder(for: target)
    } catch {
      throw FullDisk.error(error, writing: target.path)
    }
    do {
      let made = try body(site)
      try site.finish()
      return made
    } catch {
      // Before the folder is removed, which may free the disk.
      let error = FullDisk.error(error, writing: target.path)
      site.discard()
      throw error
    }
  }

  /// Makes a new folder that this process locks, and removes those of killed processes.
  package static func makeFolder(
    beside target: SessionFolder
  ) throws -> (SessionFolder, FileHandle) {
    sweep(for: target)
    let parent = URL(fileURLWithPath: target.path).deletingLastPathComponent().path
    sweepOthers(in: parent)
    // A sweep of another process may remove the folder between its creation and its locking: once
    // for each process that begins at the same time.
    for _ in 0..<attemptsMax {
      let folder = SessionFolder(path: "\(parent)/.\(target.name).\(UUID().uuidString.prefix(8))")
      do {
        try FileManager.default.createDirectory(
          atPath: folder.path, withIntermediateDirectories: true)
        guard let lock = PendingFile.locked(folder.path),
          FileManager.default.fileExists(atPath: folder.path)
        else { continue }
        // Nothing inside before the lock, so that a sweep never meets a half made folder.
        try FileManager.default.createDirectory(
          atPath: folder.media, withIntermediateDirectories: false)
        return (folder, lock)
      } catch {
        try? FileManager.default.removeItem(atPath: folder.path)
        throw SessionError.write(parent, error)
      }
    }
    throw SessionError.write(path: parent, cause: "another program removes new folders there")
  }

  private static let attemptsMax = 100

  /// Removes the folders of killed imports and recoveries of the same name.
  package static func sweep(for target: SessionFolder) {
    let parent = URL(fileURLWithPath: target.path).deletingLastPathComponent().path
    PendingFile.sweep(parent, prefix: ".\(target.name).")
  }

  /// Removes the folders of killed processes of this user, whatever the name of their session.
  private static func sweepOthers(in parent: String) {
    let manager = FileManager.default
    for name in (try? manager.contentsOfDirectory(atPath: parent)) ?? [] where isHidden(name) {
      let path = "\(parent)/\(name)"
      let attributes = try? manager.attributesOfItem(atPath: path)
      guard attributes?[.type] as? FileAttributeType == .typeDirectory,
        (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid(),
        let lock = PendingFile.locked(path)
      else { continue }
      // After the lock: its owner makes the first folder inside when it has the lock.
      let inside = try? manager.contentsOfDirectory(atPath: path)
      if let inside, inside.isEmpty || inside.contains("media") {
        try? manager.removeItem(atPath: path)
      }
      // Swift may release a value after its last use, and the lock has to last until the removal.
      withExtendedLifetime(lock) {}
    }
  }

  /// Whether a name has the form that `makeFolder` makes. Digits alone may be a date, in the name of
  /// a session that a user hid.
  private static func isHidden(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0].isEmpty, !parts[1].isEmpty, let random = parts.last,
      random.count == 8
    else { return false }
    let letters: ClosedRange<Character> = "A"..."F"
    return random.allSatisfy { letters.contains($0) || ("0"..."9").contains($0) }
      && random.contains(where: letters.contains)
  }

  /// Makes a hard link if the disk supports it, otherwise a symbolic link.
  package func link(_ source: String, as relative: String) throws {
    let manager = FileManager.default
    let destination = try folder.file(relative)
    // `link` does not follow a symbolic link on Linux (man 2 link), so its target is linked.
    let source = URL(fileURLWithPath: source).resolvingSymlinksInPath().path
    do {
      do {
        try manager.linkItem(atPath: source, toPath: destination)
      } catch {
        try manager.createSymbolicLink(atPath: destination, withDestinationPath: source)
      }
    } catch {
      throw SessionError.write(destination, error)
    }
  }

  /// Copies a file, or only its first bytes if it may still be written.
  ///
  /// - Parameter report: Called with the bytes so far; returning false stops the copy.
  package func bring(
    _ source: String, as relative: String, bytesMax: Int64, report: (Int64) -> Bool
  ) throws {
    let destination = try folder.file(relative)
    try Self.requireRoom(min(Self.byteCount(source) ?? 0, bytesMax), at: folder.path)
    do {
      let input = try RegularFile.handle(source, links: .followed)
      defer { try? input.close() }
      try Data().write(to: URL(fileURLWithPath: destination))
      let output = try FileHandle(forWritingTo: URL(fileURLWithPath: destination))
      defer { try? output.close() }
      var done: Int64 = 0
      while done < bytesMax {
        let piece = try input.read(upToCount: Int(min(bytesMax - done, Self.pieceBytes))) ?? Data()
        guard !piece.isEmpty else { break }
        try output.write(contentsOf: piece)
        done += Int64(piece.count)
        // After each piece, so that Ctrl-C ends the copy of a large file soon.
        guard report(done) else { throw SessionError.interrupted }
      }
      try output.synchronize()
    } catch let error as SessionError {
      throw error
    } catch let refusal as RegularFile.Refusal {
      throw refusal.error(ofMedia: source)
    } catch {
      throw SessionError.write(destination, error)
    }
  }

  /// - Throws: `SessionError.noRoomForCopy`.
  package static func requireRoom(_ bytes: Int64, at path: String) throws {
    guard let free = FreeSpace.freeBytes(above: path), free < bytes else { return }
    throw SessionError.noRoomForCopy(path: path, needBytes: bytes, freeBytes: free)
  }

  /// The size of a file; nil if it does not exist.
  package static func byteCount(_ path: String) -> Int64? {
    let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.int64Value
  }

  /// The total size of all files in a folder, including files that it links to.
  package static func byteCount(ofFolder path: String) -> Int64 {
    let manager = FileManager.default
    let names = (try? manager.subpathsOfDirectory(atPath: path)) ?? []
    return names.reduce(0) { total, name in
      let path = URL(fileURLWithPath: path + "/" + name).resolvingSymlinksInPath().path
      let attributes = try? manager.attributesOfItem(atPath: path)
      guard attributes?[.type] as? FileAttributeType == .typeRegular else { return total }
      return total + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
    }
  }

  private static let pieceBytes: Int64 = 1 << 20

  /// Replaces the unfinished folder's media by a link to the media of the finished session.
  func borrowMedia() throws {
    do {
      try FileManager.default.removeItem(atPath: folder.media)
      try FileManager.default.createSymbolicLink(
        atPath: folder.media, withDestinationPath: target.media)
    } catch {
      throw SessionError.write(folder.media, error)
    }
  }

  package func write(_ text: String, to path: String) throws {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      throw SessionError.write(path, error)
    }
  }

  /// Makes everything durable, then renames the folder.
  package func finish() throws {
    do {
      let media = folder.mediaOnDisk.map { folder.path + "/" + $0 }
      // First the files, then the folders that name them: a folder that is durable must
      // not name a file that is not. Syncing a file does not sync its entry (man 2 fsync).
      for path in media + [folder.database, folder.notes, folder.media, folder.path] {
        try Self.synchronize(path)
      }
      guard !FileManager.default.fileExists(atPath: target.path) else {
        throw SessionError.nameTaken(path: target.path)
      }
      try FileManager.default.moveItem(atPath: folder.path, toPath: target.path)
      // The rename is durable when the parent folder is.
      try Self.synchronize(URL(fileURLWithPath: target.path).deletingLastPathComponent().path)
    } catch let error as SessionError {
      throw error
    } catch {
      throw SessionError.write(target.path, error)
    }
  }

  package func discard() {
    let manager = FileManager.default
    try? manager.removeItem(atPath: folder.path)
    let parent = URL(fileURLWithPath: target.path).deletingLastPathComponent().path
    // Another process may have made a session in it meanwhile.
    if parentIsNew, (try? manager.contentsOfDirectory(atPath: parent))?.isEmpty == true {
      try? manager.removeItem(atPath: parent)
    }
  }

  static func synchronize(_ path: String) throws {
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? handle.close() }
    try handle.synchronize()
  }
}
