package import RetakeTimePlane

extension RunCosts {
  /// The thread time of each body. It differs between runs, but timings of it do not.
  package static var measured: RunCosts {
    var costs = RunCosts.declared
    let clock = WallClock()
    costs.meter = CostMeter { clock.threadNanoseconds }
    return costs
  }
}
