import RetakeCore

/// A figure of a scene: what it looks like and where it goes. Lengths are in thousandths of the
/// picture's height (sizes) or of its width and height (places).
struct Figure: Sendable {
  enum Shape: Sendable {
    case rectangle
    case ellipse
    case diamond
  }

  /// The middle of the figure at a time in milliseconds; between two of them it moves evenly.
  struct Waypoint: Sendable {
    var milliseconds: Int
    var x: Int
    var y: Int

    init(_ milliseconds: Int, _ x: Int, _ y: Int) {
      (self.milliseconds, self.x, self.y) = (milliseconds, x, y)
    }
  }

  var shape: Shape
  var width: Int
  var height: Int
  /// The two levels of its checks.
  var luma: (UInt8, UInt8)
  var chroma: (UInt8, UInt8)
  /// Begins at 0; the path starts anew at the last one's time.
  var path: [Waypoint]

  /// The middle in thousandths of a pixel.
  func centre(at timestamp: Timestamp, width: Int, height: Int) -> (x: Int, y: Int) {
    guard let first = path.first, let last = path.last, last.milliseconds > 0 else { return (0, 0) }
    let now = Int(timestamp.nanoseconds / 1_000_000) % last.milliseconds
    var (from, to) = (first, first)
    for waypoint in path {
      (from, to) = (to, waypoint)
      if waypoint.milliseconds > now { break }
    }
    let (done, whole) = (now - from.milliseconds, max(1, to.milliseconds - from.milliseconds))
    return (
      width * (from.x * whole + (to.x - from.x) * done) / whole,
      height * (from.y * whole + (to.y - from.y) * done) / whole
    )
  }
}

extension Figure {
  /// Four figures: one that stops, two that cross, one that leaves and comes back. After ten
  /// seconds it all begins again.
  static let yard: [Figure] = [walker, box, ball, kite]

  /// Walks to the middle, stands there for two seconds, and goes on.
  private static let walker = Figure(
    shape: .ellipse, width: 110, height: 300, luma: (196, 120), chroma: (112, 150),
    path: [
      .init(0, 120, 640), .init(3_000, 480, 640), .init(5_000, 480, 640), .init(8_000, 820, 660),
      .init(10_000, 120, 640),
    ])

  /// Comes from the right, crosses the walker's way, leaves on the left for two seconds.
  private static let box = Figure(
    shape: .rectangle, width: 180, height: 130, luma: (48, 150), chroma: (150, 110),
    path: [
      .init(0, 900, 720), .init(4_000, -150, 700), .init(6_000, -150, 500),
      .init(8_500, 500, 420), .init(10_000, 900, 720),
    ])

  /// Falls and rises along the upper left.
  private static let ball = Figure(
    shape: .ellipse, width: 150, height: 150, luma: (224, 150), chroma: (100, 170),
    path: [
      .init(0, 250, 130), .init(2_500, 420, 330), .init(5_000, 620, 140), .init(7_500, 420, 330),
      .init(10_000, 250, 130),
    ])

  /// Leaves through the top and comes back, at twice the others' speed.
  private static let kite = Figure(
    shape: .diamond, width: 170, height: 170, luma: (40, 96), chroma: (140, 120),
    path: [
      .init(0, 800, 300), .init(1_500, 700, -200), .init(3_500, 700, -200),
      .init(5_000, 880, 350), .init(6_500, 880, 350), .init(8_000, 650, 200),
      .init(10_000, 800, 300),
    ])
}
