import RetakeCore

/// The ledgers of one run, by sink and track.
struct LedgerTable {
  private var books: [[Int: FrameLedger]]

  init(sinks: Int) {
    books = Array(repeating: [:], count: sinks)
  }

  mutating func capture(track: Int, sink: Int) {
    books[sink][track, default: FrameLedger()].captured += 1
  }

  mutating func count(_ fate: FrameFate, sink: Int, track: Int) {
    books[sink][track, default: FrameLedger()].count(fate)
  }

  func total(ofSink sink: Int) -> FrameLedger {
    var total = FrameLedger()
    for track in books[sink].keys.sorted() {
      guard let ledger = books[sink][track] else { continue }
      total.captured += ledger.captured
      total.delivered += ledger.delivered
      total.throttled += ledger.throttled
      total.replaced += ledger.replaced
      total.failed += ledger.failed
      total.inFlight += ledger.inFlight
      total.dropped.merge(ledger.dropped, uniquingKeysWith: +)
    }
    return total
  }

  func entries(sinkIDs: [String]) -> [RunOutcome.LedgerEntry] {
    // ledger: sorted by track, because a Dictionary has no order.
    books.indices.flatMap { sink in
      books[sink].keys.sorted().map { track in
        RunOutcome.LedgerEntry(
          sink: sinkIDs[sink], track: track, ledger: books[sink][track] ?? FrameLedger())
      }
    }
  }
}
