package import RetakeCompare
package import RetakeCore

/// How close the results of golden and run are to the labels of the session.
package struct ReportLabels: Hashable, Sendable, Codable {
  /// The most frames that are listed.
  package static let framesMax = 50

  /// One figure of both sides.
  package struct Metric: Hashable, Sendable, Codable {
    /// For example `ap50`.
    package var name: String
    package var golden: Double?
    package var actual: Double?
    package var largerIsBetter: Bool
  }

  /// How the frames changed since the golden.
  package struct Change: Hashable, Sendable, Codable {
    /// `better`, `worse`, `mixed` or `same`.
    package var word: String
    /// Frames whose errors became smaller, and whose errors became larger.
    package var better: Int
    package var worse: Int
    /// The frame that became worse by most.
    package var worst: FrameID?
  }

  /// The errors of one frame.
  package struct Frame: Hashable, Sendable, Codable {
    package var frame: FrameID
    /// The sum of the errors; `nil` for the golden if there is no golden.
    package var golden: Double?
    package var actual: Double
    package var missed: Int
    package var extra: Int
    package var switched: Int
    package var wrongClass: Int
    /// The sum of 1 - IoU over the objects that were found.
    package var misplaced: Double
  }

  /// The file, relative to the project.
  package var file: String
  /// The sink whose results are scored.
  package var sink: String
  /// Frames with labels.
  package var labelled: Int
  /// Labelled frames that the run did not deliver; their objects count as missed.
  package var missing: Int
  /// Proposed frames that nobody has corrected; they are not scored.
  package var drafts: Int
  /// Classes of the run that the labels do not have; their boxes are not scored.
  package var unknownClasses: [String]
  package var metrics: [Metric]
  /// `nil` if there is no golden.
  package var change: Change?
  /// In the order of the growth of their errors, then of the errors.
  package var frames: Excerpt<Frame>

  package init(_ labels: LabelComparison) {
    file = labels.file
    sink = labels.sink
    labelled = labels.actual.labelledFrames
    missing = labels.actual.missingFrames
    drafts = labels.drafts
    unknownClasses = labels.actual.unknownClasses
    metrics = LabelMetric.allCases.compactMap { metric in
      let (golden, actual) = (labels.golden?.metrics[metric], labels.actual.metrics[metric])
      guard golden != nil || actual != nil else { return nil }
      return Metric(
        name: metric.rawValue, golden: golden, actual: actual,
        largerIsBetter: metric.largerIsBetter)
    }
    change = labels.change.map {
      Change(word: $0.word.rawValue, better: $0.better, worse: $0.worse, worst: $0.worst?.frame)
    }
    frames = Self.worst(labels)
  }

  private static func worst(_ labels: LabelComparison) -> Excerpt<Frame> {
    let before = Dictionary(
      labels.golden?.frames.map { ($0.frame, $0.loss) } ?? [],
      uniquingKeysWith: { first, _ in first })
    let frames = labels.actual.frames.map { loss in
      Frame(
        frame: loss.frame, golden: before[loss.frame], actual: loss.loss, missed: loss.missed,
        extra: loss.extra, switched: loss.switched, wrongClass: loss.wrongClass,
        misplaced: loss.misplaced)
    }.filter { $0.actual > 0 || $0.golden ?? 0 > 0 }
    // Of equal frames the first comes first.
    let sorted = frames.sorted {
      ($0.growth, $0.actual, $1.frame) > ($1.growth, $1.actual, $0.frame)
    }
    return Excerpt(Array(sorted.prefix(framesMax)), total: sorted.count)
  }

  /// `labels: better: 17 frames better, 3 worse; ap50 0.712 → 0.739; worst: frame 0:1156`.
  package var text: String {
    var parts: [String] = []
    if let change {
      parts.append(
        change.better + change.worse == 0
          ? "no labelled frame became better or worse"
          : "\(change.word): \(Wording.count(change.better, "frame")) better, "
            + "\(Wording.grouped(change.worse)) worse")
    }
    if let metric = metrics.first(where: { $0.name == LabelMetric.ap50.rawValue })
      ?? metrics.first
    {
      parts.append("\(metric.name) \(metric.text)")
    }
    if let worst = change?.worst { parts.append("worst: frame \(worst)") }
    return parts.isEmpty
      ? "no metric can be computed from \(file)" : parts.joined(separator: "; ")
  }

  /// Information that the figures do not show.
  package var notes: [String] {
    var notes: [String] = []
    if missing > 0 {
      notes.append(
        "\(Wording.grouped(missing)) of \(Wording.count(labelled, "labelled frame")) "
          + "\(missing == 1 ? "was" : "were") not delivered; all objects in them count as missed")
    }
    if drafts > 0 {
      notes.append(
        "\(Wording.count(drafts, "frame")) of \(file) \(drafts == 1 ? "is a draft" : "are drafts") "
          + "and not scored")
    }
    if !unknownClasses.isEmpty {
      notes.append(
        "classes that the labels do not have are not scored: "
          + unknownClasses.prefix(8).joined(separator: ", ")
          + (unknownClasses.count > 8 ? " and \(unknownClasses.count - 8) more" : ""))
    }
    return notes
  }
}

extension ReportLabels.Metric {
  /// `0.712 → 0.739`, or one number if both sides are the same or one is missing.
  package var text: String {
    func number(_ value: Double) -> String { Wording.number(value, places: 3) }
    guard let golden, let actual else { return (actual ?? golden).map(number) ?? "–" }
    return number(golden) == number(actual)
      ? number(actual) : "\(number(golden)) → \(number(actual))"
  }

  /// By how much the run is better than the golden; negative if it is worse.
  var gain: Double? {
    golden.flatMap { golden in actual.map { largerIsBetter ? $0 - golden : golden - $0 } }
  }
}

extension ReportLabels.Frame {
  var growth: Double { actual - (golden ?? 0) }
}
