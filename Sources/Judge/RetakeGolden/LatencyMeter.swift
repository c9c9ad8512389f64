import RetakeCore

/// Virtual times from a frame's arrival to its delivery at one sink.
///
/// It stores eight bytes for each delivered frame, so that the percentile is exact.
struct LatencyMeter {
  /// Deliveries of unfinished frames: the frames in flight, and at most a run's window more.
  private var deliveries: [FrameID: Int64] = [:]
  private var latencies: [Int] = []
  private var worst: (nanoseconds: Int, frame: FrameID)?

  mutating func delivered(_ frame: FrameID, at time: Int64) { deliveries[frame] = time }

  mutating func finished(_ frame: FrameID, arrival: Int64) {
    // A frame that ended before the sink has no latency.
    guard let delivery = deliveries.removeValue(forKey: frame) else { return }
    let latency = Int(delivery - arrival)
    latencies.append(latency)
    // Strictly more, so that the first of several equal frames is named.
    if latency > worst?.nanoseconds ?? 0 { worst = (latency, frame) }
  }

  /// `nil` if every frame was delivered when it arrived.
  var latency: GoldenManifest.Latency? {
    guard let worst else { return nil }
    let sorted = latencies.sorted()
    // Nearest rank: 99 percent of the number, rounded up, in integers.
    let rank = (sorted.count * 99 + 99) / 100
    return GoldenManifest.Latency(
      max: worst.nanoseconds, p99: sorted[rank - 1], slowest: worst.frame)
  }
}
