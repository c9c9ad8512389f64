import Foundation
import RetakeCore

/// A private folder in the temporary folder, with a copy of a database and its journal. It is
/// removed with the last reference.
final class PrivateCopy: Sendable {
  let folder: URL
  let path: String

  /// SQLite checkpoints the log every 4 MiB, but one commit may be larger.
  static let journalBytesFree: Int64 = 256 << 20
  /// Limit of larger journals, in bytes per byte of the database.
  static let journalBytesPerDatabaseByte: Int64 = 2
  static let journalBytesMax: Int64 = 8 << 30
  static let databaseBytesMax: Int64 = 64 << 30
  /// A file counts as sparse when the disk stores less than one part in this many of its bytes. On
  /// disks that compress, a database fills a far larger part, because it consists mostly of
  /// digests.
  static let sparsePart: Int64 = 64
  private static let pieceBytes = 1 << 20

  init(of original: String, suffixes: [String]) throws {
    // A new name for each reader: several may read one session, and each removes its own copy.
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("retake-read-\(UUID().uuidString)")
    let name = URL(fileURLWithPath: original).lastPathComponent
    self.folder = folder
    path = folder.appendingPathComponent(name).path
    let present = [""] + suffixes.filter { RegularFile.isTaken(original + $0) }
    // Before the folder is made, so that a rejected file leaves no folder and fills no disk.
    try Self.checkSizes(of: original, suffixes: present)
    try storeErrors(at: original, writing: false) {
      // 0700: other users share the temporary folder, and the rows are not theirs to read.
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    do {
      for suffix in present { try Self.copy(original + suffix, to: path + suffix) }
    } catch let error as StoreError {
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Checks the sizes before anything is copied.
  private static func checkSizes(of original: String, suffixes: [String]) throws {
    let database = try DatabaseFile.facts(original)
    var total: Int64 = 0
    for suffix in suffixes {
      let file = original + suffix
      let facts = try DatabaseFile.facts(file)
      let most = bytesMax(suffix: suffix, database: database.bytes)
      guard facts.bytes <= most else {
        throw StoreError(.tooLarge(bytes: facts.bytes, bytesMax: most), path: file)
      }
      // A file that was just written may not be allocated on the disk yet.
      guard facts.bytes <= journalBytesFree || facts.allocatedBytes >= facts.bytes / sparsePart
      else {
        throw StoreError.unsafeFile(
          path: file,
          cause: "of its \(facts.bytes) bytes only \(facts.allocatedBytes) are on the disk")
      }
      total += facts.bytes
    }
    let free = freeBytes()
    // Where the system does not say how much is free, the copy is tried; a
    // full disk is an error then.
    guard free.map({ $0 >= total }) ?? true else {
      throw StoreError.readFailed(
        path: original,
        cause:
          "its private copy needs \(ByteText.of(total)) in "
          + "\(FileManager.default.temporaryDirectory.path)"
          + ", which has \(ByteText.of(free ?? 0)) left")
    }
  }

  static func bytesMax(suffix: String, database: Int64) -> Int64 {
    guard !suffix.isEmpty else { return databaseBytesMax }
    // Bounded before it is multiplied, because twice a sparse file's size may not fit 64 bits.
    let relative = journalBytesFree + journalBytesPerDatabaseByte * min(database, databaseBytesMax)
    return min(relative, journalBytesMax)
  }

  private static func freeBytes() -> Int64? {
    let facts = try? FileManager.default.attributesOfFileSystem(
      forPath: FileManager.default.temporaryDirectory.path)
    return (facts?[.systemFreeSize] as? NSNumber)?.int64Value
  }

  /// Copies a file, keeping its holes. Bytes that a recorder appends meanwhile are not copied.
  private static func copy(_ source: String, to target: String) throws {
    // The size comes from the descriptor that is read, and not from the
    // name, which may lead to another file by now.
    let (number, facts) = try opened(source)
    let input = FileHandle(fileDescriptor: number, closeOnDealloc: true)
    defer { try? input.close() }
    try storeErrors(at: source, writing: false) {
      let created = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard created >= 0 else {
        throw StoreError.readFailed(path: target, cause: POSIXError.last.systemText)
      }
      let output = FileHandle(fileDescriptor: created, closeOnDealloc: true)
      defer { try? output.close() }
      var rest = facts.bytes
      while rest > 0 {
        let piece = try input.read(upToCount: min(pieceBytes, Int(rest))) ?? Data()
        // The file became shorter: a checkpoint has cut the log. The caller sees
        // the changed state and copies again.
        guard !piece.isEmpty else { break }
        rest -= Int64(piece.count)
        // Zeros are skipped, so that a hole uses no space in the temporary folder either.
        if piece.contains(where: { $0 != 0 }) {
          try output.write(contentsOf: piece)
        } else {
          try output.seek(toOffset: try output.offset() + UInt64(piece.count))
        }
      }
      // A seek alone does not make the file longer, so a hole at the end needs this.
      try output.truncate(atOffset: UInt64(facts.bytes - rest))
    }
  }

  private static func opened(
    _ path: String
  ) throws -> (number: Int32, facts: RegularFile.Facts) {
    do {
      return try RegularFile.descriptor(path)
    } catch let error as RegularFile.Refusal {
      throw StoreError(error, path: path)
    }
  }
}
