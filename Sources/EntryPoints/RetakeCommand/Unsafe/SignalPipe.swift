import Foundation

/// Passes signals of this process to one thread through a pipe.
///
/// The handler only writes the signal's number, so the code that reacts to a signal may lock and
/// allocate. No signal is blocked: existing threads keep working, and a program that a stage starts
/// does not inherit blocked signals.
enum SignalPipe {
  /// -1 if the system could not create a pipe. No signal is then caught, and all have their default
  /// action.
  private static let ends: (read: Int32, write: Int32) = {
    var numbers: [Int32] = [-1, -1]
    guard pipe(&numbers) == 0 else { return (-1, -1) }
    for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    // A full pipe must not block the thread that received the signal.
    _ = fcntl(numbers[1], F_SETFL, O_NONBLOCK)
    return (numbers[0], numbers[1])
  }()

  /// From now on, `next` returns this signal.
  static func catchSignal(_ number: Int32) {
    guard ends.write >= 0 else { return }
    var action = sigaction()
    // SAFETY: a handler may run between any two instructions. This one reads a constant that was
    // created above, calls write, which is allowed there, and restores errno.
    let handler: @convention(c) (Int32) -> Void = { number in
      let before = errno
      var byte = UInt8(truncatingIfNeeded: number)
      _ = write(SignalPipe.ends.write, &byte, 1)
      errno = before
    }
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    // A read or write of other code continues after a signal instead of failing with EINTR (man 7
    // signal).
    action.sa_flags = Int32(SA_RESTART)
    sigaction(number, &action, nil)
  }

  /// Waits for a caught signal; `nil` if the pipe cannot be read.
  static func next() -> Int32? {
    var byte: UInt8 = 0
    // Ends: only a signal to this thread causes another round.
    while true {
      let count = read(ends.read, &byte, 1)
      if count < 0, errno == EINTR { continue }
      return count == 1 ? Int32(byte) : nil
    }
  }
}
