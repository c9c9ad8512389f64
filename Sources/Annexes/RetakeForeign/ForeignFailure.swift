import RetakeCore
package import RetakeProcess

/// How a program broke the protocol.
package enum ForeignFailure: Error, Hashable {
  case ended(ChildProcess.End)
  /// It closed the socket, and still runs.
  case closed
  case late(seconds: Double)
  /// A message that cannot be read at all.
  case garbage(String)
  case tooLong(bytes: Int)
  /// A message that the protocol does not allow at this point.
  case unexpected(String)
  case wrongFrame(expected: String, answered: String)
  case repeated(String)
  /// Timers that set each other at one instant of virtual time.
  case endlessTimers(nanoseconds: Int64)
  /// A value that its output does not have.
  case badValue(String)
  /// The frame does not fit into a slot.
  case frameSize(bytes: Int, bytesMax: Int)
  /// A second copy of the program sent another `ready`.
  case otherProgram(String)
  case notStarted(String)
  /// Its clock could not be set.
  case noClock(String)
  /// The program's error, which ends the run. Its code comes from the program.
  case ownError(code: String, message: String)
  /// The run does not need the answer any more.
  case abandoned

  /// Whether another copy of the program may succeed.
  var isEndOfProgram: Bool {
    switch self {
    case .ended, .closed: true
    default: false
    }
  }

  var code: String {
    switch self {
    case .ended(.exited): "process.exited"
    case .ended(.signalled): "process.signalled"
    case .closed: "process.closed"
    case .late: "process.timeout"
    case .garbage: "process.garbage"
    case .tooLong: "process.tooLong"
    case .unexpected: "process.unexpected"
    case .wrongFrame: "process.wrongFrame"
    case .repeated: "process.repeated"
    case .endlessTimers: "process.endlessTimers"
    case .badValue: "process.badValue"
    case .frameSize: "process.frameSize"
    case .otherProgram: "process.otherProgram"
    case .notStarted: "process.notStarted"
    case .noClock: "process.noClock"
    case .ownError(let code, _): code
    case .abandoned: "process.abandoned"
    }
  }

  /// The failure as a predicate: "exited with status 3".
  var text: String {
    switch self {
    case .ended(.exited(let status)): "exited with status \(status)"
    case .ended(.signalled(let number)): "was ended by signal \(SignalName.text(of: number))"
    case .closed: "closed file 3 and did not exit"
    case .late(let seconds): "did not answer within \(seconds.shortText) s"
    case .garbage(let detail): "sent a message that is not JSON: \(detail)"
    case .tooLong(let bytes):
      "announced a message of \(bytes) bytes; at most \(MessageChannel.bytesMax) are read"
    case .unexpected(let detail): "sent \(detail)"
    case .wrongFrame(let expected, let answered):
      "answered \(answered) when it was given \(expected)"
    case .repeated(let frame): "answered \(frame) twice"
    case .endlessTimers(let nanoseconds):
      "sets timers without an end at \(nanoseconds) ns of virtual time"
    case .badValue(let detail): "returned a value that is refused: \(detail)"
    case .frameSize(let bytes, let most):
      "cannot be given the frame: it has \(bytes) bytes, and a slot has \(most)"
    case .otherProgram(let detail): "was started again and has changed: \(detail)"
    case .notStarted(let cause): "could not be started again: \(cause)"
    case .noClock(let cause): "cannot be given a time, because its file is not writable: \(cause)"
    case .ownError(_, let message): "ended the run: \(message)"
    case .abandoned: "was ended before its answer, because the run had ended"
    }
  }
}

/// The names of the signals that end programs.
private enum SignalName {
  private static let names: [Int32: String] = [
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE",
    9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
  ]

  /// `11 (SIGSEGV)`.
  static func text(of number: Int32) -> String {
    names[number].map { "\(number) (\($0))" } ?? "\(number)"
  }
}

extension Double {
  /// An integer without a fraction.
  var shortText: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
