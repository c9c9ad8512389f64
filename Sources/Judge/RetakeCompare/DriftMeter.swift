import RetakeCore

/// Detects a slow drift of the signed errors of x, y, width and height while each error stays
/// within tolerance.
///
/// The mean errors of the frames are collected in windows of equal length. A drift is a straight
/// line through the windows that explains most of their variance. Random errors and single steps do
/// not fit a line.
struct DriftMeter {
  /// A line through fewer windows is not significant.
  static let windowsMin = 10
  /// At this number of windows, each two are merged into one of twice the length.
  static let windowsMax = 64
  /// The number of frames in a window at first.
  private static let framesMin = 4
  /// The fraction of the windows' variance that the line must explain; for a single step it is
  /// 0.76.
  private static let explainedMin = 0.8

  struct Drift {
    /// The change per 1,000 frames.
    var change: Double
    /// The change from the first window to the last.
    var total: Double
  }

  private var windows: [SIMD4<Double>] = []
  private var framesPerWindow = framesMin
  private var sum = SIMD4<Double>.zero
  private var frames = 0
  /// The first frame with an error.
  private(set) var first: FrameID?

  /// Adds the mean error of a frame's values; zero if all are equal.
  mutating func add(_ errors: SIMD4<Double>, _ frame: FrameID) {
    if first == nil, errors != .zero { first = frame }
    add(errors)
  }

  /// Adds frames whose values are all equal.
  mutating func addEqual(frames count: Int) {
    for _ in 0..<count { add(.zero) }
  }

  private mutating func add(_ errors: SIMD4<Double>) {
    sum += errors
    frames += 1
    guard frames == framesPerWindow else { return }
    windows.append(sum / Double(frames))
    (sum, frames) = (.zero, 0)
    guard windows.count == Self.windowsMax else { return }
    // Both windows have the same number of frames, so the mean of their means is the mean of all.
    // Memory is the same for a run of any length.
    windows = stride(from: 0, to: windows.count, by: 2).map { (windows[$0] + windows[$0 + 1]) / 2 }
    framesPerWindow *= 2
  }

  /// The largest drift of the four axes.
  var largest: Drift? {
    guard first != nil, windows.count >= Self.windowsMin else { return nil }
    return (0..<4).compactMap(drift).max { $0.change < $1.change }
  }

  /// The least squares line through the windows of one axis.
  private func drift(_ axis: Int) -> Drift? {
    let count = Double(windows.count)
    let middle = (count - 1) / 2
    let mean = windows.reduce(0) { $0 + $1[axis] } / count
    var (places, values, both) = (0.0, 0.0, 0.0)
    for (place, window) in windows.enumerated() {
      let (x, y) = (Double(place) - middle, window[axis] - mean)
      places += x * x
      values += y * y
      both += x * y
    }
    // The square of the correlation is the share of the variance that the line explains.
    guard values > 0, both * both / (places * values) >= Self.explainedMin else { return nil }
    let slope = (both / places).magnitude
    return Drift(change: slope / Double(framesPerWindow) * 1_000, total: slope * (count - 1))
  }
}
