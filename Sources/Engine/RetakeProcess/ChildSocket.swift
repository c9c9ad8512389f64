import Foundation
import Synchronization

/// A stream socket between this process and a child. Other children do not inherit its ends.
///
/// One thread sends and receives. No call except `wait` blocks, and `wait` has a limit.
package final class ChildSocket: Sendable {
  /// The outcome of one attempt to send or receive.
  package enum Step: Hashable, Sendable {
    /// The number of moved bytes, at least one.
    case moved(Int)
    /// No byte can be moved now.
    case notNow
    /// The other side has closed the socket.
    case closed
  }

  private struct Ends {
    var own: Int32?
    var childs: Int32?
  }

  private let ends: Mutex<Ends>

  package init() throws {
    var numbers: [Int32] = [-1, -1]
    #if os(Linux)
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    guard socketpair(AF_UNIX, kind, 0, &numbers) == 0 else {
      throw ChildProcessError(executable: "socketpair", number: errno)
    }
    #if canImport(Darwin)
      for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
      var isOn: Int32 = 1
      setsockopt(numbers[0], SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
    #endif
    // The child's end is passed on under another number, which it must not have by chance.
    let raised = fcntl(numbers[1], F_DUPFD_CLOEXEC, ChildProcess.descriptorMin)
    let failure = errno
    close(numbers[1])
    guard raised >= 0 else {
      close(numbers[0])
      throw ChildProcessError(executable: "socketpair", number: failure)
    }
    ends = Mutex(Ends(own: numbers[0], childs: raised))
  }

  deinit { closeBothEnds() }

  /// For `ChildProcess.Request.descriptors`; `nil` after it is closed.
  package var childEnd: Int32? { ends.withLock { $0.childs } }

  /// Must be called when the child runs: until then the end of the child cannot be noticed.
  package func closeChildEnd() {
    ends.withLock { ends in
      if let number = ends.childs { close(number) }
      ends.childs = nil
    }
  }

  /// The child reads the end of the stream.
  package func closeBothEnds() {
    closeChildEnd()
    ends.withLock { ends in
      if let number = ends.own { close(number) }
      ends.own = nil
    }
  }

  private var number: Int32? { ends.withLock { $0.own } }

  #if os(Linux)
    // A child that has ended must not end this process by a signal.
    private static let sending = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    private static let receiving = Int32(MSG_DONTWAIT)
  #else
    private static let sending = MSG_DONTWAIT
    private static let receiving = MSG_DONTWAIT
  #endif

  /// Sends some of the bytes.
  package func push(_ bytes: [UInt8]) -> Step {
    guard let number else { return .closed }
    return step { send(number, bytes, bytes.count, Self.sending) }
  }

  /// Receives at most as many bytes as the buffer has, into its beginning.
  package func pull(into buffer: inout [UInt8]) -> Step {
    guard let number else { return .closed }
    let countMax = buffer.count
    return step { recv(number, &buffer, countMax, Self.receiving) }
  }

  private func step(_ call: () -> Int) -> Step {
    // Ends: only an interruption by a signal to this process causes another attempt.
    while true {
      let count = call()
      if count > 0 { return .moved(count) }
      if count == 0 { return .closed }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK: return .notNow
      default: return .closed
      }
    }
  }

  /// The direction in which a caller waits to move bytes.
  package enum Direction: Sendable {
    case toPull
    case toPush
  }

  /// Waits until an attempt would succeed or find the socket closed, or until the time is over;
  /// may return earlier.
  package func wait(_ direction: Direction, milliseconds: Int32) {
    guard let number else { return }
    var entry = pollfd()
    entry.fd = number
    entry.events = Int16(direction == .toPull ? POLLIN : POLLOUT)
    _ = poll(&entry, 1, milliseconds)
  }
}
