import RetakeCore
import RetakeGraph
import RetakeTimePlane

extension VirtualRun {
  /// Whether services have no cost and are not measured.
  var isFree: Bool { options.mode == .everyFrame && options.costs.meter == nil }

  /// The service that begins now, as the cost model needs it.
  func service(
    _ node: Int, _ work: Work, _ record: PendingFrame, at time: Int64
  ) -> CostModel.Service {
    var service = CostModel.Service(
      node: node, frame: record.entry.id, item: Int(work.item),
      itemCount: work.isItem ? itemCount(of: node, slot: work.slotIndex) : nil, time: time)
    service.thermal = core.device.thermal
    let version = stages.version(of: node, epoch: record.epoch)
    // serve-cost: the declared cost of a swapped stage replaces the node's cost, even if the new
    // stage has no cost.
    if version > 0 { service.swapped = .some(stages[node, version].cost) }
    return service
  }

  private func itemCount(of node: Int, slot: Int) -> Int? {
    plan.nodes[node].fork.flatMap { values[slot].items[$0]?.count }
  }

  /// The virtual duration of a service that begins now, in nanoseconds. Counts the origin of the
  /// number.
  func cost(of service: CostModel.Service, body: ValueFuture) throws -> Int64 {
    // serve-cost: a run that measures uses the measured time as the cost; see `RunCosts.measured`.
    if let meter = options.costs.meter { return try measured(service, body: body, by: meter) }
    let answer = try costs.cost(of: service)
    switch answer.origin {
    case .free: break
    case .recorded: outcome.recordedCosts += 1
    case .modelled: outcome.modelledCosts += 1
    }
    return answer.nanoseconds
  }

  /// Computes the body at once and returns the measured time. In `every-frame`, virtual time does
  /// not advance.
  private func measured(
    _ service: CostModel.Service, body: ValueFuture, by meter: CostMeter
  ) throws -> Int64 {
    _ = meter.take()
    let ending: String
    switch try workers.help(body) {
    case .value, .later: ending = CostSpan.done
    case .failure(let error): ending = error.code
    // The reader of the value gets the error.
    case .fault, .cancelled: return 0
    }
    let nanoseconds = min(meter.take(), Cost.nanosecondsMax)
    let node = plan.nodes[service.node]
    observer.measured(
      CostSpan(
        node: node.id, frame: service.frame, item: service.item, readyNanoseconds: service.time,
        startNanoseconds: service.time, endNanoseconds: service.time + nanoseconds,
        processorNanoseconds: nanoseconds,
        executor: node.executor.map { plan.executors[$0].id } ?? node.id, outcome: ending))
    guard options.mode != .everyFrame else { return 0 }
    outcome.recordedCosts += 1
    return nanoseconds
  }
}
