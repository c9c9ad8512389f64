import Foundation
import RetakeBuffers
import RetakeProcess
import RetakeRuntime

/// A process with limits on its time and on the output that is kept. Before `run` returns, it kills
/// all processes of its group.
package struct BoundedProcess {
  package enum End: Hashable {
    case exited(Int32)
    case signalled(Int32)
    /// It was stopped at its time limit.
    case stopped
    case interrupted
  }

  package struct Result: Hashable {
    package var end: End
    /// The end of its standard output and standard error.
    package var closingResponse: String
  }

  /// Bytes of the output that are kept.
  static let outputBytesMax = 2_048
  /// The interval at which interruption is checked.
  private static let lookNanoseconds: Int64 = 100_000_000
  /// How long to wait for remaining output after every process that could write it has ended.
  private static let drainNanoseconds: Int64 = 5_000_000_000

  private let executable: String
  private let arguments: [String]
  private let environment: [String: String]
  private let folder: String?
  private let secondsMax: Double
  private let isInterrupted: () -> Bool
  private let onOutput: @Sendable ([UInt8]) -> Void

  /// - Parameters:
  ///   - folder: Where it runs; this process's own if `nil`.
  ///   - onOutput: Receives all of the process's output as it arrives, on a separate thread.
  package init(
    executable: String, arguments: [String], environment: [String: String], folder: String? = nil,
    secondsMax: Double,
    isInterrupted: @escaping () -> Bool = { false },
    onOutput: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) {
    (self.executable, self.arguments, self.environment) = (executable, arguments, environment)
    (self.folder, self.secondsMax, self.isInterrupted) = (folder, secondsMax, isInterrupted)
    self.onOutput = onOutput
  }

  /// - Throws: `ChildProcessError` if the process cannot be started.
  package func run() throws -> Result {
    // Kept open while this process lives: a child that reads the end of its input knows that this
    // process has ended.
    let input = try ChildPipe()
    let output = try OutputTail(bytesMax: Self.outputBytesMax, onOutput)
    var request = ChildProcess.Request(executable, arguments)
    request.environment = environment
    request.folder = folder
    request.input = .pipe(input)
    request.output = .pipe(output.pipe)
    request.errors = .pipe(output.pipe)
    // Children of the child may outlive it, but they are in its group.
    request.endsGroup = true
    let process = try ChildProcess(request)
    let condition = ThreadCondition()
    process.onEnd { _ in condition.signal() }
    output.start()
    let end = wait(condition) { process.end }
    // Also after a normal end: a child that still runs would hold the pipe open.
    process.sendToGroup(SIGKILL)
    let clock = WallClock()
    clock.wait(
      untilNanoseconds: clock.monotonicNanoseconds + Self.drainNanoseconds, or: output.closed)
    withExtendedLifetime(input) {}
    return Result(end: end, closingResponse: output.text)
  }

  private func wait(_ condition: ThreadCondition, for end: () -> ChildProcess.End?) -> End {
    let clock = WallClock()
    let deadline = clock.monotonicNanoseconds + Int64(secondsMax * 1e9)
    // Bounded by the deadline; the condition ends a wait early.
    while true {
      // Asked first: a process that has ended is reported as that, even if its time is over as
      // well.
      switch end() {
      case .exited(let status): return .exited(status)
      case .signalled(let number): return .signalled(number)
      case nil: break
      }
      let now = clock.monotonicNanoseconds
      if isInterrupted() { return .interrupted }
      if now >= deadline { return .stopped }
      clock.wait(untilNanoseconds: min(deadline, now + Self.lookNanoseconds), or: condition)
    }
  }
}

/// Reads a pipe to its end and keeps the last bytes.
private final class OutputTail: Sendable {
  let pipe: ChildPipe
  /// Rings when the last writer of the pipe has closed it.
  let closed = ThreadCondition()
  private let bytesMax: Int
  private let onOutput: @Sendable ([UInt8]) -> Void
  private let tail = Locked(Data())

  init(bytesMax: Int, _ onOutput: @escaping @Sendable ([UInt8]) -> Void) throws {
    pipe = try ChildPipe()
    self.bytesMax = bytesMax
    self.onOutput = onOutput
  }

  func start() {
    // Holds this object until the pipe ends, which may be after `run` has returned.
    pipe.readToEnd { [self] bytes in
      guard let bytes else { return closed.signal() }
      onOutput(bytes)
      tail.withLock { tail in tail = (tail + bytes).suffix(bytesMax) }
    }
  }

  var text: String {
    // On one line, because it becomes part of an error's cause.
    String(decoding: tail.withLock { $0 }, as: UTF8.self)
      .split(whereSeparator: \.isNewline).joined(separator: " | ")
  }
}
