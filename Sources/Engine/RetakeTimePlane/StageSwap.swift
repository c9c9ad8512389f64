package import RetakeCore
package import RetakeGraph

/// A stage that replaces a node's stage during the run.
package struct StageSwap: Sendable {
  package enum Moment: Hashable, Sendable {
    /// Virtual time from the replay's origin.
    case nanoseconds(Int64)
    /// When this frame arrives; if it never arrives, there is no swap.
    case arrival(FrameID)
  }

  /// When the preparation of the new stage begins.
  package var moment: Moment
  /// The node's ID; inside a forEach `x/NODE`.
  package var node: String
  package var stage: AnyStage
  /// The virtual cost of the new stage; `nil` = no cost.
  package var cost: Cost?
  /// Virtual time of the preparation; the new stage is in force for frames that arrive after it.
  package var prepare: Duration

  package init(
    at moment: Moment, node: String, stage: AnyStage, cost: Cost? = nil, prepare: Duration = .zero
  ) {
    self.moment = moment
    self.node = node
    self.stage = stage
    self.cost = cost
    self.prepare = prepare
  }
}
