import Foundation
import RetakeCore

/// A whole file as memory that is read where it is looked at. It must not be cut short meanwhile: the
/// cache's files never are, they are only taken off their names.
final class MappedFile: @unchecked Sendable {
  // SAFETY: @unchecked because pointers are not Sendable. The memory is read-only and lives as long as
  // this object.
  let base: UnsafeRawPointer
  let count: Int

  /// - Returns: `nil` for what cannot be opened, and for an empty file.
  init?(_ path: String) {
    // Whatever else lies there, nobody waits for it.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
      let memory = mmap(nil, Int(status.st_size), PROT_READ, MAP_SHARED, descriptor, 0),
      memory != MAP_FAILED
    else { return nil }
    base = UnsafeRawPointer(memory)
    count = Int(status.st_size)
  }

  deinit {
    // SAFETY: nobody refers to the memory without holding this object.
    munmap(UnsafeMutableRawPointer(mutating: base), count)
  }

  /// The bytes of a part; `nil` outside of the file.
  func bytes(at offset: Int, count length: Int) -> [UInt8]? {
    guard contains(offset, length) else { return nil }
    // SAFETY: the part lies inside of the file.
    return Array(UnsafeRawBufferPointer(start: base + offset, count: length))
  }

  func digest(at offset: Int, count length: Int) -> Digest128? {
    guard contains(offset, length) else { return nil }
    // SAFETY: the part lies inside of the file.
    return Digest128(of: UnsafeRawBufferPointer(start: base + offset, count: length))
  }

  /// A number of eight bytes, the least significant first.
  func word(at offset: Int) -> UInt64 {
    guard contains(offset, 8) else { return 0 }
    // SAFETY: the word lies inside of the file.
    return UInt64(littleEndian: (base + offset).loadUnaligned(as: UInt64.self))
  }

  func contains(_ offset: Int, _ length: Int) -> Bool {
    offset >= 0 && length >= 0 && offset <= count && length <= count - offset
  }

  /// Asks for a part that is about to be read, in one go.
  func fetch(at offset: Int, count length: Int) {
    advise(at: offset, count: length, Self.populateRead)
  }

  /// The part is not looked at any more: the process gives its pages back.
  func release(at offset: Int, count length: Int) {
    advise(at: offset, count: length, MADV_DONTNEED)
  }

  private func advise(at offset: Int, count length: Int, _ advice: Int32) {
    let start = offset / Self.pageBytes * Self.pageBytes
    guard contains(start, offset - start + length) else { return }
    // SAFETY: whole pages of the mapping; the advice changes no byte that can be read. A system that
    // does not know it reads page by page.
    madvise(UnsafeMutableRawPointer(mutating: base + start), offset - start + length, advice)
  }

  /// Where parts that are released begin.
  static let pageBytes = 4_096
  /// MADV_POPULATE_READ, of Linux 5.14 and later.
  private static let populateRead: Int32 = 22
}
