package import RetakeCore
package import RetakeRuntime
package import RetakeSession

/// Compares the decisions of a replay with the decisions of a live run on the same session. This
/// shows how faithful the model is. Times differ, so lines are compared without them.
package final class LiveComparison: RunObserver {
  private let live: LiveRunReader
  /// The number of each decision line, by the hash of the line without its time.
  private var counts: [UInt64: Int] = [:]
  private var total = 0
  private var drops = 0

  package var wantsDecisions: Bool { true }

  package init(_ live: LiveRunReader) {
    self.live = live
  }

  package func decided(_ line: DecisionLine) {
    total += 1
    if line.kind == .drop { drops += 1 }
    counts[Self.hash("\(line)"), default: 0] += 1
  }

  package func finished(_ frame: FinishedFrame) {}

  /// The agreement of the two runs.
  ///
  /// - Throws: `SessionError`.
  package func agreement(lost: Int) throws -> RunSummary.LiveAgreement {
    var agreement = RunSummary.LiveAgreement(run: live.number)
    var (read, rest) = (0, counts)
    // Bounded: each turn reads a page of a finite table.
    while case let page = try live.decisions(from: read), !page.isEmpty {
      read += page.count
      for line in page {
        if Self.isDrop(line) { agreement.liveDrops += 1 }
        if Self.isLost(line) { agreement.liveLost += 1 }
        let hash = Self.hash(line)
        // Counted down, because a line without its time may occur several times.
        if let count = rest[hash], count > 0 {
          rest[hash] = count - 1
          agreement.same += 1
        } else {
          agreement.onlyLive += 1
        }
      }
    }
    agreement.onlyReplayed = total - agreement.same
    agreement.replayedDrops = drops
    agreement.replayedLost = lost
    return agreement
  }

  private static func isDrop(_ line: String) -> Bool { line.contains(" drop reason=") }
  private static func isLost(_ line: String) -> Bool { line.contains(" lost reason=") }

  private static func hash(_ line: String) -> UInt64 {
    let end = line.firstIndex(of: " ") ?? line.startIndex
    return Digest128(of: String(line[end...])).low
  }
}
