import RetakeCore

extension Pipeline {
  /// Where a pipeline comes from. Problems of a document are reported with JSON pointers, problems
  /// of a pipeline made in Swift with the names that its author gave.
  package enum Origin: Hashable, Sendable {
    case swift
    case document
  }

  /// The same error, with the place in words if the pipeline was made in Swift.
  package func placing(_ error: PipelineError) -> PipelineError {
    guard origin == .swift else { return error }
    var placed = error
    let words = part(at: error.pointer)
    placed.part = "pipeline '\(name.shortened)'" + (words.map { ", \($0)" } ?? "")
    return placed
  }

  /// The element at a JSON pointer into the document of this pipeline, in the words of the DSL: for
  /// example `stage 'motion', its edge to 'boxes'`. `nil` for the pipeline itself.
  package func part(at pointer: String) -> String? {
    let keys = pointer.split(separator: "/").map(String.init)
    guard keys.count >= 2, let index = Int(keys[1]) else { return nil }
    let rest = Array(keys.dropFirst(2))
    switch keys[0] {
    case "nodes": return flatNode(at: pointer)?.part ?? partOfNode(index, rest)
    case "edges": return partOfEdge(index)
    case "executors" where executors.indices.contains(index):
      return "executor '\(executors[index].id.shortened)'" + Self.keyWords(rest)
    case "pools" where pools.indices.contains(index):
      return "pool '\(pools[index].id.shortened)'" + Self.keyWords(rest)
    default: return nil
    }
  }

  /// In a flat graph, a node's index differs from its index in the document, so each node has its
  /// pointer.
  private func flatNode(at pointer: String) -> PipelineNode? {
    nodes.first { $0.pointer == pointer }
  }

  private func partOfNode(_ index: Int, _ keys: [String]) -> String? {
    guard nodes.indices.contains(index) else { return nil }
    let node = nodes[index]
    guard let body = node.body, keys.first == "body" else {
      return node.part + Self.keyWords(keys)
    }
    let inner = keys.count >= 3 ? Int(keys[2]) : nil
    if keys.count >= 3, keys[1] == "nodes", let inner, body.nodes.indices.contains(inner) {
      return "\(node.part), \(body.nodes[inner].part)" + Self.keyWords(Array(keys.dropFirst(3)))
    }
    if keys.count >= 3, keys[1] == "edges", let inner, body.edges.indices.contains(inner) {
      return "\(node.part), \(body.edges[inner].part(among: body.nodes))"
    }
    return "\(node.part), its body"
  }

  private func partOfEdge(_ index: Int) -> String? {
    guard edges.indices.contains(index) else { return nil }
    return edges[index].part(among: nodes)
  }

  /// `, its timeout`; empty for keys that have no method of their own in the DSL.
  private static func keyWords(_ keys: [String]) -> String {
    guard let key = keys.first == "options" ? keys.dropFirst().first : keys.first else { return "" }
    let named = [
      "adaptive", "batch", "capacity", "cost", "count", "executor", "fallback", "hold",
      "concurrency", "pool",
      "ports", "precision", "timeout",
    ]
    return named.contains(key) ? ", its \(key)" : ""
  }
}

extension PipelineNode {
  /// `stage 'motion'`.
  fileprivate var part: String {
    let word =
      switch stage.signature.role {
      case .source: "source"
      case .pure, .stateful: "stage"
      case .throttle, .sample: "node"
      case .route: "route"
      case .join, .latest: "join"
      case .fork, .gather: "forEach"
      case .sink: "sink"
      }
    return "\(word) '\((stage.signature.role == .gather ? scope ?? id : id).shortened)'"
  }
}

extension PipelineEdge {
  /// `stage 'motion', its edge to 'boxes'`; without a sender, `the edge from 'motion' to 'boxes'`.
  fileprivate func part(among nodes: [PipelineNode]) -> String {
    let receiver = (to + (toPort.map { ".\($0)" } ?? "")).shortened
    guard let sender = nodes.first(where: { $0.id == from }) else {
      return "the edge from '\(from.shortened)' to '\(receiver)'"
    }
    return "\(sender.part), its edge to '\(receiver)'"
  }
}
