/// The positions of the parts of a player's window.
struct PlayerLayout: Hashable, Sendable {
  static let rowHeight = 18
  static let laneHeight = 16
  static let scrubHeight = 12
  /// The most lanes that are shown; lanes of further nodes are left out.
  static let lanesMax = 8
  static let laneNameWidth = 136
  static let stripHeight = 36

  let picture: CanvasRect
  let status: CanvasRect
  let scrub: CanvasRect
  /// Stacked vertically, with the legend in the last row. Without a run the height is zero.
  let lanes: CanvasRect
  let laneCount: Int
  /// Curves of sensors, above the lanes.
  let strips: CanvasRect
  let stripCount: Int

  init(_ area: CanvasRect, lanes count: Int, strips stripCount: Int = 0) {
    laneCount = min(count, Self.lanesMax)
    let lanesHeight = count == 0 ? 0 : laneCount * Self.laneHeight + Self.rowHeight
    lanes = CanvasRect(0, area.height - lanesHeight, area.width, lanesHeight)
    self.stripCount = stripCount
    let stripsHeight = stripCount * Self.stripHeight
    strips = CanvasRect(0, lanes.y - stripsHeight, area.width, stripsHeight)
    scrub = CanvasRect(
      8, strips.y - Self.scrubHeight - 4, max(1, area.width - 16), Self.scrubHeight)
    status = CanvasRect(0, scrub.y - Self.rowHeight, area.width, Self.rowHeight)
    picture = CanvasRect(0, 0, area.width, max(1, status.y))
  }

  /// The window size that shows an image at its own size, within limits.
  ///
  /// - Parameter below: The height of the parts below the image.
  static func windowSize(
    _ picture: (width: Double, height: Double), below: Int
  ) -> (width: Int, height: Int) {
    let scale = min(1, 1_280 / picture.width, 800 / picture.height)
    return (
      max(480, Int((picture.width * scale).rounded())),
      max(160, Int((picture.height * scale).rounded())) + below
    )
  }

  /// The height of the parts below a player's image.
  static func heightBelow(lanes: Int, strips: Int = 0) -> Int {
    1_000 - PlayerLayout(CanvasRect(0, 0, 1_280, 1_000), lanes: lanes, strips: strips).status.y
  }

  func strip(_ index: Int) -> CanvasRect {
    CanvasRect(
      Self.laneNameWidth, strips.y + index * Self.stripHeight,
      max(1, strips.width - Self.laneNameWidth - 8), Self.stripHeight - 2)
  }

  func scrubFraction(x: Int) -> Double {
    max(0, min(1, Double(x - scrub.x) / Double(max(1, scrub.width - 1))))
  }

  func scrubPlace(_ fraction: Double) -> Int {
    scrub.x + Int((fraction * Double(scrub.width - 1)).rounded())
  }

  func lane(_ index: Int) -> CanvasRect {
    CanvasRect(
      Self.laneNameWidth, lanes.y + index * Self.laneHeight,
      max(1, lanes.width - Self.laneNameWidth - 8), Self.laneHeight - 2)
  }

  var legend: CanvasRect {
    CanvasRect(
      0, lanes.y + laneCount * Self.laneHeight, lanes.width, Self.rowHeight)
  }
}
