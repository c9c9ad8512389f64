import RetakeRuntime
import RetakeSession

/// Compares new decisions and results with the rows of a live run, one by one.
final class ReproductionComparison {
  private let live: LiveRunReader
  private var lines: LiveResultLines
  private(set) var events = 0
  private(set) var reproduced = 0
  private(set) var divergence: ReproductionReport.Divergence?
  private var decisionPage: ArraySlice<String> = []
  private var decisionsRead = 0
  private var resultPage: ArraySlice<LiveRunReader.Result> = []
  private var resultsRead = 0
  private var compared = 0
  private var different = 0
  private var notComputed = 0
  private var first: ReproductionReport.ValueDivergence?
  /// The session's error while it was read.
  private var failure: (any Error)?

  init(_ live: LiveRunReader, _ lines: consuming LiveResultLines) {
    self.live = live
    self.lines = lines
  }

  func begin(event: Int) { events = event + 1 }

  /// Throws the error that occurred while the record was read.
  func check() throws { if let failure { throw failure } }

  // MARK: Decisions

  func decided(_ line: String) {
    // Later differences may all follow from the first one.
    guard divergence == nil, failure == nil else { return }
    let recorded = nextDecision()
    // An unreadable record returns no line, which must not look like a divergence.
    guard failure == nil else { return }
    if recorded == line {
      reproduced += 1
    } else {
      diverge(recorded: recorded, reproduced: line)
    }
  }

  /// The record cannot be followed any further.
  func diverge(because detail: String) {
    guard divergence == nil else { return }
    diverge(recorded: nextDecision(), reproduced: nil)
    divergence?.detail = detail
  }

  /// The events have ended, so no recorded decision may be left.
  func end() throws {
    try check()
    // Checked again: the row that is read here may be the unreadable row.
    guard divergence == nil, let recorded = nextDecision() else { return try check() }
    diverge(recorded: recorded, reproduced: nil)
    divergence?.event = nil
  }

  private func diverge(recorded: String?, reproduced line: String?) {
    divergence = ReproductionReport.Divergence(
      decision: reproduced, event: events - 1, recorded: recorded, reproduced: line)
  }

  private func nextDecision() -> String? {
    if decisionPage.isEmpty {
      do {
        decisionPage = try live.decisions(from: decisionsRead)[...]
        decisionsRead += decisionPage.count
      } catch {
        // Kept: this is called from within a decision, which cannot throw.
        failure = failure ?? error
      }
    }
    return decisionPage.popFirst()
  }

  /// The number of recorded decisions.
  func countRecorded() throws -> Int {
    while case let page = try live.decisions(from: decisionsRead), !page.isEmpty {
      decisionsRead += page.count
    }
    return decisionsRead
  }

  // MARK: Values

  /// After the first decision that differs, frames have other fates, so values cannot be compared.
  func finished(_ result: LiveResult) {
    guard divergence == nil, failure == nil else { return }
    for (line, isComputed) in zip(lines.lines(of: result), result.isComputed) {
      // Read even if there is no value to compare, so that rows and lines stay in step.
      guard let recorded = nextResult(), failure == nil else { return }
      guard isComputed else {
        notComputed += 1
        continue
      }
      compared += 1
      if recorded.line == line.text, recorded.sink == line.sink { continue }
      different += 1
      first =
        first
        ?? ReproductionReport.ValueDivergence(
          frame: result.frame.result.id, item: nil, node: line.sink, recorded: recorded.line,
          recomputed: line.text)
    }
  }

  private func nextResult() -> LiveRunReader.Result? {
    if resultPage.isEmpty {
      do {
        resultPage = try live.results(from: resultsRead)[...]
        resultsRead += resultPage.count
      } catch {
        failure = failure ?? error
      }
    }
    return resultPage.popFirst()
  }

  /// Differences of bodies come before differences of sinks, because they are closer to the cause.
  func values(with reproducer: Reproducer, hasExactPixels: Bool) -> ReproductionReport.Values {
    var values = ReproductionReport.Values()
    values.compared = compared + reproducer.computed
    values.different = different + reproducer.differenceCount
    values.notComputed = notComputed + reproducer.notComputed
    values.hasExactPixels = hasExactPixels
    values.first =
      reproducer.differences.first.map {
        ReproductionReport.ValueDivergence(
          frame: $0.frame, item: $0.item < 0 ? nil : $0.item, node: $0.node,
          recorded: $0.recorded, recomputed: $0.recomputed)
      } ?? first
    return values
  }
}
