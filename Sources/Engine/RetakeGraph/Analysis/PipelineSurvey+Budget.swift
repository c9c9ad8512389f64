import RetakeCore

/// Sinks that frames reach later than their budget allows.
extension PipelineSurvey {
  func budgetComplaints() -> [Complaint] {
    sinks.compactMap { sink in
      guard let budget = options.budget(of: id(sink))?.nanoseconds else { return nil }
      let path = times.slowest(to: sink)
      guard path.time.longest > budget else { return nil }
      return Complaint(
        kind: .budget, subject: id(sink), message: message(path, budget),
        pointer: graph.pointer(ofNode: sink), candidates: candidates(path),
        otherwise: cheaper(path, budget))
    }
  }

  private func message(_ path: FramePath, _ budget: Int64) -> String {
    let ids = written(path.nodes).map { id($0) }
    // A path may have 4,096 nodes.
    let ends = ids.count > 24 ? ids.prefix(12) + ["…"] + ids.suffix(12) : ids[...]
    var text =
      "the path \(ends.joined(separator: " → ")) needs \(PipelineWording.time(path.time.typical))"
    if path.time.worst > path.time.typical {
      text += ", \(PipelineWording.time(path.time.worst)) if every stage is slow"
    }
    if path.time.waiting > 0 {
      text += ", and frames wait up to \(PipelineWording.time(path.time.waiting)) in full queues"
    }
    return text + "; the budget is \(PipelineWording.time(budget))"
  }

  /// More servers, or queues that drop, reduce waiting. Only more concurrency for its items reduces
  /// the time of a single frame.
  private func candidates(_ path: FramePath) -> [[PipelineFix]] {
    let members = Set(path.nodes)
    let slow = (model.overloads + model.relieved).filter { overload in
      overload.entries.contains { entry in
        // A node next to the path delays its frames, too, if the queues that it fills reach into
        // the path.
        members.contains(entry)
          || !members.isDisjoint(
            with: graph.backlog(before: entry).full.map { graph.receivers[$0] })
      }
    }
    // For all slow servers at once: relieving one of them moves the waiting to the next.
    let servers = slow.flatMap { moreServers($0) }
    let items = moreConcurrency(path)
    let entries = slow.flatMap(\.entries)
    var candidates = [servers, items, servers + items]
    for policy in [EdgePolicy.dropOldest, .replace] {
      candidates.append(dropping(before: entries, policy))
    }
    // If one of the lists is empty, the combination equals the other one.
    var seen: Set<[PipelineFix]> = []
    return candidates.filter { !$0.isEmpty && seen.insert($0).inserted }
  }

  /// A slot for each item, in the bodies on the path.
  private func moreConcurrency(_ path: FramePath) -> [PipelineFix] {
    guard options.items > 1 else { return [] }
    let concurrency = min(options.items, Pipeline.concurrencyMax)
    let inner = path.nodes.filter {
      // A stage that remembers has concurrency 1, and without a cost more concurrency saves no
      // time.
      graph.nodes[$0].scope != nil && graph.role($0) == .pure && graph.nodes[$0].cost != nil
    }
    let executors = inner.compactMap { graph.nodes[$0].executor }
    return inner.map { .concurrency(node: id($0), count: concurrency) }
      + Set(executors).sorted().map { executor in
        // Only its own nodes wait for a server of an executor.
        .servers(executor: executor, count: concurrency * executors.count { $0 == executor })
      }
  }

  private func cheaper(_ path: FramePath, _ budget: Int64) -> String {
    let costs = path.nodes.map { (node: $0, time: times.own[$0].worst) }
    // The costs fit the budget, so only the waiting in full queues is too long.
    guard path.time.worst > budget, let largest = costs.max(by: { $0.time < $1.time }) else {
      return "make the stages cheaper, or throttle the frames"
    }
    let over = path.time.worst - budget
    let all = "more concurrency does not make one frame faster: "
    // Even if the slowest stage took no time, the path would be too long.
    guard largest.time > over else {
      let most = costs.filter { $0.time > 0 }.sorted { $0.time > $1.time }.prefix(4)
      let list = most.map { "'\(id($0.node))' (\(PipelineWording.time($0.time)))" }
      return all + "make \(list.joined(separator: ", ")) cheaper, or raise the budget"
    }
    return all
      + "let '\(id(largest.node))' take \(PipelineWording.time(largest.time - over)) instead of "
      + "\(PipelineWording.time(largest.time)), or raise the budget"
  }
}
