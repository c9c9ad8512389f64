/// How close the results of a run are to the labels of its session.
package struct LabelScore: Hashable, Sendable {
  /// Without an entry for a metric that labels and results do not allow: precision without a
  /// detection, MOTA without identities.
  package var metrics: [LabelMetric: Double]
  /// The labelled frames, in their order.
  package var frames: [FrameLoss]
  /// Labelled frames that the run did not deliver. Each of their objects counts as missed.
  package var missingFrames: Int
  /// Classes of the run that no label has, in the order of their names. Their detections are not
  /// scored, as in COCO's evaluation.
  package var unknownClasses: [String]

  package var labelledFrames: Int { frames.count }

  /// The sum over all frames.
  package var loss: Double { frames.reduce(0) { $0 + $1.loss } }

  package init(
    metrics: [LabelMetric: Double] = [:], frames: [FrameLoss] = [], missingFrames: Int = 0,
    unknownClasses: [String] = []
  ) {
    self.metrics = metrics
    self.frames = frames
    self.missingFrames = missingFrames
    self.unknownClasses = unknownClasses
  }

  /// Whether the results came closer to the labels since the golden. If the losses and `ap50` say
  /// the opposite, the word is `mixed`: a detector that finds no object has no false detection.
  package func verdict(since golden: LabelScore) -> LabelChange {
    var change = LabelChange(from: golden.frames, to: frames)
    if let before = golden.metrics[.ap50] {
      let rise = (metrics[.ap50] ?? 0) - before
      switch change.word {
      case .better where rise < -LabelChange.leastDifference: change.word = .mixed
      case .worse where rise > LabelChange.leastDifference: change.word = .mixed
      default: break
      }
    }
    return change
  }
}
