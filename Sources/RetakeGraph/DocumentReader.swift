import RetakeCore

/// Converts the JSON of a pipeline document to a `Pipeline`, one object at a time, and checks each
/// key.
struct DocumentReader {
  let catalog: any StageCatalog

  func pipeline(from json: JSONValue) throws(PipelineError) -> Pipeline {
    // Before the keys: a newer version may have others, and its number says why they are unknown.
    if case .integer(let v)? = json["v"], v > 1 {
      throw PipelineError(.newerVersion(Int(v)), at: "/v")
    }
    let document = try Members(
      json, at: "", keys: ["v", "name", "nodes", "edges", "executors", "pools"])
    guard let v = try document.integer("v") else { throw PipelineError(.missingKey("v"), at: "") }
    guard v == 1 else {
      throw PipelineError(.wrongValue("there is no version \(v)", advice: "Write 1"), at: "/v")
    }
    var pipeline = Pipeline(
      name: try document.string("name") ?? "pipeline", nodes: [], edges: [])
    pipeline.origin = .document
    try checkSize(try document.array("nodes"))
    for (index, json) in try document.array("nodes").enumerated() {
      pipeline.nodes.append(try node(json, at: "/nodes/\(index)"))
    }
    for (index, json) in try document.array("edges").enumerated() {
      pipeline.edges.append(try edge(json, at: "/edges/\(index)"))
    }
    for (index, json) in try document.array("executors").enumerated() {
      pipeline.executors.append(try executor(json, at: "/executors/\(index)"))
    }
    for (index, json) in try document.array("pools").enumerated() {
      pipeline.pools.append(try pool(json, at: "/pools/\(index)"))
    }
    return pipeline
  }

  /// Counts all nodes, including those in bodies, before any is created, so that the size is
  /// bounded.
  private func checkSize(_ nodes: [JSONValue]) throws(PipelineError) {
    let count = nodes.reduce(nodes.count) { count, node in
      guard case .array(let inner)? = node["body"]?["nodes"] else { return count }
      return count + inner.count
    }
    guard count <= Pipeline.nodesMax else {
      throw PipelineError(
        .tooLarge("the pipeline has \(count) nodes, and \(Pipeline.nodesMax) are the most"),
        at: "/nodes")
    }
  }

  private static let nodeKeys = [
    "id", "kind", "options", "cost", "executor", "primary", "quantum", "lanes", "pinned",
    "fallback", "timeout", "pool", "hold", "body",
  ]

  private func node(
    _ json: JSONValue, at pointer: String, isInner: Bool = false
  ) throws(PipelineError) -> PipelineNode {
    let members = try Members(json, at: pointer, keys: Self.nodeKeys)
    let id = try members.required("id")
    guard PipelineNode.isValidID(id) else {
      throw PipelineError(.invalidID(id, of: "node"), at: "\(pointer)/id")
    }
    let kind = try members.required("kind")
    var node = PipelineNode(id: id, stage: try stage(kind, members, at: pointer))
    if kind == AnyStage.forEachKind {
      node.body = try body(members, at: pointer, isInner: isInner)
    } else if members.value("body") != nil {
      throw PipelineError(
        .wrongValue("'\(kind)' has no body", advice: "Only a forEach has one"),
        at: "\(pointer)/body")
    }
    if let cost = members.value("cost") {
      node.cost = try self.cost(cost, at: "\(pointer)/cost")
    }
    node.executor = try members.string("executor")
    node.isPrimary = try members.bool("primary") ?? false
    node.quantum = try members.numbers("quantum")
    try readService(of: &node, members, at: pointer)
    return node
  }

