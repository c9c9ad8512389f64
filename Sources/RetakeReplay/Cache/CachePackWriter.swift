import Foundation
import RetakeBuffers
import RetakeCore

/// Writes packs, each under a name that readers pass over until it is whole. Safe from any thread.
///
/// What goes wrong is kept, not thrown: a run does not fail because nothing could be kept of it.
final class CachePackWriter: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, all of it guarded by `lock`.
  private struct Entry {
    var key: Digest128
    var place: CachePack.Place
  }

  /// Of one file that is being written.
  private struct Open {
    var url: URL
    var descriptor: Int32
    var end: Int
    var entries: [Entry] = []
  }

  private let folder: URL
  private let kind: CachePack.Kind
  /// Bytes that may still be written.
  private let budget: Int
  private let lock = NSLock()
  private var open: Open?
  private var keys: Set<Digest128> = []
  private var total = 0
  private var cause: String?

  /// A file with so many bytes is ended, so that what is old can go bit by bit.
  private static let packBytesMax = 256 << 20

  init(folder: URL, kind: CachePack.Kind, budget: Int) {
    self.folder = folder
    self.kind = kind
    self.budget = budget
  }

  var bytes: Int { lock.withLock { total } }
  var failure: String? { lock.withLock { cause } }

  /// Adds a record, unless the key is known. The bytes of pixels are only made where they are written.
  func append(_ key: Digest128, _ make: () -> [UInt8]) {
    guard lock.withLock({ cause == nil && total < budget && keys.insert(key).inserted }) else {
      return
    }
    let bytes = make()
    let digest = Digest128(of: bytes)
    lock.withLock { write(bytes, key: key, digest: digest) }
  }

  private func write(_ bytes: [UInt8], key: Digest128, digest: Digest128) {
    guard cause == nil else { return }
    do throws(CacheFailure) {
      if open == nil { try begin() }
      guard let (descriptor, end) = open.map({ ($0.descriptor, $0.end) }) else { return }
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

  private func aligned(_ offset: Int) -> Int {
    (offset + MappedFile.pageBytes - 1) / MappedFile.pageBytes * MappedFile.pageBytes
  }

  private func begin() throws(CacheFailure) {
    let url = folder.appending(
      path: ".writing-\(kind.rawValue)-\(UUID().uuidString.lowercased())")
    let descriptor = Foundation.open(
      url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw CacheFailure() }
    // Whoever finds the file without this lock knows that its writer is gone.
    flock(descriptor, LOCK_EX | LOCK_NB)
    open = Open(url: url, descriptor: descriptor, end: CachePack.magic.count)
    try PackBytes.write(CachePack.magic, to: descriptor, at: 0)
  }

  /// Ends the file and gives it its name.
  private func publish() throws(CacheFailure) {
    guard let file = open else { return }
    var index = ByteWriter()
    for entry in file.entries.sorted(by: { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) })
    {
      index.append(entry.key)
      index.append(entry.place.offset)
      index.append(entry.place.count)
      index.append(entry.place.digest)
    }
    // Vector code may read past the last row.
    let start = file.end + FrameStorage.padding
    var end = ByteWriter()
    end.append(start)
    end.append(file.entries.count)
    end.append(Digest128(of: index.bytes))
    try PackBytes.write(index.bytes + end.bytes + CachePack.magic, to: file.descriptor, at: start)
    let name = file.url.lastPathComponent.dropFirst(".writing-".count) + ".pack"
    let url = folder.appending(path: String(name))
    guard rename(file.url.path, url.path) == 0 else { throw CacheFailure() }
    close(file.descriptor)
    open = nil
  }

  /// Ends the last file.
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
    guard let file = open else { return }
    unlink(file.url.path)
    close(file.descriptor)
  }
}
