import RetakeCore

extension Pipeline {
  /// The graph with every forEach `x` as `x`, `x/NODE` for each node of its body, and `x/join`.
  /// Nodes and edges have pointers into the document.
  package func flattened() -> Pipeline {
    var flat = Pipeline(name: name, nodes: [], edges: [], executors: executors, pools: pools)
    flat.origin = origin
    var outputs: [String: String] = [:]
    for (index, node) in nodes.enumerated() {
      var own = node
      own.pointer = "/nodes/\(index)"
      flat.nodes.append(own)
      guard node.body != nil else { continue }
      // In the document, edges from a forEach carry the output of its end.
      outputs[node.id] = Self.joinID(of: node.id)
      flat.appendBody(of: own)
    }
    for (index, edge) in edges.enumerated() {
      var own = edge
      own.from = outputs[edge.from] ?? edge.from
      own.pointer = "/edges/\(index)"
      flat.edges.append(own)
    }
    return flat
  }

  /// The name of the end of a forEach, after its ID and a slash.
  static let gatherID = "join"

  package static func joinID(of forEach: String) -> String { "\(forEach)/\(gatherID)" }

  private mutating func appendBody(of node: PipelineNode) {
    guard let body = node.body, let pointer = node.pointer else { return }
    for (index, inner) in body.nodes.enumerated() {
      var own = inner
      own.id = "\(node.id)/\(inner.id)"
      own.scope = node.id
      own.pointer = "\(pointer)/body/nodes/\(index)"
      nodes.append(own)
    }
    for (index, inner) in body.edges.enumerated() {
      var own = inner
      own.from = "\(node.id)/\(inner.from)"
      own.to = "\(node.id)/\(inner.to)"
      own.pointer = "\(pointer)/body/edges/\(index)"
      edges.append(own)
    }
    var join = PipelineNode(id: Self.joinID(of: node.id), stage: .gather)
    join.scope = node.id
    join.pointer = "\(pointer)/body"
    nodes.append(join)
    // The document has no edge from the forEach to the first stage of its body.
    let targets = Set(body.edges.map(\.to))
    for inner in body.nodes where !targets.contains(inner.id) {
      var edge = PipelineEdge(from: node.id, to: "\(node.id)/\(inner.id)")
      edge.pointer = "\(pointer)/body"
      // The document has no place for its capacity, so it holds a batch.
      edge.capacity = max(edge.capacity, inner.batch?.max ?? 0)
      edges.append(edge)
    }
    var edge = PipelineEdge(from: "\(node.id)/\(body.output)", to: join.id)
    edge.pointer = "\(pointer)/body/output"
    edges.append(edge)
  }
}
