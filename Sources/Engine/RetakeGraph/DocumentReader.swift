import RetakeBuffers
package import RetakeCore

/// Converts the JSON of a pipeline document to a `Pipeline`, one object at a time, and checks each
/// key.
struct DocumentReader {
  let catalog: any StageCatalog

  func pipeline(_ decoder: PipelineDecoder) throws -> Pipeline {
    let document = try decoder.document(["name", "nodes", "edges", "executors", "pools"])
    var pipeline = Pipeline(
      name: try document["name"]?.string() ?? "pipeline", nodes: [], edges: [])
    pipeline.origin = .document
    let nodes = try document.elements("nodes")
    try checkSize(nodes)
    pipeline.nodes = try nodes.map { json in try node(json) }
    pipeline.edges = try document.elements("edges").map(edge)
    pipeline.executors = try document.elements("executors").map(executor)
    pipeline.pools = try document.elements("pools").map(pool)
    return pipeline
  }

  /// Counts all nodes, including the nodes of bodies, before any is created, so that the size is
  /// bounded.
  private func checkSize(_ nodes: [PipelineDecoder]) throws {
    let count = nodes.reduce(nodes.count) { count, node in
      guard case .array(let inner)? = node.json["body"]?["nodes"] else { return count }
      return count + inner.count
    }
    guard count <= Pipeline.nodesMax else {
      throw PipelineError(
        .tooLarge("the pipeline has \(count) nodes; at most \(Pipeline.nodesMax) are allowed"),
        at: "/nodes")
    }
  }

  private static let nodeKeys = [
    "id", "kind", "options", "cost", "executor", "primary", "precision", "concurrency", "pinned",
    "fallback", "timeout", "pool", "hold", "body", "batch",
  ]

  private func node(
    _ decoder: PipelineDecoder, isInner: Bool = false
  ) throws -> PipelineNode {
    let fields = try decoder.object(Self.nodeKeys)
    let id = try id(of: "node", fields)
    let kind = try fields.required("kind").string()
    var node = PipelineNode(id: id, stage: try stage(kind, fields))
    if kind == AnyStage.forEachKind {
      node.body = try body(fields, isInner: isInner)
    } else if let body = fields["body"] {
      throw body.wrong("'\(kind)' has no body", advice: "Only a forEach has one")
    }
    if let cost = fields["cost"] { (node.cost, node.costPerFrame) = try self.cost(cost) }
    node.executor = try fields["executor"]?.string()
    node.isPrimary = try fields["primary"]?.bool() ?? false
    for (key, precision) in try fields.members("precision") {
      node.precision[key] = try precision.number()
    }
    try readService(of: &node, fields)
    return node
  }

  private func id(
    of what: String, _ fields: PipelineDecoder
  ) throws -> String {
    let field = try fields.required("id")
    let id = try field.string()
    guard PipelineNode.isValidID(id) else {
      throw PipelineError(.invalidID(id, of: what), at: field.pointer)
    }
    return id
  }

  private func stage(
    _ kind: String, _ fields: PipelineDecoder
  ) throws -> AnyStage {
    if kind == AnyStage.forEachKind {
      if let options = fields["options"] {
        throw PipelineError(
          .badOption("a forEach has no options", advice: "Write them at the nodes of its body"),
          at: options.pointer)
      }
      return .forEach
    }
    guard catalog.signature(of: kind) != nil else {
      // The catalog does not have forEach, which this reader makes itself.
      let known = catalog.kinds + [AnyStage.forEachKind]
      throw PipelineError(
        .unknownKind(kind.shortened, advice: Suggestion.advice(for: kind, among: known.sorted())),
        at: "\(fields.pointer)/kind")
    }
    do {
      return try catalog.make(kind: kind, options: fields["options"]?.json ?? .object([:]))
    } catch let error as OptionProblem {
      throw PipelineError(error, at: "\(fields.pointer)/options\(error.pointer)")
    }
  }

  /// Reads the node's concurrency, batch, pinning, pool, timeout, hold and fallback.
  private func readService(
    of node: inout PipelineNode, _ fields: PipelineDecoder
  ) throws {
    node.concurrency = try fields["concurrency"]?.integer() ?? 1
    node.batch = try fields["batch"].map(batch)
    node.isPinned = try fields["pinned"]?.bool() ?? false
    node.pool = try fields["pool"]?.string()
    node.timeout = try fields["timeout"]?.duration()
    node.hold = try fields["hold"]?.duration()
    node.fallback = try fields["fallback"]?.choice("a fallback")
  }

  private func body(
    _ outer: PipelineDecoder, isInner: Bool
  ) throws -> PipelineBody {
    guard !isInner else {
      throw PipelineError(
        .unsupported(
          "'\(try outer.required("id").string())' is a forEach, and a forEach cannot be in the "
            + "body of another",
          advice: "Do the inner work in one stage, or gather the items first"), at: outer.pointer)
    }
    let fields = try outer.required("body").object(["nodes", "edges", "output"])
    var body = PipelineBody(
      nodes: [], edges: [], output: try fields.required("output").string())
    body.nodes = try fields.elements("nodes").map { json in
      try node(json, isInner: true)
    }
    body.edges = try fields.elements("edges").map(edge)
    return body
  }

