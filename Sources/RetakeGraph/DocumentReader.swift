import RetakeCore

/// Turns the JSON of a pipeline document into a `Pipeline`, one object at a time, each key checked.
struct DocumentReader {
  let catalog: any StageCatalog

  func pipeline(from json: JSONValue) throws(PipelineError) -> Pipeline {
    let document = try Members(json, at: "", keys: ["v", "name", "nodes", "edges", "executors"])
    guard let v = try document.integer("v") else { throw PipelineError(.missingKey("v"), at: "") }
    guard v == 1 else {
      throw v > 1
        ? PipelineError(.newerVersion(v), at: "/v")
        : PipelineError(.wrongValue("there is no version \(v)", advice: "Write 1"), at: "/v")
    }
    var pipeline = Pipeline(
      name: try document.string("name") ?? "pipeline", nodes: [], edges: [])
    for (index, json) in try document.array("nodes").enumerated() {
      pipeline.nodes.append(try node(json, at: "/nodes/\(index)"))
    }
    for (index, json) in try document.array("edges").enumerated() {
      pipeline.edges.append(try edge(json, at: "/edges/\(index)"))
    }
    for (index, json) in try document.array("executors").enumerated() {
      pipeline.executors.append(try executor(json, at: "/executors/\(index)"))
    }
    return pipeline
  }

  private func node(_ json: JSONValue, at pointer: String) throws(PipelineError) -> PipelineNode {
    let keys = ["id", "kind", "options", "cost", "executor", "primary", "quantum", "body"]
    let members = try Members(json, at: pointer, keys: keys)
    let id = try members.required("id")
    guard PipelineNode.isValidID(id) else {
      throw PipelineError(
        .wrongValue(
          "'\(id)' is not a node id", advice: "Use a lower-case letter, then letters, digits or -"),
        at: "\(pointer)/id")
    }
    let kind = try members.required("kind")
    if kind == "forEach" || members.value("body") != nil {
      throw PipelineError(
        .unsupported(
          "forEach graphs are not run by this version", advice: "Write the stages in one line"),
        at: "\(pointer)/\(kind == "forEach" ? "kind" : "body")")
    }
    guard catalog.signature(of: kind) != nil else {
      throw PipelineError(
        .unknownKind(kind, advice: Suggestion.advice(for: kind, among: catalog.kinds)),
        at: "\(pointer)/kind")
    }
    let stage: AnyStage
    do throws(OptionProblem) {
      stage = try catalog.make(kind: kind, options: members.value("options") ?? .object([:]))
    } catch {
      throw PipelineError(
        .badOption(error.message, advice: error.advice), at: "\(pointer)/options\(error.pointer)")
    }
    var node = PipelineNode(id: id, stage: stage)
    if let cost = members.value("cost") {
      node.cost = try self.cost(cost, at: "\(pointer)/cost")
    }
    node.executor = try members.string("executor")
    node.isPrimary = try members.bool("primary") ?? false
    node.quantum = try members.numbers("quantum")
    return node
  }

  private func edge(_ json: JSONValue, at pointer: String) throws(PipelineError) -> PipelineEdge {
    let members = try Members(json, at: pointer, keys: ["from", "to", "capacity", "policy"])
    let (from, fromPort) = split(try members.required("from"))
    let (to, toPort) = split(try members.required("to"))
    var edge = PipelineEdge(from: from, to: to, fromPort: fromPort, toPort: toPort)
    if let word = try members.string("policy") {
      guard let policy = EdgePolicy(rawValue: word) else {
        throw PipelineError(
          .wrongValue(
            "'\(word)' is not a policy",
            advice: Suggestion.advice(for: word, among: EdgePolicy.allCases.map(\.rawValue))),
          at: "\(pointer)/policy")
      }
      edge.policy = policy
    }
    if edge.policy == .replace { edge.capacity = 1 }
    if let capacity = try members.integer("capacity") {
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
      throw PipelineError(
        .wrongValue("'\(id)' is not an executor id", advice: nil), at: "\(pointer)/id")
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