  private func stage(
    _ kind: String, _ members: Members, at pointer: String
  ) throws(PipelineError) -> AnyStage {
    if kind == AnyStage.forEachKind {
      guard members.value("options") == nil else {
        throw PipelineError(
          .badOption("a forEach has no options", advice: "Give them to the nodes of its body"),
          at: "\(pointer)/options")
      }
      return .forEach
    }
    guard catalog.signature(of: kind) != nil else {
      // The catalog does not have forEach, which this reader makes itself.
      let known = catalog.kinds + [AnyStage.forEachKind]
      throw PipelineError(
        .unknownKind(kind.shortened, advice: Suggestion.advice(for: kind, among: known.sorted())),
        at: "\(pointer)/kind")
    }
    do throws(OptionProblem) {
      return try catalog.make(kind: kind, options: members.value("options") ?? .object([:]))
    } catch {
      throw PipelineError(
        .badOption(error.message, advice: error.advice), at: "\(pointer)/options\(error.pointer)")
    }
  }

  /// How the node is served, and what happens to frames that it cannot serve.
  private func readService(
    of node: inout PipelineNode, _ members: Members, at pointer: String
  ) throws(PipelineError) {
    node.lanes = try members.integer("lanes") ?? 1
    node.isPinned = try members.bool("pinned") ?? false
    node.pool = try members.string("pool")
    // `duration` throws for a key that is missing, and these two are optional.
    if members.value("timeout") != nil { node.timeout = try members.duration("timeout") }
    if members.value("hold") != nil { node.hold = try members.duration("hold") }
    if let word = try members.string("fallback") {
      node.fallback = try choice(word, of: Fallback.self, "fallback", at: "\(pointer)/fallback")
    }
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ word: String, of type: Choice.Type, _ name: String, at pointer: String
  ) throws(PipelineError) -> Choice {
    guard let choice = Choice(rawValue: word) else {
      throw PipelineError(
        .wrongValue(
          "'\(word.shortened)' is not a \(name)",
          advice: Suggestion.advice(for: word, among: Choice.allCases.map(\.rawValue))),
        at: pointer)
    }
    return choice
  }

  private func body(
    _ members: Members, at outer: String, isInner: Bool
  ) throws(PipelineError) -> PipelineBody {
    guard !isInner else {
      throw PipelineError(
        .unsupported(
          "'\(try members.required("id"))' is a forEach, and a forEach cannot be in the body of "
            + "another",
          advice: "Do the inner work in one stage, or gather the items first"), at: outer)
    }
    guard let json = members.value("body") else {
      throw PipelineError(.missingKey("body"), at: outer)
    }
    let pointer = "\(outer)/body"
    let fields = try Members(json, at: pointer, keys: ["nodes", "edges", "output"])
    var body = PipelineBody(nodes: [], edges: [], output: try fields.required("output"))
    for (index, json) in try fields.array("nodes").enumerated() {
      body.nodes.append(try node(json, at: "\(pointer)/nodes/\(index)", isInner: true))
    }
    for (index, json) in try fields.array("edges").enumerated() {
      body.edges.append(try edge(json, at: "\(pointer)/edges/\(index)"))
    }
    return body
  }

  private func pool(_ json: JSONValue, at pointer: String) throws(PipelineError) -> PipelinePool {
    let members = try Members(json, at: pointer, keys: ["id", "capacity", "policy", "adaptive"])
    let id = try members.required("id")
    guard PipelineNode.isValidID(id) else {
      throw PipelineError(.invalidID(id, of: "pool"), at: "\(pointer)/id")
    }
    var pool = PipelinePool(id: id)
    pool.capacity = try members.integer("capacity") ?? pool.capacity
    if let word = try members.string("policy") {
      pool.policy = try choice(
        word, of: PipelinePool.Policy.self, "policy", at: "\(pointer)/policy")
    }
    if let adaptive = members.value("adaptive") {
      pool.adaptive = try sizing(adaptive, at: "\(pointer)/adaptive")
      // The default of a fixed pool may be outside of `min` to `max`, which would be refused.
      if members.value("capacity") == nil { pool.capacity = pool.adaptive?.startStandard ?? 8 }
    }
    return pool
  }

