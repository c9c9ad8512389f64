import Foundation
import RetakeCore
import RetakeGolden
package import RetakeReplay

/// Runs a case repeatedly under conditions that must not change its results.
package struct Verification {
  /// Creates a new replay of the case for a condition.
  package var makeReplay: (VerifyCondition) throws -> Replay
  /// Runs the case in separate processes; if `nil`, the conditions of separate processes are
  /// skipped.
  package var newProcesses: NewProcessRuns?
  /// Called with the number of finished runs and the number of all runs.
  package var progress: (Int, Int) -> Void

  package init(
    newProcesses: NewProcessRuns? = nil,
    makeReplay: @escaping (VerifyCondition) throws -> Replay,
    progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) {
    self.newProcesses = newProcesses
    self.makeReplay = makeReplay
    self.progress = progress
  }

  /// At most four traces are in the temporary folder at any time: of the first run, of the first
  /// new process, of the run that is compared, and of its repetition.
  ///
  /// - Throws: Errors of a run; `SuiteError.halted` for the first run that a stage ended, under any
  ///   condition; `SuiteError.verifyProcessFailed` for a process that did not complete its work.
  package func run() throws -> VerifyReport {
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    var runs = Runs(verification: self, folder: scratch.url)
    let first = try runs.trace(.first)
    let summary = first.facts.summary
    var report = VerifyReport(
      session: summary.session, caseName: summary.caseName ?? summary.pipeline,
      frames: first.facts.frames, decisionDigest: summary.decisionDigest,
      resultDigest: summary.resultDigest, variations: [], failureCount: summary.failureCount)
    runs.hasBatches = first.facts.stages.contains(where: \.computesBatches)
    for condition in runs.inProcess {
      report.variations.append(try runs.compare(condition, with: first, named: .first).0)
    }
    guard newProcesses != nil else { return report }
    runs.firstSeconds = summary.wallSeconds
    runs.hasPrograms = first.facts.stages.contains(where: \.isProgram)
    var baseline = first
    for condition in runs.newProcesses {
      // The first run drew its hash seed, too. Processes with the fixed seed are compared with the
      // baseline, so that only their own condition makes a difference.
      let isFirst = condition.process?.hashSeed == .drawn || condition == .baseline
      let (variation, trace) = try runs.compare(
        condition, with: isFirst ? first : baseline, named: isFirst ? .first : .baseline,
        keeps: condition == .baseline)
      report.variations.append(variation)
      if condition == .baseline { baseline = trace }
    }
    return report
  }

  /// The work of a process that was started for a condition: runs the case and leaves its trace.
  package static func record(_ replay: Replay, into folder: String) throws {
    try StoredTraceWriter.record(replay, into: URL(fileURLWithPath: folder))
  }
}

/// The runs of one verification, one after the other.
private struct Runs {
  let verification: Verification
  let folder: URL
  /// The duration of the first run, which determines the time limit of other runs.
  var firstSeconds = 0.0
  /// Whether the pipeline starts programs.
  var hasPrograms = false
  /// Whether a stage of the pipeline computes batches in one call.
  var hasBatches = false
  private var count = 0
  private var repeated = 0

  init(verification: Verification, folder: URL) {
    self.verification = verification
    self.folder = folder
  }

  /// The conditions in this process, in their order.
  var inProcess: [VerifyCondition] {
    VerifyCondition.inProcess + (hasBatches ? [.oneByOne] : [])
  }

  /// The conditions in new processes, in their order.
  var newProcesses: [VerifyCondition] {
    VerifyCondition.newProcess + (hasPrograms ? [.programThreads] : [])
  }

  mutating func trace(_ condition: VerifyCondition) throws -> StoredTrace {
    count += 1
    let place = folder.appending(path: "\(count)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    if condition.process == nil {
      try StoredTraceWriter.record(verification.makeReplay(condition), into: place)
    } else {
      try verification.newProcesses?.run(condition, into: place, firstSeconds: firstSeconds)
    }
    let processes = verification.newProcesses == nil ? 0 : newProcesses.count
    let trace = try read(place, of: condition)
    // Runs that are halted at the same frame are equal, and the frames after it are not verified.
    if let halt = trace.facts.summary.halt {
      throw SuiteError.halted(halt, of: "the run with \(condition.name)")
    }
    verification.progress(
      // Repetitions are not in the announced number of runs.
      count - repeated, 1 + inProcess.count + processes)
    return trace
  }

  private func read(_ place: URL, of condition: VerifyCondition) throws -> StoredTrace {
    do {
      return try StoredTrace(reading: place)
    } catch {
      throw SuiteError.verifyProcessFailed(
        condition: condition.name, cause: "it left no trace: \(error.systemText)")
    }
  }

  /// - Parameter keeps: Whether the trace is kept for later comparisons.
  mutating func compare(
    _ condition: VerifyCondition, with expected: StoredTrace, named name: VerifyCondition,
    keeps: Bool = false
  ) throws -> (VerifyReport.Variation, StoredTrace) {
    let actual = try trace(condition)
    // At once, because the traces of all conditions together could fill the disk.
    defer { if !keeps { actual.remove() } }
    let divergence = try TraceComparison(expected: expected, actual: actual).divergence()
    var variation = VerifyReport.Variation(
      condition: condition, outcome: VerifyReport.Variation.outcome(divergence, under: condition),
      comparedWith: name.name, decisionDigest: actual.facts.summary.decisionDigest,
      resultDigest: actual.facts.summary.resultDigest, divergence: divergence)
    if condition.isOtherPlatform {
      variation.hasOtherMathematics = actual.facts.mathematics != expected.facts.mathematics
    }
    if variation.outcome == .platformDependent { try confirm(&variation, actual) }
    return (variation, actual)
  }

  /// If a run also differs from its own repetition, the difference does not depend on the processor
  /// alone.
  private mutating func confirm(
    _ variation: inout VerifyReport.Variation, _ actual: StoredTrace
  ) throws {
    repeated += 1
    let again = try trace(variation.condition)
    defer { again.remove() }
    guard let divergence = try TraceComparison(expected: actual, actual: again).divergence() else {
      return
    }
    variation.outcome = .different
    variation.comparedWith = variation.condition.name
    variation.divergence = divergence
  }
}
