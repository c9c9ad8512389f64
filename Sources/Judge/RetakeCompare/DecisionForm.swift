import RetakeCore

/// The parts of a decision that stay the same when it moves from one frame to another.
struct DecisionForm: Hashable {
  var node: String
  var kind: DecisionKind
  var track: Int
  var item: Int?
  var details: [DecisionLine.Detail]

  init?(_ line: DecisionLine) {
    guard let frame = line.frame else { return nil }
    node = line.node
    kind = line.kind
    track = frame.track
    item = line.item
    details = line.details
  }

  /// The distance in frames.
  func distance(_ golden: DecisionLine, _ actual: DecisionLine) -> Int {
    (actual.frame?.sequence ?? 0) - (golden.frame?.sequence ?? 0)
  }
}
