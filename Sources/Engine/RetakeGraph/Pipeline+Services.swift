import RetakeCore

extension Pipeline {
  /// The largest number of frames that one node handles at once.
  package static var concurrencyMax: Int { 64 }

  /// Checks the executors, slots, pools, timeouts and fallbacks of the nodes of a flat graph.
  func checkServices(_ graph: GraphIndex) throws {
    let executorIDs = Set(executors.map(\.id))
    let byPool = Dictionary(pools.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for node in graph.nodes {
      if let executor = node.executor, !executorIDs.contains(executor) {
        throw PipelineError(
          .unknownExecutor(
            executor.shortened,
            advice: executors.isEmpty
              ? declaration(
                swift: ".executor(\"\(executor.shortened)\")",
                document: "\"executors\": [{\"id\": \"\(executor.shortened)\"}]")
              : Suggestion.advice(for: executor, among: executors.map(\.id))),
          at: node.place("executor"))
      }
      try node.checkService(origin)
      try node.checkBatch(origin, graph)
      try node.checkTimes(origin)
      if let id = node.pool { try check(byPool[id], named: id, of: node) }
      try node.checkPrecision(origin)
    }
  }

  /// The advice to declare an executor or a pool, in the language of the pipeline.
  private func declaration(swift: String, document: String) -> String {
    "Declare it: \(origin == .swift ? swift : document)"
  }

  private func check(
    _ pool: PipelinePool?, named id: String, of node: PipelineNode
  ) throws {
    guard let pool else {
      throw PipelineError(
        .wrongValue(
          "there is no pool '\(id.shortened)'",
          advice: pools.isEmpty
            ? declaration(
              swift: ".pool(\"\(id.shortened)\", capacity: 8)",
              document: "\"pools\": [{\"id\": \"\(id.shortened)\", \"capacity\": 8}]")
            : Suggestion.advice(for: id, among: pools.map(\.id))),
        at: node.place("pool"))
    }
    let role = node.stage.signature.role
    try node.require(origin, role == .source || role.isServed, "pool", "makes no frames")
    try node.require(
      origin, node.scope == nil || pool.policy != .drop, "pool",
      "works on items, which are never dropped",
      advice: "Set the policy of '\(id)' to block or fail")
  }
}

extension PipelineNode {
  fileprivate func place(_ key: String) -> String { "\(pointer ?? "/nodes")/\(key)" }

  fileprivate func require(
    _ origin: Pipeline.Origin, _ holds: Bool, _ key: String, _ what: String, advice: String? = nil
  ) throws {
    guard !holds else { return }
    let inSwift = ["executor": ".on(executor:)", "hold": "hold:", "precision": "precision:"]
    let word = origin == .swift ? inSwift[key] ?? ".\(key)" : "\"\(key)\""
    throw PipelineError(
      .wrongValue("'\(id)' \(what)", advice: advice ?? "Leave out \(word)"), at: place(key))
  }

  /// Checks the node's executor, cost, pinning and concurrency.
  fileprivate func checkService(_ origin: Pipeline.Origin) throws {
    let role = stage.signature.role
    try require(
      origin, role.isServed || executor == nil, "executor", "is not served by an executor")
    try require(
      origin, executor == nil || !isPinned, "executor", "is pinned and owns its executor",
      advice: origin == .swift
        ? "Leave out .on(executor:) or .pinned()" : "Leave out \"executor\" or \"pinned\"")
    try require(origin, role.isServed || cost == nil, "cost", "takes no time")
    try require(origin, role.isServed || !isPinned, "pinned", "has no body to pin")
    try require(
      origin, (1...Pipeline.concurrencyMax).contains(concurrency), "concurrency",
      "cannot have concurrency \(concurrency)",
      advice: "Use 1 to \(Pipeline.concurrencyMax)")
    try require(
      origin, role.isServed || concurrency == 1, "concurrency",
      "uses no server, so it has no concurrency")
    try require(
      origin, role != .stateful || concurrency == 1, "concurrency",
      "remembers, and can only work on one frame at a time")
  }

  /// Checks the node's batch, and that its queue can hold one.
  fileprivate func checkBatch(_ origin: Pipeline.Origin, _ graph: GraphIndex) throws {
    guard let batch else {
      return try require(
        origin, costPerFrame == nil, "cost", "has a cost for each frame of a batch, but no batch",
        advice: "Write its cost without one, or a batch")
    }
    let role = stage.signature.role
    try require(origin, role.isServed, "batch", "uses no server, so it has no batch")
    try require(
      origin, role != .stateful, "batch", "remembers, and can only work on one frame at a time")
    try require(
      origin, pool == nil, "batch", "has a pool, and a batch takes no buffers from a pool",
      advice: "Leave out its pool or its batch")
    let range = PipelineBatch.countRange
    try require(
      origin, range.contains(batch.max), "batch", "cannot have a batch of \(batch.max)",
      advice: "Use \(range.lowerBound) to \(range.upperBound)")
    let edge = graph.edges.first { $0.to == id }
    let capacity = edge?.capacity ?? batch.max
    let queue =
      origin == .swift
      ? ".queue(capacity: \(batch.max))" : "\"capacity\": \(batch.max) at its edge"
    try require(
      origin, capacity >= batch.max, "batch",
      "has a queue for \(counted(capacity, "frame")), so a batch of \(batch.max) never fills",
      advice: edge?.policy == .replace
        ? "The policy replace keeps one frame: use another policy and \(queue), or no batch"
        : "Use \(queue), or a smaller batch")
  }

  /// Checks the node's fallback, timeout and hold.
  fileprivate func checkTimes(_ origin: Pipeline.Origin) throws {
    let role = stage.signature.role
    try require(origin, fallback == nil || role.isServed, "fallback", "cannot fail")
    try require(
      origin, fallback == nil || scope == nil, "fallback", "works on items, which have no fallback")
    try require(
      origin, timeout == nil || role.isServed || role == .join, "timeout", "never waits")
    try require(
      origin, timeout.map { $0 > .zero } ?? true, "timeout", "would time out at once",
      advice: origin == .swift ? "For example .timeout(.milliseconds(50))" : "For example \"50ms\"")
    try require(origin, hold == nil || role == .sink, "hold", "is not a sink")
  }

  /// Checks that the steps in which a sink writes numbers are powers of ten.
  fileprivate func checkPrecision(_ origin: Pipeline.Origin) throws {
    try require(
      origin, precision.isEmpty || stage.signature.role == .sink, "precision",
      "is not a sink and writes no numbers")
    let known = Precision.CodingKeys.allCases.map(\.rawValue)
    // Sorted, so that every run reports the same one of several wrong keys.
    for key in precision.keys.sorted() {
      let pointer = "\(place("precision"))/\(key.shortened.pointerEscaped)"
      guard known.contains(key) else {
        throw PipelineError(
          .unknownKey(key.shortened, advice: Suggestion.advice(for: key, among: known)), at: pointer
        )
      }
      do {
        // All three keys allow the same values, so each key is checked as the precision of boxes.
        _ = try Precision(box: precision[key])
      } catch let error as ResultTextError {
        throw PipelineError(
          .wrongValue("\(precision[key] ?? 0) is not a power of ten", advice: error.advice),
          at: pointer)
      }
    }
  }
}
