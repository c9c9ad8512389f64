package import RetakeCore

/// Times are integers in nanoseconds; loads and rates are floating-point numbers.
extension PipelineAnalysis {
  /// The output of `retake pipeline check --json`.
  package var json: JSONValue {
    var rates: [String: JSONValue] = [:]
    for (source, rate) in sustained { rates[source] = .number(rate.rounded(places: 6)) }
    var members: [String: JSONValue] = [
      "sinks": .array(arrivals.map(\.json)), "paths": .array(paths.map(\.json)),
      "executors": .array(loads.map(\.json)), "sustainedFramesPerSecond": .object(rates),
      "warnings": .array(warnings.map(\.json)), "notes": .array(notes.map { .string($0) }),
    ]
    members["bottleneck"] = bottleneck.map { .string($0) }
    return .object(members)
  }
}

extension PipelineAnalysis.Path {
  fileprivate var json: JSONValue {
    .object([
      "nodes": .array(nodes.map { .string($0) }),
      "typicalNanoseconds": .integer(typical.nanoseconds),
      "worstNanoseconds": .integer(worst.nanoseconds),
      "waitingNanosecondsMax": .integer(waiting.nanoseconds),
    ])
  }
}

extension PipelineAnalysis.Arrival {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "sink": .string(sink), "slowestPath": path.json, "paths": .integer(Int64(pathCount)),
    ]
    members["budgetNanoseconds"] = budget.map { .integer($0.nanoseconds) }
    members["headroomNanoseconds"] = headroom.map { .integer($0.nanoseconds) }
    return .object(members)
  }
}

extension PipelineAnalysis.Load {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "id": .string(executor), "shared": .bool(isShared), "servers": .integer(Int64(servers)),
      "nodes": .array(nodes.map { .string($0) }),
      "nanosecondsPerFrame": .integer(timePerFrame.nanoseconds),
    ]
    members["load"] = load.map { .number($0.rounded(places: 6)) }
    return .object(members)
  }
}

extension PipelineWarning {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "code": .string(code), "message": .string(message), "pointer": .string(pointer),
      "fixes": .array(fixes.map { .array($0.map(\.json)) }),
    ]
    members["advice"] = advice.map { .string($0) }
    return .object(members)
  }
}

extension PipelineFix {
  fileprivate var json: JSONValue {
    switch self {
    case .concurrency(let node, let count):
      .object(["node": .string(node), "concurrency": .integer(Int64(count))])
    case .servers(let executor, let count):
      .object(["executor": .string(executor), "count": .integer(Int64(count))])
    case .policy(let node, let port, let policy):
      .object([
        "to": .string(port.map { "\(node).\($0)" } ?? node), "policy": .string(policy.rawValue),
      ])
    case .timeout(let node, let timeout):
      .object(["node": .string(node), "timeout": .string(timeout.unitText)])
    }
  }
}

extension Double {
  fileprivate func rounded(places: Int) -> Double {
    // Rates come from a search by halving, whose last digits have no meaning.
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    return (self * scale).rounded() / scale
  }
}