  private func edge(_ json: JSONValue, at pointer: String) throws(PipelineError) -> PipelineEdge {
    let members = try Members(json, at: pointer, keys: ["from", "to", "capacity", "policy"])
    let (from, fromPort) = split(try members.required("from"))
    let (to, toPort) = split(try members.required("to"))
    var edge = PipelineEdge(from: from, to: to, fromPort: fromPort, toPort: toPort)
    if let word = try members.string("policy") {
      edge.policy = try choice(word, of: EdgePolicy.self, "policy", at: "\(pointer)/policy")
    }
    // The default capacity of other policies would be refused for this one.
    if edge.policy == .replace { edge.capacity = 1 }
    if let capacity = try members.integer("capacity") {
      // `Pipeline.checkNumbers` has the same bounds for pipelines that are made in Swift.
      guard (1...65_536).contains(capacity), edge.policy != .replace || capacity == 1 else {
        throw PipelineError(
          .wrongValue(
            "a capacity of \(capacity) is out of range",
            advice: edge.policy == .replace
              ? "A replace edge has capacity 1" : "Use 1 to 65536"), at: "\(pointer)/capacity")
      }
      edge.capacity = capacity
    }
    return edge
  }

  private func split(_ text: String) -> (node: String, port: String?) {
    guard let dot = text.firstIndex(of: ".") else { return (text, nil) }
    return (String(text[..<dot]), String(text[text.index(after: dot)...]))
  }

  private func executor(
    _ json: JSONValue, at pointer: String
  ) throws(PipelineError) -> PipelineExecutor {
    let members = try Members(json, at: pointer, keys: ["id", "count"])
    let id = try members.required("id")
    guard PipelineNode.isValidID(id) else {
      throw PipelineError(.invalidID(id, of: "executor"), at: "\(pointer)/id")
    }
    let count = try members.integer("count") ?? 1
    guard (1...1_024).contains(count) else {
      throw PipelineError(
        .wrongValue("an executor has 1 to 1024 servers", advice: nil), at: "\(pointer)/count")
    }
    return PipelineExecutor(id: id, count: count)
  }

  private func cost(_ json: JSONValue, at pointer: String) throws(PipelineError) -> Cost {
    let members = try Members(json, at: pointer, keys: ["fixed", "uniform", "p50", "p99"])
    // Exact sets of keys: a cost with `fixed` and `p50` must not be read as one of the two.
    if members.has(exactly: ["fixed"]) {
      return .fixed(try members.duration("fixed"))
    }
    if members.has(exactly: ["uniform"]) {
      let bounds = try members.array("uniform")
      guard bounds.count == 2, case .string(let low) = bounds[0],
        case .string(let high) = bounds[1],
        let low = Duration(parsing: low), let high = Duration(parsing: high), low <= high
      else {
        throw PipelineError(
          .wrongValue(
            "uniform is two durations, the smaller first", advice: "[\"20ms\", \"30ms\"]"),
          at: "\(pointer)/uniform")
      }
      return .uniform(low, high)
    }
    if members.has(exactly: ["p50", "p99"]) {
      let p50 = try members.duration("p50")
      let p99 = try members.duration("p99")
      guard .zero < p50, p50 <= p99 else {
        throw PipelineError(
          .wrongValue("p50 must be above zero and at most p99", advice: nil), at: pointer)
      }
      return .quantiles(p50: p50, p99: p99)
    }
    throw PipelineError(
      .wrongValue(
        "a cost is fixed, uniform, or p50 with p99", advice: "For example {\"fixed\": \"45ms\"}"),
      at: pointer)
  }
}

typealias Members = DocumentFields<PipelineError>

extension PipelineError: DocumentFailure {
  package init(_ problem: DocumentProblem) {
    switch problem.reason {
    case .unknownKey(let key, let advice):
      self.init(.unknownKey(key, advice: advice), at: problem.pointer)
    case .missingKey(let key): self.init(.missingKey(key), at: problem.pointer)
    case .wrongValue(let detail, let advice):
      self.init(.wrongValue(detail, advice: advice), at: problem.pointer)
    case .tooLarge(let detail): self.init(.tooLarge(detail), at: problem.pointer)
    }
  }
}
