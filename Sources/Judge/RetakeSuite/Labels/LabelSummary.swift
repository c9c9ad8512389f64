import RetakeCompare
import RetakeGolden

/// The labels of a session after a change, in figures.
package struct LabelSummary: Hashable, Sendable, Codable {
  package var session: String
  /// The file of the labels.
  package var path: String
  /// Frames of the session's labelled track.
  package var captured: Int
  /// Frames that are scored, and the number of these frames without objects.
  package var labelled: Int
  package var negatives: Int
  /// Proposed frames, which no one has corrected.
  package var drafts: Int
  /// Without ignored regions.
  package var boxes: Int
  package var ignored: Int
  package var classes: [String]
  package var identities: Int
  /// The names of numbers.
  package var scalars: [String]

  init(_ document: LabelDocument, session: String, path: String, captured: Int) {
    (self.session, self.path, self.captured) = (session, path, captured)
    let frames = document.frames.filter { !$0.value.isDraft }
    let all = document.frames.flatMap { id, frame in frame.labels.boxes.map { (id.track, $0) } }
    labelled = frames.count
    drafts = document.frames.count - labelled
    negatives = frames.values.count { $0.labels.hasBoxes && $0.labels.boxes.isEmpty }
    ignored = all.count { $1.isIgnored }
    boxes = all.count - ignored
    classes = document.classes
    identities =
      Set(all.compactMap { track, box in box.identity.map { "\(track) \(box.label) \($0)" } })
      .count
    scalars = document.frames.values.reduce(into: Set<String>()) {
      $0.formUnion($1.labels.scalars.keys)
    }.sorted()
  }
}
