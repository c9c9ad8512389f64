import Foundation
import RetakeCore
import RetakeGolden
import RetakeMedia
import RetakeRuntime

/// A store of objects, each in `objects/ab/abcd…`, named by its SHA-256.
protocol ObjectStore {
  /// The objects that the store has, with the bytes of these files as far as the store can compare
  /// them.
  ///
  /// - Parameter report: Called with the bytes that were compared since the last call.
  func present(
    _ files: [(object: StoredObject, path: String)], report: (Int64) -> Void
  ) throws -> Set<StoredObject>

  /// Copies files into the store. A file gets its name in the store when it is complete.
  ///
  /// - Parameter report: Called with the bytes that were sent since the last call.
  func send(_ files: [(object: StoredObject, path: String)], report: (Int64) -> Void) throws

  /// Copies objects into a folder, each as a file with the name of its digest. A missing object is
  /// left out. The content is not checked.
  func fetch(_ objects: [StoredObject], into folder: String, report: (Int64) -> Void) throws

  /// The SHA-256 of the content of each object that can be read.
  func digests(of objects: [StoredObject]) throws -> [StoredObject: String]
}

extension StoreAddress {
  /// - Throws: `SuiteError.noStore` for a folder that does not exist: its disk may not be mounted.
  func open(in project: Project) throws -> any ObjectStore {
    switch self {
    case .folder(let path):
      let folder = project.path(path)
      var isFolder = ObjCBool(false)
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
        isFolder.boolValue
      else { throw SuiteError.noStore(folder) }
      return FolderStore(folder: folder, isInterrupted: project.store.isInterrupted)
    case .rclone(let remote):
      return RcloneStore(remote: remote, isInterrupted: project.store.isInterrupted)
    }
  }
}

extension StoredObject {
  /// - Throws: `MediaError`, `RuntimeError.interrupted`.
  init(digesting path: String, isInterrupted: () -> Bool) throws {
    var bytes: Int64 = 0
    let digest = try Sha256.digest(ofFile: path) {
      bytes = $0
      return !isInterrupted()
    }
    guard let digest else { throw RuntimeError.interrupted }
    self.init(sha256: digest, bytes: bytes)
  }
}
