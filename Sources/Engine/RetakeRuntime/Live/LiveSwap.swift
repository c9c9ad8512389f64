import RetakeTimePlane

/// A stage that replaces, or replaced, a node's stage.
struct LiveSwap: Sendable {
  var swap: StageSwap
  var node: Int
  var refusal: String?
  var isDecided = false
}
