import Foundation
import RetakeCore

/// Looks at a database file before SQLite does, and makes a private copy where one is needed.
enum DatabaseFile {
  /// Refuses what is no SQLite database, and one whose file is shorter than its header says.
  static func check(_ path: String) throws(StoreError) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw .missing(path: path)
    }
    guard !isFolder.boolValue else { throw .notSession(path: path, cause: "a folder") }
    let size = try byteCount(path)
    guard size > 0 else { throw .notSession(path: path, cause: "an empty file") }
    let header = try head(of: path, count: 100)
    guard header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw .notSession(path: path, cause: "no SQLite header")
    }
    guard header.count == 100 else {
      throw .truncated(path: path, expectedBytes: 100, actualBytes: size)
    }
    let pageSize = bigEndian(header[16..<18])
    let expected = (pageSize == 1 ? 65_536 : pageSize) * bigEndian(header[28..<32])
    guard size >= expected || hasJournal(path) else {
      throw .truncated(path: path, expectedBytes: expected, actualBytes: size)
    }
  }

  /// True while a write-ahead log or a rollback journal lies beside the database.
  static func hasJournal(_ path: String) -> Bool {
    journalSuffixes.contains { FileManager.default.fileExists(atPath: path + $0) }
  }

  private static let journalSuffixes = ["-wal", "-journal"]

  /// How often a copy is taken again because a recorder wrote while it was taken.
  private static let attemptCount = 8

  /// The database and its journal in a fresh folder, as they were at one instant.
  static func privateCopy(of path: String) throws(StoreError) -> PrivateCopy {
    for _ in 0..<attemptCount {
      let before = try state(of: path)
      let copy = try PrivateCopy(of: path, suffixes: journalSuffixes)
      if try state(of: path) == before { return copy }
    }
    throw .busy(path: path, holder: LockHolder.ofDatabase(path))
  }

  /// What changes when a checkpoint runs: the database file's size and time, the log's header.
  private struct State: Equatable {
    var size: Int64
    var modified: Date?
    var logHeader: [UInt8]
  }

  private static func state(of path: String) throws(StoreError) -> State {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return State(
      size: try byteCount(path), modified: attributes?[.modificationDate] as? Date,
      logHeader: (try? head(of: path + "-wal", count: 32)) ?? [])
  }

  /// No file has more rows than a quarter of its bytes; its log may hold as many again.
  static func rowCountMax(_ path: String) throws(StoreError) -> Int {
    let log = (try? byteCount(path + "-wal")) ?? 0
    return Int((try byteCount(path) + log) / 4)
  }

  private static func byteCount(_ path: String) throws(StoreError) -> Int64 {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let size = attributes[.size] as? NSNumber
    else { throw .readFailed(path: path, cause: "no size") }
    return size.int64Value
  }

  private static func head(of path: String, count: Int) throws(StoreError) -> [UInt8] {
    try storeErrors(at: path, writing: false) {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? handle.close() }
      return [UInt8](try handle.read(upToCount: count) ?? Data())
    }
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }
}

/// A folder of our own under the temporary one, removed with its last holder.
final class PrivateCopy: Sendable {
  let folder: URL
  let path: String

  init(of original: String, suffixes: [String]) throws(StoreError) {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("retake-read-\(UUID().uuidString)")
    let name = URL(fileURLWithPath: original).lastPathComponent
    self.folder = folder
    path = folder.appendingPathComponent(name).path
    try storeErrors(at: original, writing: false) {
      let manager = FileManager.default
      try manager.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      do {
        for suffix in [""] + suffixes where manager.fileExists(atPath: original + suffix) {
          let target = folder.appendingPathComponent(name + suffix).path
          try manager.copyItem(atPath: original + suffix, toPath: target)
          try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
        }
      } catch {
        try? manager.removeItem(at: folder)
        throw error
      }
    }
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }
}
