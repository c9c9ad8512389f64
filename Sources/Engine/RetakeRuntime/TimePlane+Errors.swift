import RetakeTimePlane

// The time plane's errors become errors of the run here, for both drivers.

extension DecisionCore {
  /// The next event in the total order.
  ///
  /// - Throws: `RuntimeError.endlessInstant` if an instant never ends.
  mutating func nextEvent() throws(RuntimeError) -> Event? {
    do { return try popEvent() } catch { throw RuntimeError(error) }
  }
}

extension CostModel {
  /// The costs of a run with these options.
  init(plan: GraphPlan, _ options: RunOptions) {
    self.init(
      plan: plan, seed: options.seed, isFree: options.mode == .everyFrame, costs: options.costs)
  }

  /// - Throws: `RuntimeError.costMissing` for a cost that strict timings do not have.
  mutating func cost(of service: Service) throws(RuntimeError) -> Answer {
    do { return try answer(service) } catch { throw RuntimeError(error) }
  }
}
