package import RetakeCore

/// Turns a run's decisions into a trace of virtual time that ui.perfetto.dev and chrome://tracing
/// open. It shows the work of each server, the length of each queue, the path of each frame, and
/// every decision as an instant. See docs/trace.md.
///
/// It is made from decisions and leases only, so it is the same, byte for byte, in every run of a
/// case. Memory is bounded by the frames in flight, provided that the caller drains the written
/// bytes regularly.
package struct TraceWriter: ~Copyable, Sendable {
  private let graph: TraceGraph
  private let pools: [String]
  private let adaptive: [String]
  private let layout: TraceLayout
  private var servers: TraceServers
  private var queues: TraceQueues
  private var frames: TraceFrames
  private var counters: TraceCounters
  private var text = TraceText()
  private var now: Int64?

  /// - Parameters:
  ///   - nodes: In topological order.
  ///   - pools: The ids of the pools whose leases are counted.
  ///   - adaptive: The pools among them whose size changes.
  package init(_ nodes: [TraceNode], pools: [String] = [], adaptive: [String] = []) {
    graph = TraceGraph(nodes)
    self.pools = pools
    self.adaptive = adaptive
    servers = TraceServers(nodes)
    queues = TraceQueues(graph)
    frames = TraceFrames(graph)
    counters = TraceCounters(nodes, pools: pools, adaptive: adaptive)
    layout = TraceLayout(executors: servers.executors, nodeCount: nodes.count)
    text.open()
    layout.describe(executors: servers.executors, nodes: nodes, in: &text)
  }

  /// The number of bytes that `take` would return.
  package var byteCount: Int { text.buffer.count }

  /// The bytes that were written since the last call.
  package mutating func take() -> [UInt8] {
    defer { text.removeAll() }
    return text.buffer.bytes
  }

  /// Appends a decision. Decisions are appended in the order in which they were made. An unknown
  /// kind is shown as an instant, like other kinds.
  package mutating func append(_ line: DecisionLine) {
    advance(to: line.time)
    guard let node = graph[line.node] else { return }
    let work = line.frame.map { TraceWork(node: node, frame: $0, item: line.item) }
    if let work { append(line, work) }
    guard !Self.isShownElsewhere(line.kind) else { return }
    text.instant(
      work.map { "\(line.kind.rawValue) \($0.subject)" } ?? line.kind.rawValue,
      category: line.kind.rawValue, at: line.time,
      layout.nodes[node], (work?.arguments ?? []) + line.traceDetails)
  }

  /// Sets the number of leased buffers of a pool from this time on.
  package mutating func setLeases(_ buffers: Int, of pool: String, at time: Int64) {
    guard let index = pools.firstIndex(of: pool) else { return }
    advance(to: time)
    counters.setLeases(buffers, ofPool: index)
  }

  /// Sets the number of buffers of an adaptive pool from this time on.
  package mutating func setSize(_ buffers: Int, of pool: String, at time: Int64) {
    guard let index = adaptive.firstIndex(of: pool) else { return }
    advance(to: time)
    counters.setSize(buffers, ofAdaptive: index)
  }

  /// Sets the number of requests that found no buffer of an adaptive pool until this time.
  package mutating func setStalls(_ requests: Int, of pool: String, at time: Int64) {
    guard let index = adaptive.firstIndex(of: pool) else { return }
    advance(to: time)
    counters.setStalls(requests, ofAdaptive: index)
  }

  /// The modelled temperature of the device from this time on.
  package mutating func setTemperature(_ temperature: Temperature, at time: Int64) {
    advance(to: time)
    // Not through `counters`: a run without a heat model has no such counter, not one of 0 °C.
    text.counter(
      "temperature", unit: "°C", thousandths: temperature.millidegrees, at: time,
      TraceLayout.queues)
  }

  /// Ends all unfinished work and frames, for example after a halt.
  ///
  /// - Parameter about: Properties of the run, by name.
  package mutating func finish(about: [(key: String, value: String)]) {
    let end = now ?? 0
    for (server, work, isLate) in servers.busy {
      let slice = slice(of: work, isLate: isLate)
      text.endSlice(
        slice.name, category: slice.category, at: end, row(of: server),
        [("outcome", .text("inFlight"))])
    }
    for frame in frames.unfinished { endFrame(frame, at: end, [("fate", .text("inFlight"))]) }
    if let now { counters.flush(at: now, &text) }
    text.close(about: about + [("originNanoseconds", String(text.originNanoseconds))])
  }

  /// A start and an end are shown by a slice, and a delivery by the counter of the queue.
  private static func isShownElsewhere(_ kind: DecisionKind) -> Bool {
    kind == .start || kind == .done || kind == .deliver
  }

  private mutating func advance(to time: Int64) {
    guard time != now else { return }
    // Counters show the value at the end of an instant, which is known when the next one begins.
    if let now { counters.flush(at: now, &text) } else { text.setStart(time) }
    now = time
    frames.advance()
    counters.begin()
  }

  private mutating func append(_ line: DecisionLine, _ work: TraceWork) {
    // Checked before the queues change: applying the line removes a dropped frame from its queue.
    if frames.isCaptured(line.kind, work, isWaiting: queues.isWaiting(work)) {
      beginFrame(work.frame, at: line.time)
    }
    queues.apply(line.kind, work, reason: line["reason"])
    serve(line, work)
    tellSink(line, work)
    // The line may have removed its frame from the queues upstream of this node, which write no
    // line.
    for input in graph.passingInputs[work.node] { counters.set(input, queues.counts[input]) }
    counters.set(work.node, queues.counts[work.node])
    counters.setInFlight(frames.count)
  }

  private mutating func serve(_ line: DecisionLine, _ work: TraceWork) {
    switch line.kind {
    case .start:
      if let server = servers.start(work) { beginSlice(line, work, on: server) }
    case .timeout: servers.timeOut(work)
    case .done, .fail, .itemFail:
      switch servers.end(work) {
      case .ends(let server): endSlice(line, work, on: server)
      case .runsOn(let server):
        endSlice(line, work, on: server)
        beginSlice(line, work, isLate: true, on: server)
      case nil: break
      }
    case .late:
      if let server = servers.endLate(work) { endSlice(line, work, isLate: true, on: server) }
    default: break
    }
  }

  private mutating func beginSlice(
    _ line: DecisionLine, _ work: TraceWork, isLate: Bool = false, on server: TraceServers.Server
  ) {
    let slice = slice(of: work, isLate: isLate)
    text.beginSlice(
      slice.name, category: slice.category, at: line.time, row(of: server), work.arguments)
  }

  private mutating func endSlice(
    _ line: DecisionLine, _ work: TraceWork, isLate: Bool = false, on server: TraceServers.Server
  ) {
    let slice = slice(of: work, isLate: isLate)
    text.endSlice(
      slice.name, category: slice.category, at: line.time, row(of: server),
      [("outcome", .text(line.kind.rawValue))] + line.traceDetails)
  }

  /// - Parameter isLate: Whether the body continues after the end of its frame.
  private func slice(of work: TraceWork, isLate: Bool) -> (name: String, category: String) {
    let node = graph.nodes[work.node].id
    return (
      (isLate ? "late " : "") + "\(node) \(work.subject)", isLate ? "late" : node
    )
  }

  /// Writes the end of a frame at a sink, and after the last sink the end of the frame itself.
  private mutating func tellSink(_ line: DecisionLine, _ work: TraceWork) {
    guard graph.nodes[work.node].role == .sink, line.kind == .deliver || line.kind == .outcome,
      frames.isOpen(work.frame)
    else { return }
    let fate = line["fate"] ?? line.kind.rawValue
    text.span(
      "n", "\(line.node) \(fate)", id: work.frame.description, at: line.time, TraceLayout.frames,
      line.traceDetails)
    guard frames.isOver(work.frame) else { return }
    endFrame(work.frame, at: line.time, [("fate", .text(fate))])
    queues.settle(work.frame)
    // The frame's remaining parts at joins were removed with it, and the joins write no line.
    for (node, role) in graph.nodes.map(\.role).enumerated() where role == .gathering {
      counters.set(node, queues.counts[node])
    }
  }

  /// Readers group spans of the same name into rows, so the span with the individual name is nested
  /// inside.
  private mutating func beginFrame(_ frame: FrameID, at time: Int64) {
    let id = frame.description
    for name in ["frame", id] {
      text.span(
        "b", name, id: id, at: time, TraceLayout.frames,
        name == id ? [] : [("frame", .text(id))])
    }
  }

  private mutating func endFrame(
    _ frame: FrameID, at time: Int64, _ arguments: TraceText.Arguments
  ) {
    let id = frame.description
    text.span("e", id, id: id, at: time, TraceLayout.frames, [])
    text.span("e", "frame", id: id, at: time, TraceLayout.frames, arguments)
  }

  private func row(of server: TraceServers.Server) -> TraceText.Row {
    layout.servers[server.executor][server.index]
  }
}

extension DecisionLine {
  /// The keys of a latest join are the names of its ports, which may be any string.
  fileprivate var traceDetails: TraceText.Arguments {
    details.map { ((kind == .latest ? "port " : "") + $0.key, .text($0.value)) }
  }
}
