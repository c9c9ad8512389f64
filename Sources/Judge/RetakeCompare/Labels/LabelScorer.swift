package import RetakeCore

/// Scores the results of a run against the labels of its session.
package struct LabelScorer {
  private let labels: Labels
  /// The run's names by the index of a class; they may be set later, before `finish()`. Without
  /// names, a class of the run is the label's class of the same index.
  package var classNames: [String]

  /// - Parameters:
  ///   - classNames: The run's names by the index of a class.
  ///   - classes: The names of the classes that are scored; `nil` for all.
  package init(_ labels: Labels, classNames: [String], classes: Set<String>? = nil) {
    (self.labels, self.classNames) = (labels, classNames)
  }

  /// Adds the results of a frame, once. Frames without labels are ignored.
  ///
  /// - Parameters:
  ///   - detections: In pixels of the stored frame. The text of a detection is its first label.
  ///   - wasDelivered: Whether the results came to the sink; if not, they count as missing.
  package mutating func add(
    frame: FrameID, detections: [Detection], scalars: [String: Double] = [:],
    wasDelivered: Bool = true
  ) {
  }

  package func finish() -> LabelScore {
    LabelScore()
  }
}
