/// Assigns work to the servers of an executor. Lines name the node, not the server, so the work
/// gets the first free server. The server is free again when the body ends. After a timeout, the
/// body ends later than the frame.
struct TraceServers: Sendable {
  /// One of an executor's servers.
  struct Server: Hashable, Sendable {
    var executor: Int
    var index: Int
  }

  enum Change: Equatable, Sendable {
    case ends(Server)
    /// The frame has ended, but its body still runs.
    case runsOn(Server)
  }

  private struct Service: Sendable {
    var work: TraceWork
    var isTimedOut = false
    var isLate = false
  }

  /// In pipeline order.
  private(set) var executors: [TraceNode.Executor] = []
  private var executorOfNode: [Int?]
  /// By executor, then server.
  private var services: [[Service?]]

  init(_ nodes: [TraceNode]) {
    var executors: [TraceNode.Executor] = []
    executorOfNode = nodes.map { node in
      guard let executor = node.executor else { return nil }
      // Each stage of a shared executor names it, and its servers exist once.
      if let known = executors.firstIndex(where: { $0.id == executor.id }) { return known }
      executors.append(executor)
      return executors.count - 1
    }
    self.executors = executors
    services = executors.map { Array(repeating: nil, count: $0.servers) }
  }

  /// `nil` if all servers are busy, which can happen in a truncated log.
  mutating func start(_ work: TraceWork) -> Server? {
    guard let executor = executorOfNode[work.node],
      let index = services[executor].firstIndex(where: { $0 == nil })
    else { return nil }
    services[executor][index] = Service(work: work)
    return Server(executor: executor, index: index)
  }

  mutating func timeOut(_ work: TraceWork) {
    guard let server = server(of: work) else { return }
    services[server.executor][server.index]?.isTimedOut = true
  }

  /// The frame's service has ended, successfully or not.
  mutating func end(_ work: TraceWork) -> Change? {
    guard let server = server(of: work) else { return nil }
    // stage-timeout: the frame ends, and its server stays taken until the body's end.
    if services[server.executor][server.index]?.isTimedOut == true {
      services[server.executor][server.index]?.isLate = true
      return .runsOn(server)
    }
    services[server.executor][server.index] = nil
    return .ends(server)
  }

  /// The body ends after its frame.
  mutating func endLate(_ work: TraceWork) -> Server? {
    guard let server = server(of: work) else { return nil }
    // stage-late: the result is discarded, and only now the server is free.
    services[server.executor][server.index] = nil
    return server
  }

  /// Servers that are still busy, their work, and whether its frame has ended.
  var busy: [(server: Server, work: TraceWork, isLate: Bool)] {
    services.enumerated().flatMap { executor, services in
      services.enumerated().compactMap { index, service in
        service.map { (Server(executor: executor, index: index), $0.work, $0.isLate) }
      }
    }
  }

  private func server(of work: TraceWork) -> Server? {
    guard let executor = executorOfNode[work.node],
      let index = services[executor].firstIndex(where: { $0?.work == work })
    else { return nil }
    return Server(executor: executor, index: index)
  }
}
