import RetakeCore

/// A change to a pipeline that a warning proposes.
package enum PipelineFix: Hashable, Sendable {
  /// How many frames a node handles at once; nodes of a body have the form `forEach/node`.
  case lanes(node: String, count: Int)
  case servers(executor: String, count: Int)
  /// The policy of the queue in front of a node; for a join, in front of the port.
  case policy(before: String, port: String?, EdgePolicy)
  case timeout(node: String, Duration)

  /// The change to make, in words.
  var words: String {
    switch self {
    case .lanes(let node, let count): "give '\(node)' \(count) lanes (\"lanes\": \(count))"
    case .servers(let executor, let count):
      "give the executor '\(executor)' \(count) servers (\"count\": \(count))"
    case .policy(let node, _, let policy):
      policy == .replace
        ? "let only the newest frame wait in front of '\(node)' (\"policy\": \"replace\")"
        : "let frames drop in front of '\(node)' (\"policy\": \"\(policy.rawValue)\")"
    case .timeout(let node, let timeout):
      "give '\(node)' a timeout of \(timeout.unitText) (\"timeout\": \"\(timeout.unitText)\")"
    }
  }
}

extension Pipeline {
  /// The same pipeline with the changes made. Changes to nodes that it does not have are ignored.
  package func applying(_ fixes: [PipelineFix]) -> Pipeline {
    fixes.reduce(self) { $0.applying($1) }
  }

  private func applying(_ fix: PipelineFix) -> Pipeline {
    var result = self
    switch fix {
    case .lanes(let node, let count): result.change(node) { $0.lanes = count }
    case .timeout(let node, let timeout): result.change(node) { $0.timeout = timeout }
    case .servers(let executor, let count):
      for index in executors.indices where executors[index].id == executor {
        result.executors[index].count = count
      }
    case .policy(let node, let port, let policy):
      // Edges of bodies are not asked: they only block.
      for index in edges.indices where edges[index].to == node && edges[index].toPort == port {
        result.edges[index].policy = policy
        // With any other capacity the changed pipeline would not be valid.
        if policy == .replace { result.edges[index].capacity = 1 }
      }
    }
    return result
  }

  /// Changes a node, given by its ID in the flat graph.
  private mutating func change(_ id: String, _ change: (inout PipelineNode) -> Void) {
    // A flat id has one slash at most, because bodies do not nest.
    let parts = id.split(separator: "/", maxSplits: 1).map(String.init)
    for index in nodes.indices where nodes[index].id == parts[0] {
      guard parts.count == 2 else {
        change(&nodes[index])
        continue
      }
      for inner in nodes[index].body?.nodes.indices ?? 0..<0
      where nodes[index].body?.nodes[inner].id == parts[1] {
        if var node = nodes[index].body?.nodes[inner] {
          change(&node)
          nodes[index].body?.nodes[inner] = node
        }
      }
    }
  }
}
