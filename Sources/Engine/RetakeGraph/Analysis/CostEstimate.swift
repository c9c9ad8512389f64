import Foundation
import RetakeCore

/// An estimate of a cost, in nanoseconds.
struct CostEstimate: Hashable {
  /// A lower bound for all calls; for quantiles the median.
  var least: Int64 = 0
  /// Fixed, the middle of uniform, or p50.
  var typical: Int64 = 0
  /// The mean over many calls. It determines how busy a server is.
  var mean = 0.0
  /// Fixed, the upper end of uniform, or p99.
  var worst: Int64 = 0

  static let zero = CostEstimate()
}

extension Cost {
  /// The standard normal distribution's 99th percentile.
  private static let z99 = 2.326_347_874_040_841

  var estimate: CostEstimate {
    switch self {
    case .fixed(let duration):
      let time = duration.nanoseconds
      return CostEstimate(least: time, typical: time, mean: Double(time), worst: time)
    case .uniform(let low, let high):
      let (low, high) = (low.nanoseconds, high.nanoseconds)
      let middle = low + (high - low) / 2
      return CostEstimate(
        least: low, typical: middle, mean: Double(low) / 2 + Double(high) / 2, worst: high)
    case .quantiles(let p50, let p99):
      // The C library's mathematics may differ in the last bit. No decision depends on this number;
      // the time plane draws costs by integer arithmetic.
      let (p50, p99) = (p50.nanoseconds, p99.nanoseconds)
      // The mean of a log-normal is its median times e to half the variance of the logarithm.
      let deviation = log(Double(p99) / Double(p50)) / Self.z99
      return CostEstimate(
        least: p50, typical: p50, mean: Double(p50) * exp(deviation * deviation / 2), worst: p99)
    }
  }
}

extension PipelineNode {
  /// The mean time of a server for each frame, in nanoseconds. An overloaded stage has full batches.
  var meanOfFrame: Double {
    let call = cost?.estimate.mean ?? 0
    guard let batch else { return call }
    return call / Double(batch.max) + Double(costPerFrame?.nanoseconds ?? 0)
  }

  /// The cost of one call: the least for one frame, the others for a full batch.
  var costOfCall: CostEstimate {
    var estimate = cost?.estimate ?? .zero
    guard let batch else { return estimate }
    let each = costPerFrame?.nanoseconds ?? 0
    estimate.least += each
    estimate.typical += each * Int64(batch.max)
    estimate.mean += Double(each * Int64(batch.max))
    estimate.worst += each * Int64(batch.max)
    return estimate
  }

  /// The time of a frame at this node. A timeout ends the wait for the frame, but not the work.
  var timeOfFrame: CostEstimate {
    var estimate = costOfCall
    // The timeout of a join limits how long it waits for parts; `FrameTimes` accounts for that.
    if let limit = timeout?.nanoseconds, stage.signature.role.isServed {
      estimate.least = min(estimate.least, limit)
      estimate.typical = min(estimate.typical, limit)
      estimate.worst = min(estimate.worst, limit)
    }
    // batch-ready: the first frame may have to wait for others.
    if let batch { estimate.worst += batch.wait.nanoseconds }
    return estimate
  }
}
