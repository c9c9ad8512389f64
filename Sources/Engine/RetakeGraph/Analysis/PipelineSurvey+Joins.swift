import RetakeCore

/// Timeouts that always expire, partners that never arrive, and pools that one frame can empty.
extension PipelineSurvey {
  func timeoutComplaints() -> [Complaint] {
    graph.nodes.indices.compactMap { node in
      guard let timeout = graph.nodes[node].timeout?.nanoseconds else { return nil }
      return graph.role(node) == .join
        ? lateParts(node, timeout) : tooShort(node, timeout)
    }
  }

  private func tooShort(_ node: Int, _ timeout: Int64) -> Complaint? {
    // A timeout that ends rare calls is meant to do so. By `stage-timeout`, an end at exactly the
    // timeout is in time.
    let cost = graph.nodes[node].costOfCall
    guard cost.typical > timeout else { return nil }
    let often = cost.least > timeout ? "always" : "as a rule"
    let enough = Duration.nanoseconds(cost.worst).roundedUp
    return Complaint(
      kind: .timeout, subject: id(node),
      message:
        "'\(id(node))' \(often) takes longer (\(PipelineWording.time(cost.typical))) than its "
        + "timeout of \(PipelineWording.time(timeout)): its frames fail",
      pointer: "\(graph.pointer(ofNode: node))/timeout",
      candidates: [[.timeout(node: id(node), enough)]],
      otherwise: "raise the timeout, or make the stage cheaper")
  }

  /// The parts arrive one after another. The timeout counts from the first one.
  private func lateParts(_ node: Int, _ timeout: Int64) -> Complaint? {
    let edges = graph.edgesByPort(to: node).compactMap { $0 }
    let times = edges.map { self.times.arrival(on: $0).typical }
    guard let first = times.min(), let last = times.indices.max(by: { times[$0] < times[$1] }),
      times[last] - first >= timeout
    else { return nil }
    let worst = edges.map { self.times.arrival(on: $0).longest }.max() ?? 0
    // By `join-timer` a part of the same instant is late, so the timeout has to be longer.
    let enough = Duration.nanoseconds(worst - first + 1_000_000).roundedUp
    let port = graph.edges[edges[last]].toPort ?? ""
    let end: String
    if case .join(.any) = graph.nodes[node].stage.body {
      end = "it continues without"
    } else {
      end = "its frames are dropped (timeout)"
    }
    return Complaint(
      kind: .timeout, subject: id(node),
      message:
        "'\(id(node))' waits \(PipelineWording.time(timeout)) from the first part, and '\(port)' comes "
        + "\(PipelineWording.time(times[last] - first)) after it: \(end)",
      pointer: "\(graph.pointer(ofNode: node))/timeout",
      candidates: [[.timeout(node: id(node), enough)]],
      otherwise: "raise the timeout, or make the branch to '\(port)' faster")
  }

  /// A join with the mode all drops frames that do not arrive at every port.
  func partnerComplaints() -> [Complaint] {
    let thinning = ThinningPoints(self)
    return graph.nodes.indices.compactMap { node in
      guard case .join(.all) = graph.nodes[node].stage.body else { return nil }
      let lonely = thinning.onlyOnSomePorts(of: node)
      guard !lonely.isEmpty else { return nil }
      let ids = lonely.map { "'\($0)'" }
      return Complaint(
        kind: .partner, subject: id(node),
        message: "frames that end at \(Self.list(ids)) leave their other parts alone at "
          + "'\(id(node))', which drops them (partnerMissing)",
        pointer: graph.pointer(ofNode: node),
        otherwise: "move \(ids.count == 1 ? ids[0] : "them") before the branches part, or set "
          + "the mode of '\(id(node))' to any")
    }
  }

