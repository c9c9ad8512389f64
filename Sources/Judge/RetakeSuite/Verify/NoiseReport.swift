/// The noise of a case on one device, and between that device and others.
package struct NoiseReport: Hashable, Sendable, Codable {
  /// The errors of one quantity at a sink: of each frame the largest.
  package struct Row: Hashable, Sendable, Codable {
    package var sink: String
    /// `position`, `score` or `scalar`.
    package var quantity: String
    /// The sources and stages before the sink.
    package var stages: [String]
    /// Frames of all runs that were compared.
    package var frames: Int
    /// Frames with an error. From 8,192 frames on, spans of frames count as one.
    package var differing: Int
    package var median: Double
    /// The 99th percentile (nearest rank).
    package var p99: Double
    package var largest: Double
    /// The tolerance that `golden calibrate` would write.
    package var tolerance: Double

    /// - Parameter errors: All errors above 0.
    init(
      sink: String, quantity: String, stages: [String], errors: [Double], frames: Int,
      largest: Double, tolerance: Double
    ) {
      (self.sink, self.quantity, self.stages) = (sink, quantity, stages)
      (self.frames, differing) = (frames, errors.count)
      (self.largest, self.tolerance) = (largest, tolerance)
      let sorted = errors.sorted()
      // Frames without an error come first in the order of the errors.
      let equal = max(0, frames - errors.count)
      func rank(_ percent: Int) -> Double {
        let place = ((equal + sorted.count) * percent + 99) / 100 - 1
        return place < equal ? 0 : sorted[place - equal]
      }
      (median, p99) = (rank(50), rank(99))
    }
  }

  /// Runs of the same devices, compared with the first run.
  package struct Item: Hashable, Sendable, Codable {
    /// `on card-a`, `between card-a and card-b`.
    package var place: String
    /// The names of the runs, such as `run 2`, or their folders.
    package var runs: [String]
    /// Only quantities that differ at all.
    package var rows: [Row]
  }

  package var v = 1
  /// `session/case`.
  package var key: String
  /// Frames of one run.
  package var frames: Int
  package var items: [Item]
}
