import Foundation
import Retake
import Testing

/// The project that the replays of one suite share, and their outcomes.
final class ReplayScope: Sendable {
  /// The scope of the running test; `nil` without the trait `retake`.
  @TaskLocal static var current: ReplayScope?

  private struct Found: Sendable {
    var outcomes: [SuiteRun.Outcome] = []
    /// When the first case began and the last one ended.
    var begin: Int64?
    var end: Int64 = 0
  }

  let hosted: HostedProject
  private let title: String
  private let turns = Turns(count: ProcessInfo.processInfo.activeProcessorCount)
  private let found = Locked(Found())
  private let clock = WallClock()

  init(_ hosted: HostedProject, title: String) {
    self.hosted = hosted
    self.title = title
  }

  /// Calls blocking work when it is its turn: Swift Testing begins all cases at once, and each
  /// needs memory.
  func work<Value: Sendable>(
    _ body: @escaping @Sendable (_ isInterrupted: @escaping @Sendable () -> Bool) throws -> Value
  ) async throws -> Value {
    try await turns.take { try await onThread(body) }
  }

  /// Runs a case and keeps its outcome for the suite's report.
  func run(_ selected: SelectedCase) async throws -> SuiteRun.Outcome {
    try await work { [self] isInterrupted in
      let begin = clock.monotonicNanoseconds
      let outcome = try hosted.run(
        [selected], options: RunOptions(isInterrupted: isInterrupted))
      found.withLock { found in
        found.outcomes.append(outcome)
        found.begin = min(found.begin ?? begin, begin)
        found.end = max(found.end, clock.monotonicNanoseconds)
      }
      return outcome
    }
  }

  /// Prints the speed, and attaches the report of all cases to the suite.
  func finish(at sourceLocation: SourceLocation) {
    let found = found.withLock { $0 }
    let seconds = Double(found.end - (found.begin ?? found.end)) / 1e9
    guard let document = HostedProject.report(found.outcomes, title: title, seconds: seconds)
    else { return }
    print("retake: \(title): \(TerminalReport.summary(of: document))")
    if let warning = hosted.project.slowness(document.totals.framesPerSecond) {
      print("retake: \(title): warning: \(warning)")
    }
    for note in document.notes { print("retake: \(title): note: \(note)") }
    Attachment.record(
      Array(JUnitReport.render(document).utf8), named: "junit.xml", sourceLocation: sourceLocation)
    attachPage(of: document, named: "report.html", at: sourceLocation)
  }
}
