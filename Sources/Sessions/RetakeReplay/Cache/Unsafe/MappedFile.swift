import Foundation
import RetakeCore

/// A complete file, mapped into memory and read on access. The file must not be truncated
/// meanwhile. The cache's files never are: they are only unlinked.
final class MappedFile: @unchecked Sendable {
  // SAFETY: @unchecked because pointers are not Sendable. The memory is read-only and lives as long
  // as this object.
  let base: UnsafeRawPointer
  let count: Int

  /// Why a file is not mapped.
  enum Refusal: Error, Hashable {
    case missing
    case link
    /// A folder, a named pipe, a socket or a device.
    case special
    case empty
    /// The system's error number. The file itself may be intact: the process may have no right to
    /// read it, or too many open files, or too little memory.
    case system(Int32)
  }

  convenience init(_ path: String) throws(Refusal) {
    try self.init(path, flags: O_NOFOLLOW)
  }

  /// The file of this program, even if it was replaced or removed since the program began.
  static func program() -> MappedFile? {
    // A link of the system's own, which must be followed.
    try? MappedFile("/proc/self/exe", flags: 0)
  }

  private init(_ path: String, flags: Int32) throws(Refusal) {
    // O_NONBLOCK: opening a FIFO or a device at this path must not block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
    guard descriptor >= 0 else { throw Self.refusal(ofError: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .special }
    guard status.st_size > 0 else { throw .empty }
    let mapped = mmap(nil, Int(status.st_size), PROT_READ, MAP_SHARED, descriptor, 0)
    guard let memory = mapped, memory != MAP_FAILED else { throw .system(errno) }
    base = UnsafeRawPointer(memory)
    count = Int(status.st_size)
  }

  private static func refusal(ofError number: Int32) -> Refusal {
    switch number {
    case ENOENT, ENOTDIR: .missing
    case ELOOP: .link
    // Of a socket, and of a device without a driver.
    case ENXIO: .special
    default: .system(number)
    }
  }

  deinit {
    // SAFETY: every user of the memory holds this object.
    munmap(UnsafeMutableRawPointer(mutating: base), count)
  }

  /// The bytes of a part; `nil` if the part is not inside the file.
  func bytes(at offset: Int, count length: Int) -> [UInt8]? {
    guard contains(offset, length) else { return nil }
    // SAFETY: the part is inside the file.
    return Array(UnsafeRawBufferPointer(start: base + offset, count: length))
  }

  func digest(at offset: Int, count length: Int) -> Digest128? {
    guard contains(offset, length) else { return nil }
    // SAFETY: the part is inside the file.
    return Digest128(of: UnsafeRawBufferPointer(start: base + offset, count: length))
  }

  /// The result of `body` for a part; `nil` if the part is not inside the file.
  func withBytes<Made>(
    at offset: Int, count length: Int, _ body: (UnsafeRawBufferPointer) -> Made
  ) -> Made? {
    guard contains(offset, length) else { return nil }
    // SAFETY: the part is inside the file, which this object keeps.
    return body(UnsafeRawBufferPointer(start: base + offset, count: length))
  }

  /// A number of eight bytes in little-endian order.
  func word(at offset: Int) -> UInt64 {
    guard contains(offset, 8) else { return 0 }
    // SAFETY: the word is inside the file.
    return UInt64(littleEndian: (base + offset).loadUnaligned(as: UInt64.self))
  }

  func contains(_ offset: Int, _ length: Int) -> Bool {
    offset >= 0 && length >= 0 && offset <= count && length <= count - offset
  }

  /// Prefetches a part that is about to be read.
  func fetch(at offset: Int, count length: Int) {
    advise(at: offset, count: length, Self.populateRead)
  }

  /// The part is no longer needed: the process releases its pages.
  func release(at offset: Int, count length: Int) {
    advise(at: offset, count: length, MADV_DONTNEED)
  }

  private func advise(at offset: Int, count length: Int, _ advice: Int32) {
    guard contains(offset, length) else { return }
    let pages = Self.pages(at: offset, count: length, pageBytes: Self.pageBytes)
    // SAFETY: complete pages of the mapping; the advice changes no byte that can be read. A system
    // that does not support the advice reads page by page.
    madvise(UnsafeMutableRawPointer(mutating: base + pages.start), pages.count, advice)
  }

  /// A part, extended to the beginning of its first page: the address has to be a multiple of the
  /// page size (`man 2 madvise`). A page that the part shares with its neighbor is read again when
  /// the neighbor is.
  static func pages(
    at offset: Int, count length: Int, pageBytes: Int
  ) -> (start: Int, count: Int) {
    let start = offset / pageBytes * pageBytes
    return (start, offset - start + length)
  }

  /// The system's page size: 4 KiB on most machines, 16 or 64 KiB on some with ARM processors.
  static let pageBytes = Int(getpagesize())
  /// MADV_POPULATE_READ, of Linux 5.14 and later.
  private static let populateRead: Int32 = 22
}
