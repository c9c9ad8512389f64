package import RetakeBuffers
import RetakeCore

extension Pipeline {
  /// The same flat graph with a `convert` node before each stage that does not accept the pixel
  /// format that it would get from sources of the given formats.
  ///
  /// A stage that accepts the regions of a forEach gets its conversion before the join that the
  /// frames come from: once per frame, not once per item.
  package func insertingConversions(
    sources formats: [String: PixelFormat], catalog: some StageCatalog
  ) throws -> Pipeline {
    do {
      let graph = GraphIndex(self)
      let order = try graph.order()
      var plan = ConversionPlan(
        graph: graph, outputs: try graph.outputs(order), sources: formats)
      for node in order { try plan.visit(node) }
      return try inserting(plan, graph, catalog: catalog)
    } catch let error as PipelineError {
      throw placing(error)
    }
  }

  /// The stages that would get a pixel format that they do not accept if a source changed its
  /// format during the run. The format of their frames must be checked.
  ///
  /// - Parameter others: The formats beyond `PixelFormat.basic` that the sources may change to.
  package func stagesToGuard(
    others: [PixelFormat] = []
  ) throws -> Set<String> {
    let graph = GraphIndex(self)
    let order = try graph.order()
    let outputs = try graph.outputs(order)
    let sources = graph.nodes.indices.filter { graph.role($0) == .source }.map {
      graph.nodes[$0].id
    }
    var found: Set<String> = []
    for other in PixelFormat.basic + others {
      let formats = Dictionary(sources.map { ($0, other) }, uniquingKeysWith: { first, _ in first })
      var walk = ConversionPlan(graph: graph, outputs: outputs, sources: formats)
      for node in order { if walk.passes(node) { found.insert(graph.nodes[node].id) } }
    }
    return found
  }

  private func inserting(
    _ plan: ConversionPlan, _ graph: GraphIndex, catalog: some StageCatalog
  ) throws -> Pipeline {
    var result = Pipeline(
      name: name, nodes: nodes, edges: graph.edges, executors: executors, pools: pools)
    result.origin = origin
    for edge in graph.edges.indices {
      guard let format = plan.conversions[edge] else { continue }
      let receiver = graph.nodes[graph.receivers[edge]]
      let port = graph.edges[edge].toPort.map { "\($0)/" } ?? ""
      var node = PipelineNode(
        id: "\(receiver.id)/\(port)convert",
        stage: try conversion(to: format, for: receiver, catalog: catalog))
      node.scope = receiver.scope
      // An error at the conversion points to the stage that needs it, because the conversion itself
      // is not in the document.
      node.pointer = receiver.pointer
      node.isInserted = true
      node.convertedFrom = plan.format(before: edge)
      var before = PipelineEdge(from: graph.edges[edge].from, to: node.id)
      before.fromPort = graph.edges[edge].fromPort
      before.pointer = graph.edges[edge].pointer
      // The queue of the document stays at the input of its stage, with its capacity and policy.
      // The edge to the conversion has the defaults.
      result.edges[edge].from = node.id
      result.edges[edge].fromPort = nil
      result.nodes.append(node)
      result.edges.append(before)
    }
    return result
  }

  private func conversion(
    to format: PixelFormat, for node: PipelineNode, catalog: some StageCatalog
  ) throws -> AnyStage {
    do {
      return try catalog.make(
        kind: "convert", options: .object(["format": .string(format.rawValue)]))
    } catch is OptionProblem {
      throw PipelineError(
        .unsupported(
          "'\(node.id)' takes \(format.rawValue) only, and no conversion to it is registered",
          advice: "Register a stage of kind 'convert'"), at: node.pointer ?? "/nodes")
    }
  }
}

/// The pixel format that each node outputs, and the edges on which another format is needed.
private struct ConversionPlan {
  let graph: GraphIndex
  let outputs: [ValueKind?]
  /// By node; `nil` for nodes that output no frames, and for unknown sources.
  private var formats: [PixelFormat?]
  /// By edge.
  private(set) var conversions: [Int: PixelFormat] = [:]

  init(graph: GraphIndex, outputs: [ValueKind?], sources: [String: PixelFormat]) {
    self.graph = graph
    self.outputs = outputs
    formats = graph.nodes.map { sources[$0.id] }
  }

  /// The format of the frames on an edge, before its conversion.
  func format(before edge: Int) -> PixelFormat? { formats[graph.senders[edge]] }

