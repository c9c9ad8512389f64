package import RetakeCore

/// Compares the results of two pipelines: the second one is scored as if the first one's results
/// were labels.
package enum Disagreement {
  /// The results of a pipeline at its primary sink.
  package struct Results {
    package var frames: [(FrameID, SinkValues)]
    /// By the index of a class; a class without a name has its number.
    fileprivate let names: [String]

    package init(_ frames: [(FrameID, SinkValues)], classNames: [String]) {
      self.frames = frames
      // A detector without names has numbers.
      let largest = frames.flatMap(\.1.detections).map(\.classIndex).max() ?? -1
      names =
        classNames + (classNames.count..<max(classNames.count, largest + 1)).map { "\($0)" }
    }
  }

  /// The loss of each frame of `first`: docs/labels.md has the formula.
  package static func score(_ first: Results, _ second: Results) -> LabelScore {
    var truth = Labels(classes: first.names + second.names.filter { !first.names.contains($0) })
    for (frame, values) in first.frames {
      truth.frames[frame] = FrameLabels(
        boxes: values.detections.map { $0.label(first.names) }, scalars: values.scalars)
    }
    var scorer = LabelScorer(truth, classNames: second.names)
    for (frame, values) in second.frames {
      scorer.add(
        frame: frame, detections: values.detections, scalars: values.scalars,
        wasDelivered: values.wasDelivered)
    }
    return scorer.finish()
  }
}

extension Detection {
  fileprivate func label(_ names: [String]) -> LabelBox {
    LabelBox(
      box: box, label: names[classIndex], identity: identity, text: classes.first?.label)
  }
}
