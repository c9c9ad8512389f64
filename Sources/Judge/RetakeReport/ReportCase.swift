package import RetakeCompare
package import RetakeCore

/// One case of the run: a session replayed through a pipeline and compared with its golden.
package struct ReportCase: Hashable, Sendable, Codable {
  package var session: String
  /// The name of the case: written as `case`.
  package var name: String
  package var pipeline: String
  /// The file of the pipeline, relative to the project; `nil` for a pipeline that is not a document
  /// in the project.
  package var document: String?
  package var mode: String
  package var verdict: Verdict
  /// Set if golden.yml marks a change as known.
  package var expected: KnownChange?
  /// The reason for this verdict, in one sentence.
  package var reason: String
  package var counts = ComparedCounts()
  /// The checks of the case, each with its own verdict. JUnit has a test case for each check.
  package var checks: [ReportCheck] = []
  package var headroom: [Headroom] = []
  package var budgets: [ReportBudget] = []
  /// `nil` if the session has no labels.
  package var labels: ReportLabels?
  package var ledgers: [LedgerPair] = []
  package var decisionDigest: TextPair?
  package var resultDigest: TextPair?
  package var tracks: [ReportTrack] = []
  package var graph: ReportGraph?
  package var rootCauses: [ReportRootCause] = []
  package var findings = Excerpt<ReportFinding>()
  package var pictures: [ReportImage] = []
  /// Sensor values around the first frames in `pictures`; `nil` if no stage reads a sensor.
  package var sensors: [ReportSensorStrip]?
  package var timelines: [ReportTimeline] = []
  package var decisions: DecisionDifferences?
  /// Things other than the results that changed and may be the cause; they never affect the
  /// verdict.
  package var suspects: [ReportSuspect] = []
  /// The tolerances of golden.yml, by sink.
  package var tolerances: [ReportTolerance] = []
  /// The latest acceptance of the golden that was compared with: when it was accepted, and why.
  package var accepted: ReportAcceptance?
  /// Distinguishes the pending result from any other result; `nil` if the run left no pending
  /// result.
  package var pending: String?
  package var error: ReportProblem?
  package var notes: [String] = []
  package var commands: [ReportCommand] = []
  package var run: ReportRun?

  private enum CodingKeys: String, CodingKey {
    case session, name = "case", pipeline, document, mode, verdict, expected, reason, counts, checks
    case headroom, budgets, labels, ledgers, decisionDigest, resultDigest, tracks, graph, rootCauses
    case findings, pictures, sensors, timelines, decisions, suspects, tolerances, accepted, pending,
      error
    case notes, commands, run
  }

  package init(
    session: String, name: String, pipeline: String, mode: String, verdict: Verdict,
    reason: String
  ) {
    self.session = session
    self.name = name
    self.pipeline = pipeline
    self.mode = mode
    self.verdict = verdict
    self.reason = reason
  }

  /// `"yard/motion"`.
  package var title: String { "\(session)/\(name)" }

  /// Keeps the images, and the sensor values, of the first frames, and removes the others.
  ///
  /// - Parameter most: The most frames that keep their images.
  /// - Returns: The number of frames with images.
  package mutating func keepPictures(ofFrames most: Int) -> Int {
    var frames: [FrameID] = []
    for picture in pictures where !frames.contains(picture.frame) { frames.append(picture.frame) }
    guard most == 0 || frames.count > most else { return frames.count }
    let kept = Set(frames.prefix(most))
    pictures.removeAll { !kept.contains($0.frame) }
    sensors = sensors?.filter { kept.contains($0.frame) }
    if sensors?.isEmpty == true { sensors = nil }
    return kept.count
  }
}

/// The rule that compares the results of one sink, in words.
package struct ReportTolerance: Hashable, Sendable, Codable {
  package var sink: String
  package var rule: String

  package init(sink: String, rule: String) {
    self.sink = sink
    self.rule = rule
  }
}

/// An entry of golden.yml's list of acceptances.
package struct ReportAcceptance: Hashable, Sendable, Codable {
  /// A date, such as 2026-11-21.
  package var at: String
  package var reason: String

  package init(at: String, reason: String) {
    self.at = at
    self.reason = reason
  }
}