  /// Nodes are visited in topological order.
  mutating func visit(_ node: Int) throws {
    guard let edge = frameEdge(to: node), var format = formats[graph.senders[edge]] else { return }
    let stage = graph.nodes[node].stage
    if !stage.signature.accepts(format) {
      switch stage.signature.input {
      case .frame:
        let best = try target(of: format, for: node)
        conversions[edge] = best
        format = best
      case .region:
        let best = try target(of: format, for: node)
        try convertRegions(edge, of: node, to: best)
        format = best
      // `convert` accepts only frames, so they are converted before they are joined.
      case .joined where !format.isBasic && stage.signature.inputFormats.isEmpty:
        try convertJoined(to: node)
        format = format.nearestBasic
      default: break
      }
    }
    give(format, to: node)
  }

  private func target(
    of format: PixelFormat, for node: Int
  ) throws -> PixelFormat {
    let signature = graph.nodes[node].stage.signature
    if let target = signature.conversion(of: format) { return target }
    let accepted = signature.inputFormats.map(\.rawValue).joined(separator: ", ")
    throw PipelineError(
      .unsupported(
        "'\(graph.nodes[node].id)' takes \(accepted), and its frames are \(format.rawValue): "
          + "frames are converted to 8 bits a sample only",
        advice: "Add a format of 8 bits to the input formats of the stage, such as "
          + format.nearestBasic.rawValue), at: graph.pointer(ofNode: node))
  }

  /// Converts, upstream of a join, each frame that a stage receives from the join.
  private mutating func convertJoined(to node: Int) throws {
    guard let edge = frameEdge(to: node) else { return }
    var waiting = [edge]
    // Ends: each turn goes back from an edge to the edges upstream, and the graph has no cycles.
    while let edge = waiting.popLast() {
      let sender = graph.senders[edge]
      guard outputs[sender] != .frame else {
        if let format = formats[sender], !format.isBasic {
          try note(format.nearestBasic, on: edge, for: node)
        }
        continue
      }
      if let format = formats[sender] { formats[sender] = format.nearestBasic }
      waiting += graph.edgesByPort(to: sender).compactMap { $0 }
        .filter { outputs[graph.senders[$0]]?.holdsFrame == true }
    }
  }

  /// Visits the node without a conversion.
  ///
  /// - Returns: Whether the node would get a frame that it does not accept.
  mutating func passes(_ node: Int) -> Bool {
    guard let edge = frameEdge(to: node), let format = formats[graph.senders[edge]] else {
      return false
    }
    // Without conversions: they were inserted for the format at the start, and do not follow a
    // change.
    give(format, to: node)
    let signature = graph.nodes[node].stage.signature
    return (signature.input == .frame || signature.input == .region)
      && !signature.accepts(format)
  }

  private mutating func give(_ format: PixelFormat, to node: Int) {
    guard outputs[node]?.holdsFrame == true else { return }
    formats[node] = graph.nodes[node].stage.outputFormat(format)
  }

  /// The edge on which the frame arrives; for a join, the edge to the first port that gets a frame.
  private func frameEdge(to node: Int) -> Int? {
    graph.edgesByPort(to: node).lazy.compactMap { $0 }
      .first { outputs[graph.senders[$0]]?.holdsFrame == true }
  }

  /// Walks back from a forEach to the edge on which its frames enter the join before it.
  private mutating func convertRegions(
    _ edge: Int, of node: Int, to format: PixelFormat
  ) throws {
    var edge = edge
    // Ends: each round goes back by one node, and the graph has no cycles.
    while outputs[graph.senders[edge]] != .frame {
      let sender = graph.senders[edge]
      // The nodes between the join and the forEach carry the converted frames.
      formats[sender] = format
      guard let before = frameEdge(to: sender) else { return }
      edge = before
    }
    try note(format, on: edge, for: node)
  }

  private mutating func note(
    _ format: PixelFormat, on edge: Int, for node: Int
  ) throws {
    // An edge has one conversion, and two forEach may ask for different formats.
    guard conversions.updateValue(format, forKey: edge) ?? format == format else {
      throw PipelineError(
        .unsupported(
          "'\(graph.nodes[node].id)' takes \(format.rawValue), and another forEach of the same "
            + "join takes another pixel format",
          advice: "Add a separate join for each forEach"), at: graph.pointer(ofNode: node))
    }
  }
}

extension ValueKind {
  /// Whether the value contains a frame whose pixels a stage may read.
  fileprivate var holdsFrame: Bool {
    switch self {
    case .frame, .region: true
    case .joined(let kinds): kinds.contains { $0.holdsFrame }
    default: false
    }
  }
}
