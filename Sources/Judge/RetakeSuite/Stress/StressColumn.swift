package import RetakeCompare
package import RetakeCore
package import RetakeGolden

/// The outcome of one replay of a stress, from which columns are computed.
package struct StressResult {
  package var comparison: Comparison
  package var summary: RunSummary
  /// The accepted golden.
  package var golden: GoldenFolder
  /// The files of this replay.
  package var actual: GoldenFolder
}

/// A number of each replay of a stress: a column of its table.
package struct StressColumn: Sendable {
  package var name: String
  /// Whether larger numbers are better, as of a score; the others count differences.
  package var isScore = false
  /// `nil` if the replay has no such number.
  package var value: @Sendable (StressResult) throws -> Double?

  /// In the order of the table.
  package static let all =
    [
      StressColumn(name: "changed") {
        let counts = $0.comparison.counts
        return Double(counts.changed + counts.missing + counts.inserted)
      },
      StressColumn(name: "boxesLost") { $0.count(.boxDisappeared) },
      StressColumn(name: "boxesNew") { $0.count(.boxAppeared) },
      StressColumn(name: "failed") { Double($0.summary.frames.failed) },
      StressColumn(name: "dropped") { Double($0.summary.frames.droppedTotal) },
      StressColumn(name: "delivered", isScore: true) { Double($0.summary.frames.delivered) },
    ] + metrics

  /// Of the labels; a session without labels has no such number.
  private static let metrics = LabelMetric.allCases.map { metric in
    StressColumn(name: metric.rawValue, isScore: metric.largerIsBetter) {
      $0.comparison.labels?.actual.metrics[metric]
    }
  }
}

extension StressResult {
  fileprivate func count(_ kind: Finding.Kind) -> Double {
    Double(comparison.findings.count { $0.kind == kind })
  }

  /// The first frame with another result than the golden's.
  var firstChange: FrameID? {
    comparison.findings.first { $0.frame != nil && Self.results.contains($0.kind) }?.frame
  }

  /// Decisions and the pipeline differ by design: there is one node more.
  private static let results: Set<Finding.Kind> = [
    .frameLost, .frameInserted, .fateChanged, .timeChanged, .boxAppeared, .boxDisappeared,
    .boxMoved, .classChanged, .identityChanged, .scoreChanged, .numberChanged, .labelChanged,
    .textChanged, .waveformChanged, .pictureChanged, .factChanged, .factAppeared, .factDisappeared,
    .maskChanged, .pointMoved, .embeddingChanged, .fieldChanged,
  ]
}
