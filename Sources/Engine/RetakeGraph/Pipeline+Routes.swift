import RetakeCore

/// The ports of the routes before a node through which a frame can reach the node.
private struct RouteConditions {
  /// The largest number of routes that are tracked; for longer chains, the nearest routes. Dropping
  /// a route only means that fewer errors are found.
  static let routesMax = 16

  struct Condition {
    var route: Int
    /// One bit for each port.
    var ports: UInt32
  }

  private(set) var conditions: [Condition] = []

  func ports(of route: Int) -> UInt32? { conditions.first { $0.route == route }?.ports }

  mutating func add(_ condition: Condition) {
    conditions.removeAll { $0.route == condition.route }
    conditions.append(condition)
    if conditions.count > Self.routesMax { conditions.removeFirst() }
  }

  /// The conditions under which both hold. Returns a route without a common port, if there is one.
  mutating func formIntersection(_ other: RouteConditions) -> Int? {
    for condition in other.conditions {
      // A route that is not on the way of this part does not restrict it.
      let common = condition.ports & (ports(of: condition.route) ?? condition.ports)
      guard common != 0 else { return condition.route }
      add(Condition(route: condition.route, ports: common))
    }
    return nil
  }

  /// The conditions under which at least one of them holds.
  mutating func formUnion(_ other: RouteConditions) {
    conditions = conditions.compactMap { condition in
      // A route that one part did not pass is not a condition of both.
      other.ports(of: condition.route).map {
        Condition(route: condition.route, ports: condition.ports | $0)
      }
    }
  }
}

extension GraphIndex {
  /// A route sends each frame to one port, so values that pass through two of its ports never meet
  /// in a join with the mode all.
  func checkRoutes(_ order: [Int]) throws {
    guard nodes.indices.contains(where: { role($0) == .route }) else { return }
    var reached = Array(repeating: RouteConditions(), count: nodes.count)
    for node in order {
      let parts = edgesByPort(to: node).compactMap { $0 }.map { conditions(behind: $0, reached) }
      guard var all = parts.first else { continue }
      if case .join(let mode) = nodes[node].stage.body {
        for (port, part) in parts.enumerated().dropFirst() {
          if mode == .any {
            all.formUnion(part)
          } else if let route = all.formIntersection(part) {
            throw neverMeets(node, port: port, route: route)
          }
        }
      }
      reached[node] = all
    }
  }

  private func conditions(behind edge: Int, _ reached: [RouteConditions]) -> RouteConditions {
    let sender = senders[edge]
    var result = reached[sender]
    if let port = edges[edge].fromPort,
      let index = nodes[sender].stage.outputPorts.firstIndex(of: port)
    {
      // `AnyStage.portsMax` keeps the index within the bits of the mask.
      result.add(.init(route: sender, ports: 1 << UInt32(index)))
    }
    return result
  }

  private func neverMeets(_ node: Int, port: Int, route: Int) -> PipelineError {
    let join = nodes[node]
    let edge = edgesByPort(to: node)[port]
    return PipelineError(
      .unsupported(
        "'\(join.id)' would wait for frames on several ports, and '\(nodes[route].id)' sends each "
          + "frame to one",
        advice: "Set the mode of '\(join.id)' to any"),
      at: edge.map { pointer(ofEdge: $0) } ?? pointer(ofNode: node))
  }
}
