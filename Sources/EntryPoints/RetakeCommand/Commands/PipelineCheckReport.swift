import Retake

/// The output of `retake pipeline check`.
struct PipelineCheckReport {
  /// The pipeline as the user named it.
  var name: String
  var inspection: PipelineInspection
  var analysis: PipelineAnalysis

  private var pipeline: Pipeline { inspection.pipeline }

  var json: JSONValue {
    guard case .object(var members) = analysis.json else { return .null }
    members["name"] = .string(pipeline.name)
    members["digest"] = .string("\(pipeline.digest)")
    // A pipeline with closures can run but has no document.
    members["pipeline"] = (try? PipelineDocument.json(of: pipeline)) ?? .null
    members["sources"] = .array(
      inspection.sources.map { source in
        var entry: [String: JSONValue] = ["id": .string(source.node)]
        entry["format"] = source.format.map { .string($0.rawValue) }
        entry["framesPerSecond"] = source.framesPerSecond.map { .number($0) }
        return .object(entry)
      })
    members["conversions"] = .array(
      inspection.conversions.map {
        .object([
          "id": .string($0.node), "from": .string($0.from), "format": .string($0.format),
        ])
      })
    return .object(members)
  }

  var lines: [String] {
    ["\(pipeline.name)  digest \(pipeline.digest)"] + nodes + pools + paths + loads
  }

  /// The pools whose memory does not grow with the first frames.
  private var pools: [String] {
    pipeline.pools.filter(\.isPreallocated).map {
      "  pool \($0.id)  \(counted($0.capacity, "buffer")), made before the first frame"
    }
  }

  /// In the order of the time plane, each with its incoming edges.
  private var nodes: [String] {
    let flat = inspection.complete
    let incoming = Dictionary(grouping: flat.edges, by: \.to)
    let ordered = (try? flat.topologicalOrder()) ?? flat.nodes
    let conversions = Dictionary(
      inspection.conversions.map { ($0.node, "convert \($0.from) to \($0.format) (inserted)") },
      uniquingKeysWith: { first, _ in first })
    return ordered.filter { $0.stage.signature.role != .gather }.map { node in
      let queues = (incoming[node.id] ?? []).map { edge in
        // The document knows the forEach only, not the end that it gets when it is flattened.
        let from = edge.from.hasSuffix("/join") ? String(edge.from.dropLast(5)) : edge.from
        let port = edge.toPort.map { " to \($0)" } ?? ""
        return "from \(from)\(port) (\(edge.policy.rawValue), \(edge.capacity))"
      }
      let parts = [node.id, conversions[node.id] ?? node.kind] + facts(of: node)
      return "  "
        + (parts + [queues.joined(separator: ", ")]).filter { !$0.isEmpty }
        .joined(separator: "  ")
    }
  }

  private func facts(of node: PipelineNode) -> [String] {
    var facts: [String] = []
    if let cost = node.cost?.json(perFrame: node.costPerFrame) {
      facts.append("cost \(cost.canonicalText)")
    }
    if let batch = node.batch { facts.append("batch \(batch.json.canonicalText)") }
    if node.concurrency > 1 { facts.append("concurrency \(node.concurrency)") }
    if let executor = node.executor { facts.append("executor \(executor)") }
    if let pool = node.pool { facts.append("pool \(pool)") }
    if let timeout = node.timeout { facts.append("timeout \(timeout.unitText)") }
    return facts
  }

  private var paths: [String] {
    // A path without declared costs has no time to show.
    let timed = analysis.paths.filter { $0.worst > .zero }
    guard !timed.isEmpty else { return [] }
    let lines = timed.map { path in
      var text = "  \(path.nodes.joined(separator: " → "))  \(PipelineWording.time(path.typical))"
      if path.worst > path.typical { text += ", slow \(PipelineWording.time(path.worst))" }
      if path.waiting > .zero {
        text += ", plus up to \(PipelineWording.time(path.waiting)) in queues that stay full"
      }
      return text
    }
    let more = analysis.arrivals.filter { $0.pathCount > 1 }.reduce(0) { sum, arrival in
      sum + arrival.pathCount
        - analysis.paths.count { $0.nodes.last == arrival.sink }
    }
    return ["paths, of a frame that waits for no other frame, by declared costs"] + lines
      + (more > 0
        ? [
          "  and \(counted(more, "path that is", "paths that are")) not "
            + "slower"
        ] : []) + budgets
  }

  /// The remaining time of each budget. An exceeded budget is a warning instead.
  private var budgets: [String] {
    analysis.arrivals.compactMap { arrival in
      guard let budget = arrival.budget, let left = arrival.headroom, left >= .zero else {
        return nil
      }
      return "  \(arrival.sink)  \(PipelineWording.time(left)) left of "
        + PipelineWording.time(budget)
    }
  }

  /// The waiting that the times of the paths do not include, and the command that measures it;
  /// `nil` without times.
  var noteOfTimes: String? {
    guard !paths.isEmpty else { return nil }
    return
      "the times of paths are sums of declared costs; slow is the sum of the p99 or the upper end "
      + "of each. The time in queues is not included, up to a full queue of slow frames. "
      + "To include it: retake replay SESSION --pipeline \(name.shellWord) "
      + "--sweep scale=1"
  }

  private var loads: [String] {
    let busy = analysis.loads.filter { $0.timePerFrame > .zero }
    guard !busy.isEmpty else { return [] }
    var lines = busy.map { load in
      let percent = load.load.map { "  \(PipelineWording.rate($0 * 100)) % busy" } ?? ""
      let nodes = load.isShared ? "  \(load.nodes.joined(separator: ", "))" : ""
      return "  \(load.executor)  \(counted(load.servers, "server"))  "
        + "\(PipelineWording.time(load.timePerFrame)) a frame\(percent)\(nodes)"
    }
    // Sorted, because the order of a Dictionary differs from process to process.
    let rates = analysis.sustained.sorted { $0.key < $1.key }.map { source, rate in
      "\(PipelineWording.rate(rate)) frames a second of '\(source)'"
    }
    if !rates.isEmpty, let bottleneck = analysis.bottleneck {
      lines.append("  keeps up with \(rates.joined(separator: ", ")); '\(bottleneck)' is the limit")
    }
    return ["executors"] + lines
  }
}