  private func pool(_ decoder: PipelineDecoder) throws -> PipelinePool {
    let fields = try decoder.object([
      "id", "capacity", "policy", "adaptive", "wait", "driverFrames", "preallocate",
    ])
    var pool = PipelinePool(id: try id(of: "pool", fields))
    pool.capacity = try fields["capacity"]?.integer() ?? pool.capacity
    pool.policy = try fields["policy"]?.choice("a policy") ?? pool.policy
    pool.wait = try fields["wait"]?.duration()
    pool.driverFrames = try fields["driverFrames"]?.integer() ?? pool.driverFrames
    pool.isPreallocated = try fields["preallocate"]?.bool() ?? pool.isPreallocated
    if let adaptive = fields["adaptive"] {
      let sizing = try PoolSizing(adaptive)
      pool.adaptive = sizing
      // The default of a fixed pool may be outside of `min` to `max`, which would be refused.
      if fields["capacity"] == nil { pool.capacity = sizing.defaultStart }
    }
    return pool
  }

  private func edge(_ decoder: PipelineDecoder) throws -> PipelineEdge {
    let fields = try decoder.object(["from", "to", "capacity", "policy"])
    let (from, fromPort) = split(try fields.required("from").string())
    let (to, toPort) = split(try fields.required("to").string())
    var edge = PipelineEdge(from: from, to: to, fromPort: fromPort, toPort: toPort)
    edge.policy = try fields["policy"]?.choice("a policy") ?? edge.policy
    // The default capacity of other policies would be refused for this one.
    if edge.policy == .replace { edge.capacity = 1 }
    if let field = fields["capacity"] {
      let capacity = try field.integer()
      guard PipelineEdge.capacityRange.contains(capacity),
        edge.policy != .replace || capacity == 1
      else {
        throw field.wrong(
          "a capacity of \(capacity) is out of range",
          advice: edge.policy == .replace ? "A replace edge has capacity 1" : "Use 1 to 65536")
      }
      edge.capacity = capacity
    }
    return edge
  }

  private func split(_ text: String) -> (node: String, port: String?) {
    guard let dot = text.firstIndex(of: ".") else { return (text, nil) }
    return (String(text[..<dot]), String(text[text.index(after: dot)...]))
  }

  private func executor(_ decoder: PipelineDecoder) throws -> PipelineExecutor {
    let fields = try decoder.object(["id", "count"])
    return PipelineExecutor(
      id: try id(of: "executor", fields),
      count: try fields["count"]?.integer(in: 1...1_024, "an executor has 1 to 1024 servers") ?? 1)
  }

  private func batch(_ decoder: PipelineDecoder) throws -> PipelineBatch {
    // The complete document of the general advice has no batch.
    let example = "For example \"batch\": {\"max\": 8, \"wait\": \"5ms\"}"
    guard case .object = decoder.json else {
      throw decoder.wrong("must be an object, is \(decoder.json.kindText)", advice: example)
    }
    let fields = try decoder.object(["max", "wait"])
    let max = try fields.required("max")
    guard case .integer = max.json else {
      throw max.wrong("must be an integer, is \(max.json.kindText)", advice: example)
    }
    return PipelineBatch(max: try max.integer(), wait: try fields["wait"]?.duration() ?? .zero)
  }

  private func cost(_ decoder: PipelineDecoder) throws -> (Cost, perFrame: Duration?) {
    let fields = try decoder.object(["fixed", "uniform", "p50", "p99", "perFrame"])
    return (try callCost(fields), try fields["perFrame"]?.duration())
  }

  private func callCost(_ fields: PipelineDecoder) throws -> Cost {
    func has(_ keys: Set<String>) -> Bool {
      fields.has(exactly: keys) || fields.has(exactly: keys.union(["perFrame"]))
    }
    // Exact sets of keys: a cost with `fixed` and `p50` must not be read as one of the two.
    if has(["fixed"]) {
      return .fixed(try fields.required("fixed").duration())
    }
    if has(["uniform"]) {
      let bounds = try fields.elements("uniform").map(\.json)
      guard bounds.count == 2, case .string(let low) = bounds[0],
        case .string(let high) = bounds[1],
        let low = Duration(parsing: low), let high = Duration(parsing: high), low <= high
      else {
        throw PipelineError(
          .wrongValue(
            "uniform is two durations, the smaller first", advice: "[\"20ms\", \"30ms\"]"),
          at: "\(fields.pointer)/uniform")
      }
      return .uniform(low, high)
    }
    if has(["p50", "p99"]) {
      let p50 = try fields.required("p50").duration()
      let p99 = try fields.required("p99").duration()
      guard .zero < p50, p50 <= p99 else {
        throw fields.wrong("p50 must be above zero and at most p99")
      }
      return .quantiles(p50: p50, p99: p99)
    }
    throw fields.wrong(
      "a cost is fixed, uniform, or p50 with p99", advice: "For example {\"fixed\": \"45ms\"}")
  }
}

typealias PipelineDecoder = StrictDecoder<PipelineError>

extension PipelineError: DocumentFailure {
  package init(_ problem: DocumentProblem) {
    let reason: Reason =
      switch problem.reason {
      case .malformed(let detail, _): .malformed(detail)
      case .otherVersion(let v) where v > 1: .newerVersion(v)
      case .otherVersion(let v): .wrongValue("there is no version \(v)", advice: "Write 1")
      case .unknownKey(let key, let advice): .unknownKey(key, advice: advice)
      case .missingKey(let key): .missingKey(key)
      case .wrongValue(let detail, let advice): .wrongValue(detail, advice: advice)
      case .tooLarge(let detail): .tooLarge(detail)
      }
    self.init(reason, at: problem.pointer)
  }
}