/// The number of compared frames, by the result of the comparison.
package struct ComparedCounts: Hashable, Sendable, Codable {
  package var compared: Int
  package var same: Int
  /// Different, but by no more than is allowed.
  package var withinTolerance: Int
  package var changed: Int

  package init(compared: Int = 0, same: Int = 0, withinTolerance: Int = 0, changed: Int = 0) {
    self.compared = compared
    self.same = same
    self.withinTolerance = withinTolerance
    self.changed = changed
  }
}

/// One check of a case, such as `results` or `decisions`.
package struct ReportCheck: Hashable, Sendable, Codable {
  package var name: String
  package var verdict: Verdict
  package var message: String

  package init(_ name: String, _ verdict: Verdict, _ message: String = "") {
    self.name = name
    self.verdict = verdict
    self.message = message
  }
}

/// A string of the golden and the corresponding string of the run.
package struct TextPair: Hashable, Sendable, Codable {
  package var golden: String?
  package var actual: String?

  package init(golden: String?, actual: String?) {
    self.golden = golden
    self.actual = actual
  }
}

/// How the case was run.
package struct ReportRun: Hashable, Sendable, Codable {
  package var workers: Int
  package var wallSeconds: Double
  package var framesPerSecond: Double
  /// The number of costs from timings, and of costs that were declared or drawn.
  package var costsRecorded: Int
  package var costsModelled: Int
  /// If the costs of a live run's timings were used to decide again: how faithful the model is.
  package var live: RunSummary.LiveAgreement?

  package init(
    workers: Int, wallSeconds: Double, framesPerSecond: Double, costsRecorded: Int = 0,
    costsModelled: Int = 0
  ) {
    self.workers = workers
    self.wallSeconds = wallSeconds
    self.framesPerSecond = framesPerSecond
    self.costsRecorded = costsRecorded
    self.costsModelled = costsModelled
  }
}

extension ReportCase {
  /// The first difference of an observation, a label or a text that follows from a root cause, whose
  /// headline names the stage alone; nil without one. A line that the golden has is followed by the
  /// line of the run in its place.
  func firstItem(of cause: ReportRootCause) -> String? {
    let own = findings.items.filter { $0.rootCause == cause.id }
    guard let first = own.first(where: { $0.isItem }) else { return nil }
    var text = Self.shortened(first.message) + first.allowance
    if first.kind == Finding.Kind.factDisappeared.rawValue,
      let other = own.first(where: {
        $0.kind == Finding.Kind.factAppeared.rawValue && $0.frame == first.frame
          && $0.sink == first.sink
      })
    {
      text += ", and \(Self.shortened(other.message))"
    }
    // The cause begins at the first output that differs, also within tolerance.
    guard let frame = first.frame, frame != cause.frame else { return text }
    return "frame \(frame), \(first.sink ?? "results"): \(text)"
  }

  /// A line that a program printed may be long. The end of the message is its verb.
  private static func shortened(_ message: String) -> String {
    message.count > 240 ? "\(message.prefix(160))…\(message.suffix(79))" : message
  }
}

extension ReportFinding {
  /// The allowed error, for messages that do not state it.
  fileprivate var allowance: String {
    let stating = [Finding.Kind.maskChanged, .pictureChanged].map(\.rawValue)
    guard let allowed, !stating.contains(kind) else { return "" }
    return " (\(Wording.number(allowed))\(unit.map { " \($0)" } ?? "") allowed)"
  }

  /// Whether it is about a label, a text or an observation.
  fileprivate var isItem: Bool {
    let kinds = [
      Finding.Kind.textChanged, .labelChanged, .factDisappeared, .factAppeared, .pictureChanged,
      .maskChanged, .pointMoved, .embeddingChanged, .fieldChanged,
    ].map(\.rawValue)
    return kinds.contains(kind)
      || [golden, actual].compactMap(\.self).contains {
        ObservationLine(parsing: $0) != nil
      }
  }
}
