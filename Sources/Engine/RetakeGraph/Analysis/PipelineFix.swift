import RetakeCore

/// A change to a pipeline that a warning proposes.
package enum PipelineFix: Hashable, Sendable {
  /// How many frames a node handles at once; nodes of a body have the form `forEach/node`.
  case concurrency(node: String, count: Int)
  case servers(executor: String, count: Int)
  /// The policy of the queue upstream of a node; for a join, of the queue at the port.
  case policy(before: String, port: String?, EdgePolicy)
  case timeout(node: String, Duration)

  /// The change to make, in words, and its text in the language of the pipeline.
  func words(for pipeline: Pipeline) -> String {
    let text = pipeline.origin == .swift ? swiftText(in: pipeline) : documentText
    switch self {
    case .concurrency(let node, let count):
      return "set the concurrency of '\(node)' to \(count) (\(text))"
    case .servers(let executor, let count):
      return "set the servers of the executor '\(executor)' to \(count) (\(text))"
    case .policy(let node, _, let policy):
      return policy == .replace
        ? "let only the newest frame wait before '\(node)' (\(text))"
        : "let frames drop before '\(node)' (\(text))"
    case .timeout(let node, let timeout):
      return "set the timeout of '\(node)' to \(timeout.unitText) (\(text))"
    }
  }

  private var documentText: String {
    switch self {
    case .concurrency(_, let count): "\"concurrency\": \(count)"
    case .servers(_, let count): "\"count\": \(count)"
    case .policy(_, _, let policy): "\"policy\": \"\(policy.rawValue)\""
    case .timeout(_, let timeout): "\"timeout\": \"\(timeout.unitText)\""
    }
  }

  private func swiftText(in pipeline: Pipeline) -> String {
    switch self {
    case .concurrency(_, let count): return ".concurrency(\(count))"
    case .servers(let executor, let count): return ".executor(\"\(executor)\", count: \(count))"
    case .policy(let node, let port, let policy):
      let edge = pipeline.applying([self]).edges.first { $0.to == node && $0.toPort == port }
      let end = port.map { ", port: \"\($0)\"" } ?? ""
      return ".queue(capacity: \(edge?.capacity ?? 1), policy: .\(policy.rawValue)\(end))"
    case .timeout(_, let timeout): return ".timeout(\(timeout.swiftText))"
    }
  }
}

extension Duration {
  /// As it is written in Swift: `.milliseconds(45)`.
  fileprivate var swiftText: String {
    let value = nanoseconds
    for (unit, scale) in [
      ("seconds", Int64(1_000_000_000)), ("milliseconds", 1_000_000), ("microseconds", 1_000),
    ] where value % scale == 0 {
      return ".\(unit)(\(value / scale))"
    }
    return ".nanoseconds(\(value))"
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
    case .concurrency(let node, let count): result.change(node) { $0.concurrency = count }
    case .timeout(let node, let timeout): result.change(node) { $0.timeout = timeout }
    case .servers(let executor, let count):
      for index in executors.indices where executors[index].id == executor {
        result.executors[index].count = count
      }
    case .policy(let node, let port, let policy):
      // Edges of bodies are not changed: they only block.
      for index in edges.indices where edges[index].to == node && edges[index].toPort == port {
        result.edges[index].policy = policy
        // With any other capacity the changed pipeline would not be valid.
        if policy == .replace { result.edges[index].capacity = 1 }
      }
    }
    return result
  }

  /// Changes a node, by its ID in the flat graph.
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
