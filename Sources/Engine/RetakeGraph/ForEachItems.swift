package import RetakeBuffers
package import RetakeCore

/// The input and the output of a forEach.
package enum ForEachItems {
  /// The input of a forEach: the first frame and the first detections of a join.
  package static func input(_ value: any PipelineValue) -> (Frame, Detections)? {
    guard let joined = value as? Joined, let frame = joined.values(Frame.self).first,
      let detections = joined.values(Detections.self).first
    else { return nil }
    return (frame, detections)
  }

  /// The number of items. A frame that an `any` or latest join passed on without its detections has
  /// no items.
  package static func count(in value: any PipelineValue) -> Int {
    input(value)?.1.items.count ?? 0
  }

  /// The item with a given index.
  package static func region(_ index: Int, of value: any PipelineValue) -> Region? {
    guard let (frame, detections) = input(value), detections.items.indices.contains(index) else {
      return nil
    }
    return Region(frame: frame, detection: detections.items[index])
  }

  /// The detections with a classifier's result for each of them; other bodies output `Items`.
  package static func gathered(
    _ value: any PipelineValue, outcomes: [Items.Outcome], isClassified: Bool
  ) -> any PipelineValue {
    guard var detections = input(value)?.1 else { return Detections([], classNames: []) }
    guard isClassified else { return Items(detections: detections, outcomes: outcomes) }
    for (index, outcome) in outcomes.enumerated() {
      // By `gather-close`, a failed item keeps its place: its detection stays, without labels.
      guard case .value(let value) = outcome, let classes = value as? Classes else { continue }
      detections.items[index].classes = classes.items
    }
    return detections
  }
}
