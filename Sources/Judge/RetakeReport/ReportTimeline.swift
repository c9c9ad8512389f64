package import RetakeCore

/// One track over its frames, in bins of equal size. Every list has one entry per bin.
package struct ReportTimeline: Hashable, Sendable, Codable {
  package var track: Int
  package var firstSequence: Int
  package var framesPerBin: Int
  /// The virtual time of the first frame of the first bin, and of the end of the last bin.
  package var startNanoseconds: Int64?
  package var endNanoseconds: Int64?
  package var findings: [Int]
  package var droppedGolden: [Int]
  package var droppedActual: [Int]
  /// The errors of all compared frames. The quantity that is closest to its tolerance comes first.
  package var errors: [TimelineErrors] = []
  /// The fates of frames that did not arrive; only fates that occurred.
  package var lanes: [TimelineLane] = []
  /// Other events, in the order of their frames.
  package var marks: [TimelineMark] = []

  package init(
    track: Int, firstSequence: Int = 0, framesPerBin: Int = 1, findings: [Int],
    droppedGolden: [Int] = [], droppedActual: [Int] = []
  ) {
    precondition(framesPerBin > 0, "a bin holds frames")
    self.track = track
    self.firstSequence = firstSequence
    self.framesPerBin = framesPerBin
    self.findings = findings
    self.droppedGolden = droppedGolden
    self.droppedActual = droppedActual
  }

  package var bins: Int { max(findings.count, droppedGolden.count, droppedActual.count) }
}

/// Frames with the same fate, by bin.
package struct TimelineLane: Hashable, Sendable, Codable {
  /// `dropped`, `failed`, `replaced`, `throttled` or `lost`.
  package var name: String
  package var golden: [Int]
  package var actual: [Int]

  package init(_ name: String, golden: [Int], actual: [Int]) {
    self.name = name
    self.golden = golden
    self.actual = actual
  }
}

/// An event at a point in time, such as a change of a throttle's rate or of the thermal state.
package struct TimelineMark: Hashable, Sendable, Codable {
  package enum Side: String, Hashable, Sendable, Codable {
    case golden
    case actual
    /// It belongs to the session, or it is the same in both runs.
    case both
  }

  /// `throttle`, `thermal`, `memory`, `battery`, `pool`, `swap` and so on.
  package var lane: String
  package var side: Side
  /// The frame at that time.
  package var sequence: Int
  package var text: String

  package init(_ lane: String, _ side: Side, sequence: Int, text: String) {
    self.lane = lane
    self.side = side
    self.sequence = sequence
    self.text = text
  }
}

/// How the decisions of the run differ from the golden's.
package struct DecisionDifferences: Hashable, Sendable, Codable {
  package var added: Int
  package var removed: Int
  package var moved: Int
  /// Made at the same time and place, but with other details.
  package var changed: Int
  package var lines: Excerpt<DecisionDifference>
  /// The kept lines; consecutive lines that differ in the same way form a group.
  package var groups: [DecisionGroup] = []

  package init(
    added: Int, removed: Int, moved: Int, changed: Int = 0, lines: Excerpt<DecisionDifference>
  ) {
    self.added = added
    self.removed = removed
    self.moved = moved
    self.changed = changed
    self.lines = lines
    groups = DecisionGroup.all(lines.items)
  }

  /// The number of groups of the kept lines, including those that are not kept.
  var groupCount: Int {
    guard groups.count >= DecisionGroup.groupsMax else { return groups.count }
    return max(groups.count, DecisionGroup.all(lines.items, limit: .max).count)
  }
}

/// One decision line that is on one side only, or that moved or changed.
package struct DecisionDifference: Hashable, Sendable, Codable {
  package enum Change: String, Hashable, Sendable, Codable {
    case added
    case removed
    case moved
    case changed
  }

  package var change: Change
  /// The lines as they are in decisions.gold.
  package var golden: String?
  package var actual: String?
  /// For example "2 frames later (66 ms)".
  package var note: String?
  /// The earlier differences that it follows from, nearest first.
  package var because: [String]

  package init(
    _ change: Change, golden: String?, actual: String?, note: String? = nil,
    because: [String] = []
  ) {
    self.change = change
    self.golden = golden
    self.actual = actual
    self.note = note
    self.because = because
  }
}

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

/// The fates of the frames, and the counts that are not part of the ledger.
package struct ReportLedger: Hashable, Sendable, Codable {
  package var frames: FrameLedger
  package var lostBeforeCapture: Int
  package var payloadMissing: Int

  package init(_ frames: FrameLedger, lostBeforeCapture: Int = 0, payloadMissing: Int = 0) {
    self.frames = frames
    self.lostBeforeCapture = lostBeforeCapture
    self.payloadMissing = payloadMissing
  }

  /// The rows in the order of the balance, with one row per drop reason.
  package func rows(reasons: [String]) -> [(name: String, count: Int)] {
    [("captured", frames.captured), ("delivered", frames.delivered)]
      + reasons.map { ("dropped: \($0)", frames.dropped[$0] ?? 0) }
      + [
        ("throttled", frames.throttled), ("replaced", frames.replaced), ("failed", frames.failed),
        ("in flight at the end", frames.inFlight), ("lost before capture", lostBeforeCapture),
        ("payload missing", payloadMissing),
      ]
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
