import RetakeCore

extension Cost {
  /// The largest cost of one call of a body: an hour. It keeps sums of costs within 64 bits.
  package static let nanosecondsMax: Int64 = 3_600_000_000_000
}

extension Pipeline {
  /// Checks capacities, servers, buffers, costs and times, because the methods of the DSL accept
  /// any.
  func checkNumbers() throws {
    // Flat, so that the nodes and edges of bodies are checked, with their pointers.
    let flat = flattened()
    for edge in flat.edges {
      try Self.check(edge, at: "\(edge.pointer ?? "/edges")/capacity")
    }
    for (index, executor) in executors.enumerated()
    where !(1...1_024).contains(executor.count) {
      throw PipelineError(
        .wrongValue("an executor has 1 to 1024 servers", advice: "Write 1 to 1024"),
        at: "/executors/\(index)/count")
    }
    for (index, pool) in pools.enumerated() where !(1...4_096).contains(pool.capacity) {
      throw PipelineError(
        .wrongValue("a pool has 1 to 4096 buffers", advice: "Write 1 to 4096"),
        at: "/pools/\(index)/capacity")
    }
    for (index, pool) in pools.enumerated() {
      try pool.checkSizing(at: "/pools/\(index)")
      try pool.checkWait(flat, at: "/pools/\(index)")
    }
    for node in flat.nodes { try node.checkNumbers(origin) }
  }

  private static func check(
    _ edge: PipelineEdge, at pointer: @autoclosure () -> String
  ) throws {
    guard PipelineEdge.capacityRange.contains(edge.capacity) else {
      throw PipelineError(
        .wrongValue("a capacity of \(edge.capacity) is out of range", advice: "Use 1 to 65536"),
        at: pointer())
    }
    guard edge.policy != .replace || edge.capacity == 1 else {
      throw PipelineError(
        .wrongValue(
          "a replace edge cannot hold \(counted(edge.capacity, "frame"))",
          advice: "A replace edge has capacity 1"), at: pointer())
    }
  }
}

extension PipelineNode {
  private static let durationNames = ["batch": "a batch's wait", "cost": "a cost per frame"]

  fileprivate func checkNumbers(_ origin: Pipeline.Origin) throws {
    let place = pointer ?? "/nodes"
    if let problem = cost?.problem {
      throw PipelineError(
        .wrongValue(
          problem,
          advice: origin == .swift
            ? "For example .cost(.fixed(.milliseconds(45)))" : "For example {\"fixed\": \"45ms\"}"),
        at: "\(place)/cost")
    }
    for (key, duration) in [
      ("timeout", timeout), ("hold", hold), ("batch", batch?.wait), ("cost", costPerFrame),
    ] {
      guard let duration, duration < .zero || duration.nanoseconds > Cost.nanosecondsMax else {
        continue
      }
      throw PipelineError(
        .wrongValue(
          "\(Self.durationNames[key] ?? "a \(key)") is at most an hour, and not negative",
          advice: origin == .swift ? "For example .milliseconds(50)" : "For example \"50ms\""),
        at: "\(place)/\(key)")
    }
  }
}

extension Cost {
  /// The problem with the durations, in words; `nil` if they are valid.
  fileprivate var problem: String? {
    let (low, high) =
      switch self {
      case .fixed(let duration): (duration, duration)
      case .uniform(let low, let high): (low, high)
      case .quantiles(let p50, let p99): (p50, p99)
      }
    // Before the others: these assume that `low` is the smaller one.
    if low > high { return "the smaller duration comes first" }
    if case .quantiles = self, low.nanoseconds <= 0 { return "p50 must be above zero" }
    if low < .zero { return "a cost is not negative" }
    return high.nanoseconds > Self.nanosecondsMax ? "a cost is at most an hour" : nil
  }
}