  func poolComplaints() -> [Complaint] {
    PoolNeeds(graph: graph, order: order, pools: pipeline.pools).itemLimits(pipeline.pools)
      .filter { $0.itemsMax < options.items }.map { limit in
        let pool = pipeline.pools[limit.pool]
        let forEach = graph.nodes[limit.gather].scope ?? ""
        // The policy `drop` is refused for items (`checkServices`), so only two are left.
        let end =
          pool.policy == .fail ? "the others fail (pool.empty)" : "the frame never leaves it"
        return Complaint(
          kind: .pool, subject: "pool \(pool.id)",
          message:
            "each detection in '\(forEach)' keeps a buffer of '\(pool.id)' until the last is "
            + "done: with more than \(limit.itemsMax) of them \(end)",
          pointer: "/pools/\(limit.pool)/capacity",
          otherwise: "set the capacity of '\(pool.id)' to "
            + "\(pool.capacity + (options.items - limit.itemsMax) * limit.perItem)")
      }
  }
}

extension Duration {
  /// Rounded up to milliseconds.
  fileprivate var roundedUp: Duration {
    .milliseconds((nanoseconds + 999_999) / 1_000_000)
  }
}

/// The points at which frames end by design, and the branches that contain them.
private struct ThinningPoints {
  private let graph: GraphIndex
  private let ids: [String]
  /// The points that frames have passed, by node.
  private var passed: [BitSet]

  init(_ survey: PipelineSurvey) {
    graph = survey.graph
    let graph = survey.graph
    var ids: [String] = []
    var ofNode: [Int: Int] = [:]
    var ofEdge: [Int: Int] = [:]
    for node in graph.nodes.indices where Self.thins(node, survey) {
      ofNode[node] = ids.count
      ids.append(graph.nodes[node].id)
    }
    for edge in graph.edges.indices where Self.drops(edge, survey) {
      ofEdge[edge] = ids.count
      ids.append(graph.nodes[graph.receivers[edge]].id)
    }
    self.ids = ids
    passed = Array(repeating: BitSet(count: ids.count), count: graph.nodes.count)
    guard !ids.isEmpty else { return }
    for node in survey.order {
      let parts = FrameTimes.frameEdges(graph, to: node).map { edge -> BitSet in
        var part = passed[graph.senders[edge]]
        if let point = ofEdge[edge] { part.insert(point) }
        return part
      }
      var all = parts.first ?? passed[node]
      for part in parts.dropFirst() {
        // A frame that ended in one branch continues with its other parts, so only a point that all
        // branches passed can have ended it.
        if case .join(.any) = graph.nodes[node].stage.body {
          all.formIntersection(part)
        } else {
          all.formUnion(part)
        }
      }
      if let point = ofNode[node] { all.insert(point) }
      passed[node] = all
    }
  }

  private static func thins(_ node: Int, _ survey: PipelineSurvey) -> Bool {
    switch survey.graph.nodes[node].stage.body {
    case .sample(let every): every > 1
    case .route: true
    // Whether a throttle thins depends on the rate of the frames that come.
    case .throttle:
      survey.rates != nil
        && survey.model.rates.leaving[node] < survey.model.rates.arriving[node]
    default: false
    }
  }

  private static func drops(_ edge: Int, _ survey: PipelineSurvey) -> Bool {
    // Without rates no queue is known to be full.
    guard survey.rates != nil, survey.graph.edges[edge].policy != .block else { return false }
    let rates = survey.model.rates
    return rates.arriving[survey.graph.receivers[edge]] + ServerLoads.slack
      < rates.leaving[survey.graph.senders[edge]]
  }

  /// Points that the frames of some ports have passed and the frames of other ports have not.
  func onlyOnSomePorts(of node: Int) -> [String] {
    let parts = graph.senderByPort(to: node).compactMap { $0.map { passed[$0] } }
    guard !ids.isEmpty, var common = parts.first else { return [] }
    var any = common
    for part in parts {
      common.formIntersection(part)
      any.formUnion(part)
    }
    any.subtract(common)
    var found: [String] = []
    any.forEach { found.append(ids[$0]) }
    return found
  }
}
