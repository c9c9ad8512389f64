import Foundation
import RetakeBuffers
import RetakeRuntime

/// A process with limits: of time, and of what is kept of its output. It leads a process group of
/// its own, and nothing of the group is left when `run` returns.
///
/// Foundation's `Process` starts the group. All of this room is synchronous, so an asynchronous
/// library for processes would serve it less well.
struct BoundedProcess {
  enum End: Hashable {
    case exited(Int32)
    case signalled(Int32)
    /// It was stopped at its limit.
    case stopped
    case interrupted
  }

  struct Result: Hashable {
    var end: End
    /// The end of what it wrote to standard output and standard error.
    var lastWords: String
  }

  /// Bytes of the output that are kept.
  static let outputBytesMax = 2_048
  /// Between two looks at whether the work shall be interrupted.
  private static let lookNanoseconds: Int64 = 100_000_000
  /// For output that is still on its way when everything that could write it is gone.
  private static let drainNanoseconds: Int64 = 5_000_000_000

  var executable: String
  var arguments: [String]
  var environment: [String: String]
  var secondsMax: Double
  var isInterrupted: () -> Bool = { false }

  /// - Throws: What the system says when the process cannot be started.
  func run() throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = environment
    // Held open while this process lives: a child that reads its end knows that nobody waits.
    let input = Pipe()
    process.standardInput = input
    let output = OutputTail(bytesMax: Self.outputBytesMax)
    process.standardOutput = output.pipe
    process.standardError = output.pipe
    let bell = Bell()
    let wasTold = Locked(false)
    process.terminationHandler = { _ in
      wasTold.withLock { $0 = true }
      bell.ring()
    }
    try process.run()
    output.start()
    let end = wait(bell) { Self.end(of: process, wasTold: wasTold.withLock { $0 }) }
    // Children of the child may outlive it; they are in its group.
    kill(-process.processIdentifier, SIGKILL)
    let clock = WallClock()
    clock.wait(
      untilNanoseconds: clock.monotonicNanoseconds + Self.drainNanoseconds, or: output.closed)
    withExtendedLifetime(input) {}
    return Result(end: end, lastWords: output.text)
  }

  /// `nil` while the process runs. Foundation hears of its end only when nobody is left who
  /// inherited its descriptors, so this looks itself, and takes Foundation's word where that was
  /// faster.
  private static func end(of process: Process, wasTold: Bool) -> End? {
    var status: Int32 = 0
    switch waitpid(process.processIdentifier, &status, WNOHANG) {
    case 0: return nil
    case process.processIdentifier:
      let signal = status & 0x7f
      return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    default:
      guard wasTold else { return nil }
      process.waitUntilExit()
      return process.terminationReason == .exit
        ? .exited(process.terminationStatus) : .signalled(process.terminationStatus)
    }
  }

  private func wait(_ bell: Bell, for end: () -> End?) -> End {
    let clock = WallClock()
    let deadline = clock.monotonicNanoseconds + Int64(secondsMax * 1e9)
    // Bounded by the deadline; the bell ends a round early.
    while true {
      if let end = end() { return end }
      let now = clock.monotonicNanoseconds
      if isInterrupted() { return .interrupted }
      if now >= deadline { return .stopped }
      clock.wait(untilNanoseconds: min(deadline, now + Self.lookNanoseconds), or: bell)
    }
  }
}

/// Reads a pipe to its end and keeps the last bytes.
private final class OutputTail: Sendable {
  let pipe = Pipe()
  /// Rings when nobody can write to the pipe any more.
  let closed = Bell()
  private let bytesMax: Int
  private let tail = Locked(Data())

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  func start() {
    Thread.detachNewThread { [self] in
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      // Ends when the last writer is gone.
      while true {
        let count = read(pipe.fileHandleForReading.fileDescriptor, &bytes, bytes.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        tail.withLock { tail in tail = (tail + bytes[..<count]).suffix(bytesMax) }
      }
      closed.ring()
    }
  }

  var text: String {
    String(decoding: tail.withLock { $0 }, as: UTF8.self)
      .split(whereSeparator: \.isNewline).joined(separator: " | ")
  }
}
