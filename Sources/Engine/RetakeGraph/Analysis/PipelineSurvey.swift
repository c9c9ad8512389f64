import RetakeCore

/// The numbers of a pipeline at given rates, and its problems. Advice is added later.
struct PipelineSurvey {
  let pipeline: Pipeline
  let options: AnalysisOptions
  let graph: GraphIndex
  let order: [Int]
  /// `nil` if the rate of a source is not known. In that case, no server is reported as overloaded.
  let rates: [Int: Double]?
  let model: FlowModel
  let times: FrameTimes
  private(set) var complaints: [Complaint] = []

  init(_ pipeline: Pipeline, _ options: AnalysisOptions) throws {
    self.pipeline = pipeline
    self.options = options
    let graph = GraphIndex(try options.completing(pipeline.flattened()))
    self.graph = graph
    order = try graph.order()
    let sources = graph.nodes.indices.filter { graph.role($0) == .source }
    var known: [Int: Double] = [:]
    for source in sources { known[source] = options.rate(of: graph.nodes[source].id) }
    // Frames of several sources may share servers, so no load is known if one rate is not.
    rates = known.count == sources.count ? known : nil
    model = FlowModel(
      graph, order: order, executors: pipeline.executors, sources: rates ?? [:],
      items: options.items)
    times = FrameTimes(model)
    complaints =
      overloadComplaints() + budgetComplaints() + timeoutComplaints() + partnerComplaints()
      + poolComplaints()
  }

  func id(_ node: Int) -> String { graph.nodes[node].id }

  var sinks: [Int] { graph.nodes.indices.filter { graph.role($0) == .sink } }

  /// The analysis, without advice.
  var analysis: PipelineAnalysis {
    let (sustained, bottleneck) = sustained()
    return PipelineAnalysis(
      arrivals: sinks.map { sink in
        PipelineAnalysis.Arrival(
          sink: id(sink), path: path(times.slowest(to: sink)), pathCount: times.pathCounts[sink],
          budget: options.budget(of: id(sink)))
      }, paths: sinks.flatMap { times.paths(to: $0).map { path($0) } },
      loads: model.groups.filter { !isInserted($0) }.map { load($0) }, sustained: sustained,
      bottleneck: bottleneck,
      warnings: [], notes: notes())
  }

  private func path(_ path: FramePath) -> PipelineAnalysis.Path {
    PipelineAnalysis.Path(
      nodes: written(path.nodes).map { id($0) }, typical: .nanoseconds(path.time.typical),
      worst: .nanoseconds(path.time.worst), waiting: .nanoseconds(path.time.waiting))
  }

  /// The nodes that a document contains: no conversions, and no ends of forEach nodes.
  func written(_ nodes: [Int]) -> [Int] {
    nodes.filter { graph.role($0) != .gather && !graph.nodes[$0].isInserted }
  }

  private func isInserted(_ group: ServerGroup) -> Bool {
    group.nodes.allSatisfy { graph.nodes[$0].isInserted }
  }

  private func load(_ group: ServerGroup) -> PipelineAnalysis.Load {
    let perFrame = group.nodes.reduce(0.0) { sum, node in
      // A stage of a body works once for each item of a frame.
      let mean = graph.nodes[node].meanOfFrame
      return sum + mean * (graph.nodes[node].scope == nil ? 1 : Double(options.items))
    }
    return PipelineAnalysis.Load(
      executor: group.id, isShared: group.isShared, servers: group.servers,
      nodes: group.nodes.map { id($0) }, timePerFrame: .nanoseconds(Int64(perFrame.rounded())),
      load: rates == nil ? nil : model.loads.busy(group) / Double(group.servers))
  }

  /// How far the rates can rise; if they are not known, from one frame per second for each source.
  private func sustained() -> ([String: Double], bottleneck: String?) {
    let base =
      rates
      ?? Dictionary(
        uniqueKeysWithValues: graph.nodes.indices.filter { graph.role($0) == .source }.map {
          ($0, 1.0)
        })
    func model(_ factor: Double) -> FlowModel {
      FlowModel(
        graph, order: order, executors: pipeline.executors,
        sources: base.mapValues { $0 * factor }, items: options.items)
    }
    guard let factor = model(1).factorMax() else { return ([:], nil) }
    var sustained: [String: Double] = [:]
    for (source, rate) in base { sustained[id(source)] = rate * factor }
    // Slightly above the limit, because at the limit itself no server is overloaded.
    return (sustained, model(factor * 1.000_01).overloads.first?.group.id)
  }

  private func notes() -> [String] {
    var notes: [String] = []
    let free = graph.nodes.filter {
      $0.cost == nil && $0.stage.signature.role.isServed && !$0.isInserted
    }
    if !free.isEmpty {
      notes.append("without a cost, so 0 in simulate mode: \(Self.list(free.map(\.id)))")
    }
    for overload in model.relieved where rates != nil {
      notes.append(relief(overload))
    }
    let used = Set(graph.nodes.compactMap(\.executor))
    let idle = pipeline.executors.map(\.id).filter { !used.contains($0) }
    if !idle.isEmpty { notes.append("executors that serve no stage: \(Self.list(idle))") }
    let pools = Set(graph.nodes.compactMap(\.pool))
    let spare = pipeline.pools.map(\.id).filter { !pools.contains($0) }
    if !spare.isEmpty { notes.append("pools that no stage uses: \(Self.list(spare))") }
    return notes
  }

  /// The frames that queues drop because of their policy.
  private func relief(_ overload: Overload) -> String {
    let edges = overload.entries.flatMap { graph.backlog(before: $0).dropping }
    // Two entries may be downstream of the same queue. Sorted, because a Set has no order.
    let queues = Set(edges).sorted().map { edge in
      let receiver = graph.receivers[edge]
      let offered = model.rates.leaving[graph.senders[edge]]
      return "the queue before '\(id(receiver))' (\(graph.edges[edge].policy.rawValue)) lets "
        + "\(PipelineWording.rate(model.rates.arriving[receiver])) of \(PipelineWording.rate(offered)) "
        + "frames a second through"
    }
    let name =
      overload.group.isShared ? "the executor '\(overload.group.id)'" : "'\(overload.group.id)'"
    return "\(name) is busy all the time: \(Self.list(queues, separator: "; "))"
  }

  static func list(_ items: [String], separator: String = ", ") -> String {
    let most = 12
    guard items.count > most else { return items.joined(separator: separator) }
    return items.prefix(most).joined(separator: separator) + " and \(items.count - most) more"
  }
}

/// Numbers in the form that messages use.
package enum PipelineWording {
  /// With at most one decimal place: "22.2".
  package static func rate(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    // The conversion to an integer would trap for very large rates.
    guard tenths < 1e15 else { return "\(value)" }
    let whole = Int64(tenths)
    return whole % 10 == 0 ? "\(whole / 10)" : "\(whole / 10).\(whole % 10)"
  }

  /// In the largest unit with a value of at least 1, with at most one decimal place: "61 ms".
  package static func time(_ nanoseconds: Int64) -> String {
    for (unit, scale) in [("s", 1e9), ("ms", 1e6), ("us", 1e3)]
    where Double(nanoseconds) >= scale {
      return "\(rate(Double(nanoseconds) / scale)) \(unit)"
    }
    return "\(nanoseconds) ns"
  }

  package static func time(_ duration: Duration) -> String { time(duration.nanoseconds) }
}
