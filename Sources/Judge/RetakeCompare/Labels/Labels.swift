package import RetakeCore

/// The truth about frames of a session, as a person corrected it: `Labels/SESSION.json`.
package struct Labels: Hashable, Sendable {
  /// The names of the classes that were labelled, each once, in the order of the file.
  package var classes: [String]
  /// A frame that is not here was not labelled, and is not scored. A frame without boxes has no
  /// objects.
  package var frames: [FrameID: FrameLabels]
  /// Proposed frames that no one has corrected. They are not in `frames`.
  package var drafts: Int

  package init(classes: [String] = [], frames: [FrameID: FrameLabels] = [:], drafts: Int = 0) {
    self.classes = classes
    self.frames = frames
    self.drafts = drafts
  }

  /// The metrics that these labels allow.
  package var metrics: Set<LabelMetric> { metrics(of: classes) }

  func metrics(of classes: [String]) -> Set<LabelMetric> {
    guard !frames.isEmpty else { return [] }
    var metrics: Set<LabelMetric> = []
    if !classes.isEmpty { metrics = [.precision, .recall, .ap50, .ap, .countError] }
    let objects = frames.values.flatMap(\.boxes).filter {
      !$0.isIgnored && classes.contains($0.label)
    }
    if !objects.isEmpty, objects.allSatisfy({ $0.identity != nil }) {
      metrics.formUnion([.mota, .idf1, .hota, .idSwitches])
    }
    if objects.contains(where: { $0.text?.isEmpty == false }) { metrics.insert(.textError) }
    if frames.values.contains(where: { !$0.scalars.isEmpty }) { metrics.insert(.scalarError) }
    return metrics
  }
}

/// The truth about one frame.
package struct FrameLabels: Hashable, Sendable {
  package var boxes: [LabelBox]
  /// `false` if only numbers of the frame are known: its boxes are not scored.
  package var hasBoxes: Bool
  /// Numbers of the complete frame by their name, such as `bpm`.
  package var scalars: [String: Double]

  package init(boxes: [LabelBox] = [], hasBoxes: Bool = true, scalars: [String: Double] = [:]) {
    self.boxes = boxes
    self.hasBoxes = hasBoxes
    self.scalars = scalars
  }
}

/// One object of a frame, or a region in which detections are not judged.
package struct LabelBox: Hashable, Sendable {
  /// The label of a region in which detections of no class are judged.
  package static let ignoreLabel = "ignore"

  /// In pixels of the stored frame.
  package var box: Box
  /// The name of its class.
  package var label: String
  /// The same number in all frames of the object; `nil` if the objects are not followed.
  package var identity: Int?
  /// Whether this is a region whose objects are not labelled one by one, such as a crowd.
  package var isIgnored: Bool
  /// The text that the image shows there.
  package var text: String?

  package init(
    box: Box, label: String, identity: Int? = nil, isIgnored: Bool = false, text: String? = nil
  ) {
    self.box = box
    self.label = label
    self.identity = identity
    self.isIgnored = isIgnored
    self.text = text
  }
}
