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
  /// `throttle`, `thermal`, `memory`, `battery`, `pool`, `swap` and so on.
  package var lane: String
  /// `both` if the event belongs to the session, or is the same in both runs.
  package var side: ReportBox.Side
  /// The frame at that time.
  package var sequence: Int
  package var text: String

  package init(_ lane: String, _ side: ReportBox.Side, sequence: Int, text: String) {
    self.lane = lane
    self.side = side
    self.sequence = sequence
    self.text = text
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
