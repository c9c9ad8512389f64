import Foundation
import RetakeBuffers
import RetakeCore

/// Writes packs. A pack has a name that readers skip until it is complete. Thread-safe.
///
/// Errors are kept, not thrown: a run does not fail because its values could not be cached.
final class CachePackWriter: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of which is guarded by `lock`.
  private struct Entry {
    var key: Digest128
    var place: CachePack.Place
  }

  /// A file that is being written.
  private struct Open {
    var url: URL
    var descriptor: Int32
    var end: Int
    var entries: [Entry] = []
  }

  /// A file that got its final name.
  struct File {
    var url: URL
    var bytes: Int
  }

  private let folder: URL
  private let kind: CachePack.Kind
  private let seal: CacheSeal
  /// Bytes that may still be written.
  private let budget: Int
  private let lock = NSLock()
  private var open: Open?
  private var keys: Set<Digest128> = []
  /// Bytes of all records, also of files that are not finished.
  private var total = 0
  private var files: [File] = []
  private var isFull = false
  private var cause: String?

  /// A file of this size is finished, so that old values can be removed bit by bit.
  private static let packBytesMax = 256 << 20

  /// - Parameter key: Authenticates the packs.
  init(folder: URL, kind: CachePack.Kind, key: CacheKey, budget: Int) {
    self.folder = folder
    self.kind = kind
    seal = key.seal(kind, scope: folder.lastPathComponent)
    self.budget = budget
  }

  var published: [File] { lock.withLock { files } }
  /// Why the writer stopped writing; nil while it can write.
  var failure: String? { lock.withLock { cause } }
  /// Whether a record was not written because the budget was spent.
  var isSpent: Bool { lock.withLock { isFull } }

  /// Adds a record, unless the key is known. `make` is only called if the record is written.
  func append(_ key: Digest128, _ make: () -> [UInt8]) {
    // The key is noted before its bytes are made, so that no second worker makes them. Making and
    // digesting are outside of the lock, because they are slow.
    guard lock.withLock({ isWanted(key) }) else { return }
    let bytes = make()
    let digest = seal.digest(of: bytes)
    lock.withLock { write(bytes, key: key, digest: digest) }
  }

  private func isWanted(_ key: Digest128) -> Bool {
    guard cause == nil else { return false }
    guard total < budget else {
      isFull = true
      return false
    }
    return keys.insert(key).inserted
  }

  private func write(_ bytes: [UInt8], key: Digest128, digest: Digest128) {
    guard cause == nil else { return }
    do throws(CacheFailure) {
      if open == nil { try begin() }
      guard let (descriptor, end) = open.map({ ($0.descriptor, $0.end) }) else { return }
      // So that on most machines, releasing a frame's pages releases no other record's.
      let offset = kind == .pixels ? aligned(end) : end
      try PackBytes.write(bytes, to: descriptor, at: offset)
      let place = CachePack.Place(offset: offset, count: bytes.count, digest: digest)
      open?.entries.append(Entry(key: key, place: place))
      open?.end = offset + bytes.count
      total += offset + bytes.count - end
      if offset + bytes.count >= Self.packBytesMax { try publish() }
    } catch {
      fail(error.cause)
    }
  }

  /// Part of the format (docs/formats/cache.md), whatever the page size of this machine is.
  private static let pixelAlignment = 4_096

  private func aligned(_ offset: Int) -> Int {
    (offset + Self.pixelAlignment - 1) / Self.pixelAlignment * Self.pixelAlignment
  }

  private func begin() throws(CacheFailure) {
    for _ in 0..<Self.attemptsMax {
      // A random name, because any number of runs may write into this folder at once.
      let url = folder.appending(
        path: UnfinishedFile.prefix + "\(kind.rawValue)-\(UUID().uuidString.lowercased())")
      let descriptor = try make(url.path)
      // If a process finds the file without this lock, the writer has ended. A process that looks
      // holds the lock for a moment, and may have removed the file as a leftover.
      var status = stat()
      flock(descriptor, LOCK_EX)
      guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
        close(descriptor)
        continue
      }
      open = Open(url: url, descriptor: descriptor, end: CachePack.magic.count)
      try PackBytes.write(CachePack.magic, to: descriptor, at: 0)
      return
    }
    // `CacheFailure` reads its cause from `errno`, and the calls above have succeeded without
    // setting it.
    errno = ENOENT
    throw CacheFailure()
  }

  private static let attemptsMax = 4

  /// Creates the file, and its folder if that does not exist or was removed.
  private func make(_ path: String) throws(CacheFailure) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
    var descriptor = Foundation.open(path, flags, 0o644)
    if descriptor < 0, errno == ENOENT {
      guard mkdir(folder.path, 0o755) == 0 || errno == EEXIST else { throw CacheFailure() }
      descriptor = Foundation.open(path, flags, 0o644)
    }
    guard descriptor >= 0 else { throw CacheFailure() }
    return descriptor
  }

  /// Finishes the file and renames it to its final name.
  private func publish() throws(CacheFailure) {
    guard let file = open else { return }
    var index = ByteWriter()
    // By rising key, because readers search the table by halves.
    for entry in file.entries.sorted(by: { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) })
    {
      index.append(entry.key)
      index.append(entry.place.offset)
      index.append(entry.place.count)
      index.append(entry.place.digest)
    }
    // Vector code may read past the last row.
    let start = file.end + FrameStorage.padding
    let code = seal.code(ofTable: index.bytes, at: start)
    var end = ByteWriter()
    end.append(start)
    end.append(file.entries.count)
    end.append(Digest128(of: index.bytes + code))
    let bytes = index.bytes + code + end.bytes + CachePack.magic
    try PackBytes.write(bytes, to: file.descriptor, at: start)
    let name = file.url.lastPathComponent.dropFirst(UnfinishedFile.prefix.count) + ".pack"
    let url = folder.appending(path: String(name))
    // Not synchronized to the disk first: the digests show a pack that a power failure damaged, and
    // its values are computed again.
    guard rename(file.url.path, url.path) == 0 else { throw CacheFailure() }
    files.append(File(url: url, bytes: start + bytes.count))
    // After the rename: until then this lock keeps `prune` from removing the file as a leftover.
    close(file.descriptor)
    open = nil
  }

  /// Finishes the last file.
  func finish() {
    lock.withLock {
      do throws(CacheFailure) {
        if cause == nil { try publish() }
      } catch {
        fail(error.cause)
      }
    }
  }

  private func fail(_ cause: String) {
    self.cause = cause
    guard let file = open else { return }
    unlink(file.url.path)
    close(file.descriptor)
    open = nil
  }

  deinit {
    // A run that ended with an error has not called `finish`.
    guard let file = open else { return }
    unlink(file.url.path)
    close(file.descriptor)
  }
}
