import RetakeCore

/// How many frames per second arrive at each node of a flat graph; inside a forEach, how many
/// items.
struct FlowRates {
  /// By node: the rate that arrives at it, after queues have dropped frames.
  private(set) var arriving: [Double]
  /// By node: the rate that leaves it on each edge.
  private(set) var leaving: [Double]

  /// - Parameters:
  ///   - sources: Frames per second, by node.
  ///   - limits: The largest rate that a node accepts, if an edge before it drops the rest.
  init(
    _ graph: GraphIndex, order: [Int], sources: [Int: Double], items: Int, limits: [Int: Double]
  ) {
    arriving = Array(repeating: 0, count: graph.nodes.count)
    leaving = arriving
    for node in order {
      let inputs = graph.senderByPort(to: node).compactMap { $0.map { leaving[$0] } }
      let offered: Double
      switch graph.nodes[node].stage.body {
      case .source: offered = sources[node] ?? 0
      // A frame needs all of its parts, so the rarest input is the limit.
      case .join(.all): offered = inputs.min() ?? 0
      // A single part is enough. The model does not know which frames also have other parts.
      case .join(.any): offered = inputs.max() ?? 0
      // A latest join follows its first port; all other nodes have one.
      default: offered = inputs.first ?? 0
      }
      arriving[node] = min(offered, limits[node] ?? .infinity)
      leaving[node] = Self.leaving(graph.nodes[node].stage, arriving[node], items: items)
    }
  }

  private static func leaving(_ stage: AnyStage, _ arriving: Double, items: Int) -> Double {
    switch stage.body {
    case .throttle(let policy):
      // The state of the device is unknown, so no rule of the policy applies.
      let fps = policy.fps(in: DeviceState())
      return fps > 0 ? min(arriving, fps) : arriving
    case .sample(let every): return arriving / Double(max(1, every))
    case .fork: return arriving * Double(items)
    case .gather: return arriving / Double(items)
    default: return arriving
    }
  }
}
