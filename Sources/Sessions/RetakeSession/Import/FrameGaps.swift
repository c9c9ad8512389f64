/// The places at which a track of constant rate has no frame, although one was due.
///
/// A recorder that dropped a frame and a picture that was lost on the way look the same. The times of
/// a track with another rhythm show neither, so that it has no gaps.
package struct FrameGaps: Hashable, Sendable {
  package struct Gap: Hashable, Sendable {
    /// Sequence of the frame before the gap.
    package var frame: Int
    /// Number of frames that would have had a time in it.
    package var missing: Int
  }

  /// In the order of the frames; empty if the rate is not constant.
  package private(set) var gaps: [Gap] = []

  /// Shorter tracks do not show their rate.
  private static let intervalsMin = 20
  /// With more than one gap in this number of intervals, the rate is not constant.
  private static let gapShare = 20
  /// Number of intervals that tell the length of a frame.
  private static let sampleMax = 256

  /// - Parameters:
  ///   - count: Number of frames.
  ///   - tick: The resolution of the times, in nanoseconds.
  ///   - time: The time of a frame, in nanoseconds.
  package init(count: Int, tick: Int64, time: (Int) -> Int64) {
    let intervals = count - 1
    guard intervals >= Self.intervalsMin else { return }
    func interval(_ place: Int) -> Int64 { time(place + 1) &- time(place) }
    let sample = (0..<min(intervals, Self.sampleMax)).map(interval).sorted()
    let length = sample[sample.count / 2]
    guard length > 0 else { return }
    // Containers round times to their tick, which may be as long as a frame.
    let tolerance = min(max(tick, length / 10), length / 4)
    var (regular, sum) = (0, Int64(0))
    var longer: [Int] = []
    for place in 0..<intervals {
      let interval = interval(place)
      if (length - tolerance...length + tolerance).contains(interval) {
        (regular, sum) = (regular + 1, sum + interval)
      } else {
        longer.append(place)
        guard longer.count * Self.gapShare <= intervals else { return }
      }
    }
    // The median is an integer number of ticks, so over the many frames of a long gap its rounding
    // error adds up. The mean is exact.
    let mean = Double(sum) / Double(regular)
    var gaps: [Gap] = []
    for place in longer {
      let frames = Double(interval(place)) / mean
      guard frames > 1.5, frames < 1e9, abs(frames - frames.rounded()) <= 0.25 else { return }
      gaps.append(Gap(frame: place, missing: Int(frames.rounded()) - 1))
    }
    self.gaps = gaps
  }
}
