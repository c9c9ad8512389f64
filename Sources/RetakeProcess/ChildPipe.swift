import CSpawn
import Foundation
import Synchronization

/// A pipe between this process and a child. No other child gets an end of it.
package final class ChildPipe: Sendable {
  private struct Ends {
    var read: Int32?
    var write: Int32?
  }

  private let ends: Mutex<Ends>

  package init() throws(ChildProcessError) {
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

  /// Not one of the numbers of the standard streams, which a child's file actions change.
  private static func aboveStreams(_ number: Int32) -> Int32 {
    guard number < Spawn.firstOther else { return number }
    defer { close(number) }
    return fcntl(number, F_DUPFD_CLOEXEC, Spawn.firstOther)
  }

  /// nil once it is closed.
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

  /// What has arrived, at most `countMax` bytes; waits for some. nil at the end: when all who can
  /// write have closed it. One thread reads.
  package func read(atMost countMax: Int) -> [UInt8]? {
    guard let number = readEnd else { return nil }
    var bytes = [UInt8](repeating: 0, count: countMax)
    // Ends: a signal to this process is the only reason to try again.
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

  /// Reads to the end on a thread of its own, and hands over what arrives, then `nil`.
  package func readToEnd(_ take: @escaping @Sendable ([UInt8]?) -> Void) {
    let thread = Thread { [self] in
      // Ends with the last writer.
      while let bytes = read(atMost: 1 << 16) { take(bytes) }
      take(nil)
    }
    thread.name = "retake.pipe"
    thread.stackSize = 512 << 10
    thread.start()
  }
}
