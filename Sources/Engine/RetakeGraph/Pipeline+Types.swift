import RetakeCore

extension Pipeline {
  /// The output of each node, by ID. The output of a node that passes its input on is that input.
  package func outputs() throws -> [String: ValueKind] {
    let graph = GraphIndex(self)
    let outputs = try graph.outputs(try graph.order())
    var byID: [String: ValueKind] = [:]
    for (node, kind) in zip(nodes, outputs) { byID[node.id] = kind }
    return byID
  }
}

extension GraphIndex {
  /// The largest number of values in a join's output, including the values of the joins upstream.
  /// Each join of two joins of the same node doubles the number.
  static let joinedValuesMax = 256

  /// Checks for each edge that the receiver accepts the sender's output.
  func checkTypes(_ order: [Int]) throws {
    let outputs = try outputs(order)
    for edge in edges.indices {
      let receiver = receivers[edge]
      guard let gives = outputs[senders[edge]], let takes = takes(receiver), !takes.fits(gives)
      else { continue }
      guard role(receiver) != .fork else {
        throw PipelineError(
          .unsupported(
            "the forEach '\(nodes[receiver].id)' receives \(gives), and takes a frame joined "
              + "with detections",
            advice: "Put a join with the ports frame and detections before it"),
          at: pointer(ofEdge: edge))
      }
      throw PipelineError(
        .typeMismatch(
          from: nodes[senders[edge]].id, gives: gives.description, to: nodes[receiver].id,
          takes: takes.description), at: pointer(ofEdge: edge))
    }
  }

  /// `nil` for nodes that accept any value.
  private func takes(_ node: Int) -> ValueKind? {
    role(node) == .fork ? .joined([.frame, .detections]) : nodes[node].stage.signature.input
  }

  /// The output of each node, by node.
  func outputs(_ order: [Int]) throws -> [ValueKind?] {
    var outputs = [ValueKind?](repeating: nil, count: nodes.count)
    var counts = Array(repeating: 1, count: nodes.count)
    for node in order {
      let inputs = senderByPort(to: node)
      switch role(node) {
      case .join, .latest:
        counts[node] = inputs.reduce(0) { $0 + ($1.map { counts[$0] } ?? 1) }
        // Asked before the kinds are put together: each join can double them, and a document may
        // have thousands of joins.
        guard counts[node] <= Self.joinedValuesMax else { throw tooWide(node) }
        let kinds = inputs.compactMap { input in input.flatMap { outputs[$0] } }
        // If one part is not known, the join fits everywhere: an error has to be certain.
        outputs[node] = kinds.count == inputs.count ? .joined(kinds) : .joined([])
      case .fork: outputs[node] = .region
      case .gather:
        let kind = inputs.first.flatMap { $0 }.flatMap { outputs[$0] }
        // `ForEachItems.gathered` makes the values of these kinds; both must agree.
        outputs[node] = kind == .classes ? .detections : .items
      case .source, .pure, .stateful, .throttle, .sample, .route, .sink:
        let input = inputs.first.flatMap { $0 }
        outputs[node] = nodes[node].stage.signature.output ?? input.flatMap { outputs[$0] }
        // A node that passes a join on passes all of its values on.
        if nodes[node].stage.signature.output == nil {
          counts[node] = input.map { counts[$0] } ?? 1
        }
      }
    }
    return outputs
  }

  private func tooWide(_ node: Int) -> PipelineError {
    PipelineError(
      .tooLarge(
        "the join '\(nodes[node].id)' returns more than \(Self.joinedValuesMax) values, including "
          + "the values of upstream joins"), at: pointer(ofNode: node))
  }
}

extension ValueKind {
  /// Whether an input of this kind accepts the given kind. The parts of a join may be in any order.
  fileprivate func fits(_ given: ValueKind) -> Bool {
    guard case .joined(let wanted) = self, case .joined(let kinds) = given else {
      return self == given
    }
    return kinds.isEmpty || wanted.allSatisfy { kinds.contains($0) }
  }
}
