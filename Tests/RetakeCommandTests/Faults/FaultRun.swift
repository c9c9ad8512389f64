import Foundation
import Retake
import RetakeProcess
import RetakeTestSupport
import Synchronization
import Testing

/// The faults that are caused under a real `retake record`: rows of a table that `make faults`
/// prints. The short form runs with all tests, the long form with `RETAKE_FAULTS=long`.
enum Faults {
  static let isLong = ProcessInfo.processInfo.environment["RETAKE_FAULTS"] == "long"

  /// The number of cases of a row. `RETAKE_FAULT_CASES` limits the long form.
  static func cases(short: Int, long: Int) -> Int {
    guard isLong else { return short }
    let bound = ProcessInfo.processInfo.environment["RETAKE_FAULT_CASES"].flatMap { Int($0) }
    return min(long, bound ?? long)
  }

  /// The upper limit of a measured time. In the long form it is the goal. Alongside all other
  /// tests, on a machine that may be busy, it is the time after which something must be stuck.
  static func limit(milliseconds goal: Int64) -> Int64 {
    isLong ? goal : 1_000 * Int64(ChildProcess.secondsMax)
  }

  /// Whether a tool is installed and permitted here.
  static func works(_ command: String, _ arguments: String...) -> Bool {
    let result = try? runCommand(command, arguments: arguments)
    return result?.status == 0
  }

  static let strace = works("strace", "-f", "-o", "/dev/null", "true")
  static let mounts = works("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt")
  static let limits = works("prlimit", "--fsize=1000000", "true")
  static let python = works("python3", "-c", "import sqlite3, resource")
  static let faketime = works("faketime", "+1 hour", "true")

  /// A line of the table.
  static func print(row: String, _ title: String, cases: Int, _ figures: String) {
    Swift.print("faults | \(row) | \(title) | \(cases) cases | \(figures)")
  }

  /// Recorders that run concurrently: they mostly wait for their next frame.
  static let width = isLong ? 8 : 4

  /// Runs the cases on separate threads, several at a time.
  ///
  /// - Returns: The results of the cases, in their order.
  static func inParallel<Value: Sendable>(
    _ count: Int, width: Int = width, _ body: @escaping @Sendable (Int) throws -> Value
  ) throws -> [Value] {
    let run = CaseRun<Value>(count)
    let done = DispatchSemaphore(value: 0)
    let lanes = min(width, count)
    for _ in 0..<lanes {
      let thread = Thread {
        // Ends: each round runs another case.
        while let number = run.next() { run.set(number, Result { try body(number) }) }
        done.signal()
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    for _ in 0..<lanes { done.wait() }
    return try run.values()
  }
}

/// Which cases are finished, and their results.
private final class CaseRun<Value: Sendable>: Sendable {
  private struct State {
    var next = 0
    var results: [Result<Value, any Error>?]
  }

  private let state: Mutex<State>

  init(_ count: Int) {
    state = Mutex(State(results: Array(repeating: nil, count: count)))
  }

  func next() -> Int? {
    state.withLock { state in
      guard state.next < state.results.count else { return nil }
      state.next += 1
      return state.next - 1
    }
  }

  func set(_ number: Int, _ result: Result<Value, any Error>) {
    state.withLock { $0.results[number] = result }
  }

  func values() throws -> [Value] {
    try state.withLock { try $0.results.compactMap { try $0?.get() } }
  }
}

/// Reports the problems of a case, in words.
func report(_ problems: [String], _ what: String) {
  for problem in problems { Issue.record("\(what): \(problem)") }
}

extension Workplace {
  /// Runs `retake` under another command, such as strace with its arguments.
  func retake(
    under words: [String], _ arguments: [String], timeoutSeconds: Int = ChildProcess.secondsMax
  ) throws -> CommandResult {
    try runCommand(
      words[0], arguments: Array(words.dropFirst()) + [Self.binary] + arguments,
      environment: ["CI": nil, "NO_COLOR": nil], folder: folder.url,
      timeoutSeconds: timeoutSeconds)
  }

  /// The arguments of a short recording that is identical every time.
  func recording(_ name: String, frames: Int, size: String = "160x120", _ more: String...)
    -> [String]
  {
    [
      "record", "synthetic:figures", "--name", name, "--into", folder.url.path, "--size", size,
      "--frames", "\(frames)", "--speed", "max", "--json",
    ] + more
  }

  /// The arguments of a recording at 30 frames per second, in segments of one second: many commits.
  func live(_ name: String, frames: Int, into: String? = nil) -> [String] {
    [
      "record", "synthetic:figures", "--name", name, "--into", into ?? folder.url.path, "--size",
      "64x48", "--frames", "\(frames)", "--segment", "1s", "--probe", "skip", "--json",
    ]
  }

  /// Images that no encoder can compress well, so that a disk is soon full.
  static func noise(_ size: String, fps: Int = 30) -> String {
    "lavfi:testsrc2=size=\(size):rate=\(fps),noise=alls=100:allf=t"
  }

  func session(_ name: String, _ result: CommandResult) -> FaultSession {
    FaultSession(folder.file(name).path, acknowledged: result.stdout)
  }
}
