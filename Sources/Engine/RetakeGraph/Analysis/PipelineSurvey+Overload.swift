import RetakeCore

/// Servers that have more work than they can handle, so that sources lose frames.
extension PipelineSurvey {
  func overloadComplaints() -> [Complaint] {
    guard rates != nil else { return [] }
    return model.overloads.map { overload in
      Complaint(
        kind: .overload, subject: subject(overload), message: message(overload),
        pointer: pointer(overload), candidates: candidates(overload), otherwise: slower(overload))
    }
  }

  private func subject(_ overload: Overload) -> String {
    // `Advisor` finds a complaint again by its subject, and a node may have the id of an executor.
    overload.group.isShared ? "executor \(overload.group.id)" : overload.group.id
  }

  private func pointer(_ overload: Overload) -> String {
    let place = pipeline.executors.firstIndex { $0.id == overload.group.id }
    guard overload.group.isShared, let place else {
      return graph.pointer(ofNode: overload.group.nodes[0])
    }
    return "/executors/\(place)"
  }

  private func message(_ overload: Overload) -> String {
    // Of several entries, the entry that makes a source lose frames explains the warning.
    let entry = overload.entries.first { model.reachesSource[$0] } ?? overload.entries[0]
    let arriving = model.rates.arriving[entry]
    let unit = graph.nodes[entry].scope == nil ? "frames" : "items"
    let what: String
    if overload.group.isShared {
      let ids = Self.list(overload.group.nodes.map { "'\(id($0))'" })
      what =
        "the executor '\(overload.group.id)' has \(counted(overload.servers, "server")) and work for "
        + "\(PipelineWording.rate(overload.busy)) (\(ids))"
    } else {
      what =
        "'\(id(entry))' can process \(PipelineWording.rate(arriving * overload.share)) of the "
        + "\(PipelineWording.rate(arriving)) \(unit) that arrive a second"
    }
    let path = blockedPath(to: entry)
    guard let source = path.first else { return what }
    let lost = (rates?[source] ?? 0) * (1 - overload.share)
    return "\(what): the queues of \(Self.list(written(path).map { id($0) }, separator: " → ")) "
      + "fill, and '\(id(source))' loses about \(PipelineWording.rate(lost)) frames a second, for all sinks"
  }

  /// The path from a delayed source to the node that is too slow.
  private func blockedPath(to entry: Int) -> [Int] {
    let full = Set(graph.backlog(before: entry).full)
    var path = [entry]
    // Ends: each round goes back by one node, and the graph has no cycles.
    while let node = path.last, graph.role(node) != .source {
      let edge = graph.incoming[node].first { edge in
        full.contains(edge) && graph.edges[edge].policy == .block
          && model.reachesSource[graph.senders[edge]]
      }
      guard let edge else { break }
      path.append(graph.senders[edge])
    }
    return path.reversed()
  }

  private func candidates(_ overload: Overload) -> [[PipelineFix]] {
    [moreServers(overload), dropping(before: overload.entries, .dropOldest)].filter { !$0.isEmpty }
  }

  /// As many slots and servers as the work needs; empty if a node would need more than one slot but
  /// keeps state.
  func moreServers(_ overload: Overload) -> [PipelineFix] {
    var fixes: [PipelineFix] = []
    for node in overload.group.nodes {
      let busy = model.loads.busy[node]
      // A node that is busy all the time is fast enough, and rounding must not add a slot.
      let concurrency = Int((busy - ServerLoads.slack).rounded(.up))
      guard concurrency > graph.nodes[node].concurrency else { continue }
      // If one node cannot have its slots, more servers for the others do not help.
      guard graph.role(node) == .pure, concurrency <= Pipeline.concurrencyMax else { return [] }
      fixes.append(.concurrency(node: id(node), count: concurrency))
    }
    let servers = Int((overload.busy - ServerLoads.slack).rounded(.up))
    if overload.group.isShared, servers > overload.group.servers {
      fixes.append(.servers(executor: overload.group.id, count: servers))
    }
    return fixes
  }

  /// Changes that make the queues upstream of the nodes drop. Items are never dropped, so for a
  /// node in a body the queue is upstream of its forEach.
  func dropping(before nodes: [Int], _ policy: EdgePolicy) -> [PipelineFix] {
    let heads = nodes.map { node in
      graph.nodes[node].scope.flatMap { scope in graph.nodes.firstIndex { $0.id == scope } } ?? node
    }
    // Nodes of one body have the same head. Sorted, because a Set has no order.
    return Set(heads).sorted().flatMap { head in
      graph.edgesByPort(to: head).compactMap { $0 }.filter { graph.edges[$0].policy != policy }
        .map { .policy(before: id(head), port: graph.edges[$0].toPort, policy) }
    }
  }

  private func slower(_ overload: Overload) -> String {
    let entry = overload.entries[0]
    // Rounded down below: a rate that was rounded up would overload the servers again.
    let rate = model.rates.arriving[entry] * overload.share
    return
      "let a throttle of \(PipelineWording.rate((rate * 10).rounded(.down) / 10)) frames a second come "
      + "before '\(id(entry))', or make it cheaper"
  }
}
