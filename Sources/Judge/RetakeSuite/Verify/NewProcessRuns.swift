import Foundation
import RetakeCore
import RetakeRuntime

/// Runs of a case in separate processes: the verifying program, started again.
package struct NewProcessRuns {
  /// The minimum time limit of a process, in seconds.
  static let secondsMin = 600.0
  /// The time limit of another run, as a multiple of the duration of the first run. Without vector
  /// instructions, decoding is many times slower.
  static let slownessMax = 30.0

  /// The program to start; the running one by default.
  package var executable: String
  /// The arguments that make the program run a case under a condition and write its trace to a
  /// folder.
  package var arguments: (_ condition: VerifyCondition, _ folder: String) -> [String]
  package var isInterrupted: () -> Bool
  var secondsMin = NewProcessRuns.secondsMin

  package init(
    executable: String = NewProcessRuns.ownExecutable,
    arguments: @escaping (_ condition: VerifyCondition, _ folder: String) -> [String],
    isInterrupted: @escaping () -> Bool = { false }
  ) {
    self.executable = executable
    self.arguments = arguments
    self.isInterrupted = isInterrupted
  }

  /// The running program. On Linux, the link refers to it even after the file was rebuilt.
  package static var ownExecutable: String {
    #if os(Linux)
      return "/proc/self/exe"
    #else
      return Bundle.main.executablePath ?? CommandLine.arguments[0]
    #endif
  }

  /// - Throws: `SuiteError.verifyProcessFailed`, `RuntimeError.interrupted`.
  func run(_ condition: VerifyCondition, into folder: URL, firstSeconds: Double) throws {
    let seconds = max(secondsMin, firstSeconds * Self.slownessMax)
    let process = BoundedProcess(
      executable: executable, arguments: arguments(condition, folder.path),
      environment: condition.environment(from: ProcessInfo.processInfo.environment),
      secondsMax: seconds, isInterrupted: isInterrupted)
    let result: BoundedProcess.Result
    do {
      result = try process.run()
    } catch {
      throw SuiteError.verifyProcessFailed(
        condition: condition.name, cause: "it could not be started: \(error.systemText)")
    }
    let closingResponse =
      result.closingResponse.isEmpty ? "" : "; its last words: \(result.closingResponse)"
    let cause: String
    switch result.end {
    case .exited(0): return
    case .interrupted: throw RuntimeError.interrupted
    case .exited(let status): cause = "it ended with exit status \(status)"
    case .signalled(let number): cause = "signal \(number) ended it"
    case .stopped: cause = "it did not end within \(Int(seconds.rounded(.up))) s"
    }
    // A process that did not end well shows nothing about the stages: it is an error, not a
    // difference.
    throw SuiteError.verifyProcessFailed(condition: condition.name, cause: cause + closingResponse)
  }
}
