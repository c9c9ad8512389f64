import RetakeCore

/// A figure of a scene: its appearance and its path. Lengths are in thousandths of the image's
/// height (sizes) or of its width and height (positions).
struct Figure: Sendable {
  enum Shape: Sendable {
    case rectangle
    case ellipse
    case diamond
  }

  /// The center of the figure at a time in milliseconds; it moves evenly between two waypoints.
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
  /// The two levels of its checkerboard.
  var luma: (UInt8, UInt8)
  var chroma: (UInt8, UInt8)
  /// Begins at 0; the path repeats after the last waypoint's time.
  var path: [Waypoint]

  /// The center in thousandths of a pixel.
  func center(at timestamp: Timestamp, width: Int, height: Int) -> (x: Int, y: Int) {
    guard let first = path.first, let last = path.last, last.milliseconds > 0 else { return (0, 0) }
    let now = Int(timestamp.nanoseconds / 1_000_000) % last.milliseconds
    var (from, to) = (first, first)
    for waypoint in path {
      (from, to) = (to, waypoint)
      if waypoint.milliseconds > now { break }
    }
    // Two waypoints may have one time, which must not divide by zero.
    let (done, whole) = (now - from.milliseconds, max(1, to.milliseconds - from.milliseconds))
    return (
      width * (from.x * whole + (to.x - from.x) * done) / whole,
      height * (from.y * whole + (to.y - from.y) * done) / whole
    )
  }
}

extension Figure {
  /// Four figures: a figure that stops, two figures that cross, and a figure that leaves and comes
  /// back. The scene repeats after ten seconds.
  static let yard: [Figure] = [walker, box, ball, kite]

  /// Walks to the middle, stops there for two seconds, and continues.
  private static let walker = Figure(
    shape: .ellipse, width: 110, height: 300, luma: (196, 120), chroma: (112, 150),
    path: [
      .init(0, 120, 640), .init(3_000, 480, 640), .init(5_000, 480, 640), .init(8_000, 820, 660),
      .init(10_000, 120, 640),
    ])

  /// Comes from the right, crosses the walker's path, and leaves on the left for two seconds.
  private static let box = Figure(
    shape: .rectangle, width: 180, height: 130, luma: (48, 150), chroma: (150, 110),
    path: [
      .init(0, 900, 720), .init(4_000, -150, 700), .init(6_000, -150, 500),
      .init(8_500, 500, 420), .init(10_000, 900, 720),
    ])

  /// Falls and rises in the upper left.
  private static let ball = Figure(
    shape: .ellipse, width: 150, height: 150, luma: (224, 150), chroma: (100, 170),
    path: [
      .init(0, 250, 130), .init(2_500, 420, 330), .init(5_000, 620, 140), .init(7_500, 420, 330),
      .init(10_000, 250, 130),
    ])

  /// Leaves through the top and comes back, at twice the speed of the others.
  private static let kite = Figure(
    shape: .diamond, width: 170, height: 170, luma: (40, 96), chroma: (140, 120),
    path: [
      .init(0, 800, 300), .init(1_500, 700, -200), .init(3_500, 700, -200),
      .init(5_000, 880, 350), .init(6_500, 880, 350), .init(8_000, 650, 200),
      .init(10_000, 800, 300),
    ])
}
