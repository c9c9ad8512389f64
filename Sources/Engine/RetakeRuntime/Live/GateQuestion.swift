import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// A question of the core about a value.
struct GateQuestion {
  enum Kind {
    case items
    case port
  }

  var kind: Kind
  var node: Int
  var frame: FrameID
  var input: (any PipelineValue)?

  /// The answer, computed from the value.
  func answer(plan: GraphPlan) -> Int? {
    guard let input else { return nil }
    switch kind {
    case .items: return ForEachItems.count(in: input)
    case .port:
      guard case .route(let choose) = plan.nodes[node].stage.body else { return nil }
      return choose(input)
    }
  }
}
