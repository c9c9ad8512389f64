import RetakeCore

extension Pipeline {
  /// The most frames that one node works on at once.
  static var lanesMax: Int { 64 }

  /// Checks what the nodes of a flat graph say of executors, lanes, pools, timeouts and fallbacks.
  func checkServices() throws(PipelineError) {
    for node in nodes {
      let role = node.stage.signature.role
      if let executor = node.executor {
        guard executors.contains(where: { $0.id == executor }) else {
          throw PipelineError(
            .unknownExecutor(
              executor, advice: Suggestion.advice(for: executor, among: executors.map(\.id))),
            at: node.place("executor"))
        }
        try node.require(role.isServed, "executor", "is served by nobody")
        try node.require(!node.isPinned, "executor", "is pinned and owns its executor")
      }
      try node.require(role.isServed || node.cost == nil, "cost", "takes no time")
      try node.require(role.isServed || !node.isPinned, "pinned", "has no body to pin")
      try node.require(
        role.isServed || node.lanes == 1, "lanes", "works on one frame at a time")
      try node.require(
        role != .stateful || node.lanes == 1, "lanes",
        "remembers, and can only work on one frame at a time")
      try node.require(
        (1...Self.lanesMax).contains(node.lanes), "lanes", "has 1 to \(Self.lanesMax) lanes")
      try node.require(
        node.fallback == nil || role.isServed && node.scope == nil, "fallback",
        node.scope == nil ? "cannot fail" : "works on items, which have no fallback")
      try node.require(
        node.timeout == nil || role.isServed || role == .join, "timeout", "waits for nothing")
      try node.require(
        node.timeout.map { $0 > .zero } ?? true, "timeout", "would time out at once")
      try node.require(node.hold == nil || role == .sink, "hold", "is no sink")
      try checkPool(of: node)
    }
  }

  private func checkPool(of node: PipelineNode) throws(PipelineError) {
    guard let id = node.pool else { return }
    guard let pool = pools.first(where: { $0.id == id }) else {
      throw PipelineError(
        .wrongValue(
          "there is no pool '\(id)'", advice: Suggestion.advice(for: id, among: pools.map(\.id))),
        at: node.place("pool"))
    }
    let role = node.stage.signature.role
    try node.require(role == .source || role.isServed, "pool", "makes no frames of its own")
    try node.require(
      node.scope == nil || pool.policy != .drop, "pool",
      "works on items, which are never dropped")
  }
}

extension PipelineNode {
  fileprivate func place(_ key: String) -> String { "\(pointer ?? "/nodes")/\(key)" }

  fileprivate func require(
    _ holds: Bool, _ key: String, _ what: String
  ) throws(PipelineError) {
    guard !holds else { return }
    throw PipelineError(
      .wrongValue("'\(id)' \(what)", advice: "Leave out \"\(key)\", or change it"), at: place(key))
  }
}
