import CSpawn
import Foundation
import Synchronization

/// A pipe between this process and a child. Other children do not inherit its ends.
package final class ChildPipe: Sendable {
  private struct Ends {
    var read: Int32?
    var write: Int32?
  }

  private let ends: Mutex<Ends>

  package init() throws {
    var numbers: [Int32] = [-1, -1]
    #if os(Linux)
      let failure = pipe2(&numbers, O_CLOEXEC) == 0 ? nil : errno
    #else
      let failure = pipe(&numbers) == 0 ? nil : errno
      for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    #endif
    if let failure { throw ChildProcessError(executable: "pipe", number: failure) }
    ends = Mutex(Ends(read: Self.aboveStreams(numbers[0]), write: Self.aboveStreams(numbers[1])))
  }

  deinit {
    closeReadEnd()
    closeWriteEnd()
  }

  /// Moves a descriptor above the descriptors of the standard streams, which a child's file actions
  /// change.
  private static func aboveStreams(_ number: Int32) -> Int32 {
    guard number < Spawn.firstOther else { return number }
    defer { close(number) }
    return fcntl(number, F_DUPFD_CLOEXEC, Spawn.firstOther)
  }

  /// nil after it is closed.
  package var readEnd: Int32? { ends.withLock { $0.read } }
  package var writeEnd: Int32? { ends.withLock { $0.write } }

  package func closeReadEnd() {
    ends.withLock { ends in
      if let number = ends.read { close(number) }
      ends.read = nil
    }
  }

  package func closeWriteEnd() {
    ends.withLock { ends in
      if let number = ends.write { close(number) }
      ends.write = nil
    }
  }

  /// Waits for bytes, and returns at most `countMax`. nil at the end, when all writers have closed
  /// the pipe. Only one thread may read.
  package func read(atMost countMax: Int) -> [UInt8]? {
    guard let number = readEnd else { return nil }
    var bytes = [UInt8](repeating: 0, count: countMax)
    // Ends: only an interruption by a signal to this process causes another attempt.
    while true {
      #if canImport(Darwin)
        let count = Darwin.read(number, &bytes, countMax)
      #else
        let count = Foundation.read(number, &bytes, countMax)
      #endif
      if count < 0, errno == EINTR { continue }
      return count > 0 ? Array(bytes[..<count]) : nil
    }
  }

  /// Reads to the end on a separate thread, and passes each piece that arrives to `take`, then
  /// `nil`.
  package func readToEnd(_ take: @escaping @Sendable ([UInt8]?) -> Void) {
    let thread = Thread { [self] in
      // Ends when the last writer closes the pipe.
      while let bytes = read(atMost: 1 << 16) { take(bytes) }
      take(nil)
    }
    thread.name = "retake.pipe"
    thread.stackSize = 512 << 10
    thread.start()
  }
}
