import RetakeCore

extension Pipeline {
  /// Checks along each edge of a flat graph that the receiver takes what the sender gives.
  func checkTypes() throws(PipelineError) {
    let byID = Dictionary(nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let outputs = try outputs()
    for edge in edges {
      guard let gives = outputs[edge.from], let receiver = byID[edge.to],
        let takes = receiver.takes, !takes.fits(gives)
      else { continue }
      let pointer = edge.pointer ?? "/edges"
      guard receiver.stage.signature.role != .fork else {
        throw PipelineError(
          .unsupported(
            "the forEach '\(edge.to)' is given \(gives), and takes a frame joined with detections",
            advice: "Put a join with the ports frame and detections before it"), at: pointer)
      }
      throw PipelineError(
        .typeMismatch(
          from: edge.from, gives: gives.description, to: edge.to, takes: takes.description),
        at: pointer)
    }
  }

  /// What each node gives, by id; nodes that pass on their input give what their own input gives.
  package func outputs() throws(PipelineError) -> [String: ValueKind] {
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    var outputs: [String: ValueKind] = [:]
    for node in try topologicalOrder() {
      let incoming = edgesTo[node.id] ?? []
      switch node.stage.signature.role {
      case .join, .latest:
        let kinds = node.stage.inputPorts.compactMap { port in
          incoming.first { $0.toPort == port }.flatMap { outputs[$0.from] }
        }
        outputs[node.id] =
          kinds.count == node.stage.inputPorts.count ? .joined(kinds) : .joined([])
      case .fork: outputs[node.id] = .region
      case .gather:
        let kind = incoming.first.flatMap { outputs[$0.from] }
        outputs[node.id] = kind == .classes ? .detections : .items
      case .source, .pure, .stateful, .throttle, .sample, .route, .sink:
        outputs[node.id] =
          node.stage.signature.output ?? incoming.first.flatMap { outputs[$0.from] }
      }
    }
    return outputs
  }
}

extension PipelineNode {
  /// `nil` for nodes that take anything.
  fileprivate var takes: ValueKind? {
    stage.signature.role == .fork ? .joined([.frame, .detections]) : stage.signature.input
  }
}

extension ValueKind {
  /// Whether an input of this kind takes what is given: a join's parts may come in any order.
  fileprivate func fits(_ given: ValueKind) -> Bool {
    guard case .joined(let wanted) = self, case .joined(let kinds) = given else {
      return self == given
    }
    return kinds.isEmpty || wanted.allSatisfy { kinds.contains($0) }
  }
}
