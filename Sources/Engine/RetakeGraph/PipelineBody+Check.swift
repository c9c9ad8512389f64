import RetakeCore

/// The body of a forEach is one chain of stages, from the item to its output.
extension PipelineBody {
  func check(at pointer: String) throws {
    guard !nodes.isEmpty else {
      throw PipelineError(
        .missing("the body of the forEach has no nodes", advice: "Add a stage that takes a region"),
        at: "\(pointer)/nodes")
    }
    for (index, node) in nodes.enumerated() where !node.stage.signature.role.isServed {
      throw PipelineError(
        .unsupported(node.isNoStageOfABody, advice: "Move it before or after the forEach"),
        at: "\(pointer)/nodes/\(index)")
    }
    for (index, edge) in edges.enumerated() where edge.policy != .block {
      throw PipelineError(
        .wrongValue(
          "an item is never dropped: edges inside a forEach only block",
          advice: "Drop whole frames before the forEach"), at: "\(pointer)/edges/\(index)/policy")
    }
    guard nodes.contains(where: { $0.id == output }) else {
      throw PipelineError(
        .unknownNode(
          output.shortened, advice: Suggestion.advice(for: output, among: nodes.map(\.id))),
        at: "\(pointer)/output")
    }
  }

  /// Follows the chain from its first stage. Throws for a node that is not on the chain or branches
  /// off.
  func checkLine(at pointer: String) throws {
    var next: [String: Int] = [:]
    var receivers: Set<String> = []
    for (index, edge) in edges.enumerated() {
      guard next.updateValue(index, forKey: edge.from) == nil, edge.from != output else {
        throw branches(
          "the output of '\(edge.from)' has two edges", at: "\(pointer)/edges/\(index)")
      }
      guard receivers.insert(edge.to).inserted else {
        throw branches("'\(edge.to)' has two inputs", at: "\(pointer)/edges/\(index)")
      }
    }
    let starts = nodes.indices.filter { !receivers.contains(nodes[$0].id) }
    guard starts.count <= 1 else {
      throw branches(
        "no edge leads to '\(nodes[starts[1]].id)', but the line begins at "
          + "'\(nodes[starts[0]].id)'", at: "\(pointer)/nodes/\(starts[1])")
    }
    // Without a start there is a cycle, which `ranks()` reports for the flat graph.
    guard let start = starts.first else { return }
    var reached: Set<String> = [nodes[start].id]
    var last = nodes[start].id
    // Ends: each node has one input, so it is reached at most once.
    while let edge = next[last] {
      last = edges[edge].to
      reached.insert(last)
    }
    // Nodes that were not reached form a cycle, which `ranks()` reports for the flat graph.
    guard last == output || reached.count < nodes.count else {
      throw branches("the line ends at '\(last)', not at '\(output)'", at: "\(pointer)/output")
    }
  }

  private func branches(_ what: String, at pointer: String) -> PipelineError {
    PipelineError(
      .unsupported(
        "the body of a forEach is one line of stages: \(what)",
        advice: "Merge the branches into one stage, or use a second forEach"), at: pointer)
  }
}

extension PipelineNode {
  /// Why a node is not allowed in a body, in words.
  fileprivate var isNoStageOfABody: String {
    switch stage.signature.role {
    case .fork: "'\(id)' is a forEach, and a forEach cannot be in the body of another"
    case .join, .latest, .route:
      "'\(id)' is a \(kind) node, and the body of a forEach has no branches"
    default: "'\(id)' is a \(kind) node, and the body of a forEach is a line of stages"
    }
  }
}
