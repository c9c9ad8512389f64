import RetakeCore

/// The mean signed error of each 1,000 frames, for each of x, y, width and height.
///
/// Single errors vanish in a mean of 1,000; a creeping one does not.
struct DriftMeter {
  static let window = 1_000

  /// By window.
  private var sums: [SIMD4<Double>] = []

  mutating func add(_ axis: Int, _ error: Double, _ frame: FrameID) {
    guard error.isFinite else { return }
    let index = frame.sequence / Self.window
    while sums.count <= index { sums.append(.zero) }
    sums[index][axis] += error
  }

  /// The largest change of a mean from one window of frames to the next, and where that one
  /// begins. Windows without errors have the mean 0; the last counts only if it is full.
  func largest(frames: Int) -> (change: Double, sequence: Int)? {
    var result: (change: Double, sequence: Int)?
    for index in 1..<max(frames / Self.window, 1) {
      let before = index <= sums.count ? sums[index - 1] : .zero
      let after = index < sums.count ? sums[index] : .zero
      for axis in 0..<4 {
        let change = ((after[axis] - before[axis]) / Double(Self.window)).magnitude
        if change > result?.change ?? 0 { result = (change, index * Self.window) }
      }
    }
    return result
  }
}
