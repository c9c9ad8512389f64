/// The ledger of one sink, golden and actual.
package struct LedgerPair: Hashable, Sendable, Codable {
  package var track: Int?
  package var sink: String?
  package var golden: ReportLedger?
  package var actual: ReportLedger?

  package init(
    track: Int? = nil, sink: String? = nil, golden: ReportLedger?, actual: ReportLedger?
  ) {
    self.track = track
    self.sink = sink
    self.golden = golden
    self.actual = actual
  }
}

extension LedgerPair {
  /// The drop reasons of both sides, in byte order.
  package var reasons: [String] {
    let all = [golden, actual].compactMap { $0 }.flatMap { $0.frames.dropped.keys }
    // Sorted, because the order of a Set differs from process to process.
    return Set(all).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
