import Foundation
import RetakeCore
import RetakeRuntime
import RetakeSession

/// A store in a folder of a disk that is mounted here.
struct FolderStore: ObjectStore {
  static let objects = "objects"
  /// The end of the hidden name of an object that is being written.
  static let partial = ".partial"

  let folder: String
  let isInterrupted: () -> Bool

  func file(_ object: StoredObject) -> String { "\(folder)/\(Self.objects)/\(object.path)" }

  func present(_ objects: [StoredObject]) throws -> Set<StoredObject> {
    Set(
      objects.filter { object in
        guard (try? RegularFile.facts(of: file(object)))?.bytes == object.bytes else {
          return false
        }
        // A push names its objects in a pointer only at its end: until then the grace period of
        // `gc` protects them, also objects of earlier pushes. Others may own the file.
        utimes(file(object), nil)
        return true
      })
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
