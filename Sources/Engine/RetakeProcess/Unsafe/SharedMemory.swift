import CSpawn
import Foundation

/// Memory that this process and a child share. Pages use no memory until they are written.
///
/// The child maps the file of `descriptor`. On Linux the file is sealed: no one can change its
/// size, and no one else can map it for writing unless the child is the writer.
package final class SharedMemory: Sendable {
  // SAFETY: the pages are mapped from init to deinit, and `write` checks its bounds. The caller
  // orders writes of this process; the child reads only ranges that a message names.
  private nonisolated(unsafe) let base: UnsafeMutableRawPointer
  package let byteCount: Int
  /// For `ChildProcess.Request.descriptors`.
  package let descriptor: Int32
  /// Whether no other process can change the size of the memory, nor write to it unless it is the
  /// writer.
  package let isSealed: Bool

  /// The process that writes.
  package enum Writer: Sendable {
    case thisProcess
    /// This process maps the memory for reading only.
    case child
  }

  package init(byteCount: Int, writer: Writer = .thisProcess) throws {
    let file = try Self.file()
    descriptor = fcntl(file, F_DUPFD_CLOEXEC, ChildProcess.descriptorMin)
    let failure = errno
    close(file)
    guard descriptor >= 0 else { throw Self.error(failure) }
    let access = writer == .child ? PROT_READ : PROT_READ | PROT_WRITE
    guard ftruncate(descriptor, off_t(byteCount)) == 0,
      let base = mmap(nil, byteCount, access, MAP_SHARED, descriptor, 0), base != MAP_FAILED
    else {
      let failure = errno
      close(descriptor)
      throw Self.error(failure)
    }
    self.base = base
    self.byteCount = byteCount
    isSealed = Self.seal(descriptor, keepsWriters: writer == .child)
  }

  /// The memory of the parent, whose file this process inherited, to write into it.
  package init(inherited descriptor: Int32) throws {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_size > 0,
      let base = mmap(
        nil, Int(facts.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      base != MAP_FAILED
    else { throw Self.error(errno) }
    (self.base, byteCount, self.descriptor) = (base, Int(facts.st_size), descriptor)
    isSealed = false
  }

  /// The address of a byte of this process's map, which is valid as long as this object.
  package func address(of offset: Int) -> UInt {
    precondition((0..<byteCount).contains(offset), "the byte is inside the memory")
    return UInt(bitPattern: base + offset)
  }

  deinit {
    munmap(base, byteCount)
    close(descriptor)
  }

  /// Copies the bytes to a place that must be inside the memory of which this process is the
  /// writer.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    precondition(
      offset >= 0 && bytes.count <= byteCount - offset, "what is shared is inside the memory")
    guard let source = bytes.baseAddress else { return }
    (base + offset).copyMemory(from: source, byteCount: bytes.count)
  }

  private static func error(_ number: Int32) -> ChildProcessError {
    ChildProcessError(executable: "shared memory", number: number)
  }

  #if os(Linux)
    // linux/memfd.h and linux/fcntl.h.
    private static let (closeOnExec, allowsSealing): (UInt32, UInt32) = (1, 2)
    private static let addSeals: Int32 = 1_033
    private static let (noSeals, noShrinking, noGrowing): (Int32, Int32, Int32) = (1, 2, 4)
    /// Since Linux 5.1.
    private static let noMoreWriters: Int32 = 16

    private static func file() throws -> Int32 {
      let number = memfd_create("retake", closeOnExec | allowsSealing)
      guard number >= 0 else { throw error(errno) }
      return number
    }

    /// Whether the file is sealed as requested.
    private static func seal(_ number: Int32, keepsWriters: Bool) -> Bool {
      let seals = noShrinking | noGrowing | noSeals
      if keepsWriters { return fcntl(number, addSeals, seals) == 0 }
      if fcntl(number, addSeals, seals | noMoreWriters) == 0 { return true }
      // An older kernel refuses all of them if it does not know one.
      _ = fcntl(number, addSeals, seals)
      return false
    }
  #else
    /// A file without a name.
    private static func file() throws -> Int32 {
      var path = Array("\(NSTemporaryDirectory())/retake.XXXXXX".utf8CString)
      let number = mkstemp(&path)
      guard number >= 0 else { throw error(errno) }
      unlink(&path)
      return number
    }

    private static func seal(_ number: Int32, keepsWriters: Bool) -> Bool { false }
  #endif
}
