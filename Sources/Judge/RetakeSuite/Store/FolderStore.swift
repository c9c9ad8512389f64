import Foundation
import RetakeCore
import RetakeMedia
import RetakeRuntime
import RetakeSession

/// A store in a folder of a disk that is mounted here.
struct FolderStore: ObjectStore {
  static let objects = "objects"
  /// The end of the hidden name of an object that is being written.
  static let partial = ".partial"

  let folder: String
  let isInterrupted: () -> Bool
  /// Sets a file to the current time; returns the system's error number, or 0.
  var touch: (String) -> Int32 = { utimes($0, nil) == 0 ? 0 : errno }

  func file(_ object: StoredObject) -> String { "\(folder)/\(Self.objects)/\(object.path)" }

  func present(
    _ files: [(object: StoredObject, path: String)], report: (Int64) -> Void
  ) throws -> Set<StoredObject> {
    Set(
      try files.map(\.object).filter { object in
        let path = file(object)
        // A push names its objects in a pointer only at its end: until then the grace period of
        // `gc` protects them, also objects of earlier pushes.
        guard (try? RegularFile.facts(of: path))?.bytes == object.bytes, refresh(path) else {
          return false
        }
        defer { report(object.bytes) }
        do {
          // A damaged object is sent again.
          return try StoredObject(digesting: path, isInterrupted: isInterrupted) == object
        } catch is MediaError {
          return false
        }
      })
  }

  /// Makes an object as young as a new one.
  ///
  /// - Returns: `false` for an object that is gone, and for an object of another user that a copy
  ///   can replace.
  private func refresh(_ path: String) -> Bool {
    switch touch(path) {
    case 0: return true
    case EACCES, EPERM: return !isReplaceable(path)
    // Nobody removes objects of a disk that cannot be written here.
    case let number: return number == EROFS
    }
  }

  /// Whether this user may rename a file to this path.
  private func isReplaceable(_ path: String) -> Bool {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    var (own, parent) = (stat(), stat())
    guard access(folder, W_OK | X_OK) == 0, lstat(path, &own) == 0, stat(folder, &parent) == 0
    else { return false }
    // man 7 inode: in a sticky folder only the owners rename.
    let isSticky = parent.st_mode & S_ISVTX != 0
    return !isSticky || [0, own.st_uid, parent.st_uid].contains(geteuid())
  }

  func send(_ files: [(object: StoredObject, path: String)], report: (Int64) -> Void) throws {
    for (object, path) in files {
      let target = file(object)
      do {
        try FileManager.default.createDirectory(
          atPath: URL(fileURLWithPath: target).deletingLastPathComponent().path,
          withIntermediateDirectories: true)
        guard let pending = PendingFile(for: target, ending: Self.partial) else {
          throw POSIXError.last
        }
        do {
          try copy(path, .followed, object, to: pending.handle, report)
          let sent = try StoredObject(digesting: pending.hidden, isInterrupted: isInterrupted)
          // The file has other bytes than before, or the disk kept other bytes.
          guard sent == object else { throw SuiteError.changedFile(path) }
          try pending.finish(replacing: true)
        } catch {
          pending.discard()
          throw error
        }
      } catch let error where !(error is any RetakeError) {
        throw SuiteError.notWritable(path: target, cause: error.systemText)
      }
    }
  }

  func fetch(_ objects: [StoredObject], into folder: String, report: (Int64) -> Void) throws {
    for object in objects where RegularFile.isTaken(file(object)) {
      let target = "\(folder)/\(object.sha256)"
      // Under another name until it is complete; the folder has one writer.
      let partial = target + Self.partial
      do {
        guard FileManager.default.createFile(atPath: partial, contents: nil),
          let handle = FileHandle(forWritingAtPath: partial)
        else { throw POSIXError.last }
        try copy(file(object), .refused, object, to: handle, report)
        guard rename(partial, target) == 0 else { throw POSIXError.last }
      } catch let error where !(error is any RetakeError) {
        throw SuiteError.notWritable(path: target, cause: error.systemText)
      }
    }
  }

  func digests(of objects: [StoredObject]) throws -> [StoredObject: String] {
    var result: [StoredObject: String] = [:]
    for object in objects {
      // A link is not an object.
      guard (try? RegularFile.facts(of: file(object))) != nil else { continue }
      result[object] = try StoredObject(digesting: file(object), isInterrupted: isInterrupted)
        .sha256
    }
    return result
  }

  /// Copies at most the bytes that the object has. A file of another size, or one that changes
  /// meanwhile, is an error.
  private func copy(
    _ path: String, _ links: RegularFile.Links, _ object: StoredObject, to target: FileHandle,
    _ report: (Int64) -> Void
  ) throws {
    do {
      let before = try RegularFile.facts(of: path, links: links)
      guard before.bytes == object.bytes else { throw SuiteError.damagedObject(path) }
      let source = try RegularFile.handle(path, links: links, bytesMax: object.bytes)
      defer { try? source.close() }
      while let piece = try source.read(upToCount: 1 << 20), !piece.isEmpty {
        if isInterrupted() { throw RuntimeError.interrupted }
        try target.write(contentsOf: piece)
        report(Int64(piece.count))
      }
      guard try RegularFile.facts(of: path, links: links) == before else {
        throw SuiteError.changedFile(path)
      }
    } catch let error as RegularFile.Refusal {
      throw SuiteError.pointerUnreadable(path, cause: "\(error)")
    }
  }
}
