import RetakeCore

/// The static background of the figures.
enum Backdrop: Sendable {
  /// Lighter towards the ground, with large faint tiles.
  case yard
  /// Darker, with strong tiles.
  case hall

  func level(x: Int, y: Int, width: Int, height: Int) -> UInt8 {
    let tile = max(4, height / 15)
    let isOdd = (x / tile + y / tile) & 1 == 1
    // Levels keep `CameraNoise.headroom` from 0 and 255; the noise depends on it.
    switch self {
    case .yard: return UInt8(84 + 44 * y / height + 12 * x / width + (isOdd ? 6 : 0))
    case .hall: return UInt8((isOdd ? 150 : 56) + 24 * x / width)
    }
  }

  var chroma: (UInt8, UInt8) { self == .yard ? (124, 126) : (132, 122) }
}

/// Checkered figures that move in front of a backdrop.
struct FiguresPainter: ScenePainter {
  private let width: Int
  private let height: Int
  private let backdrop: Backdrop
  private let figures: [Figure]
  /// The backdrop's luma, without padding.
  private let luma: [UInt8]

  init(width: Int, height: Int, backdrop: Backdrop, figures: [Figure]) {
    (self.width, self.height, self.backdrop, self.figures) = (width, height, backdrop, figures)
    // Once for all frames, because the backdrop does not move.
    luma = (0..<width * height).map {
      backdrop.level(x: $0 % width, y: $0 / width, width: width, height: height)
    }
  }

  func picture(sequence: Int, timestamp: Timestamp) -> any SceneImage {
    FiguresImage(
      width: width, luma: luma, chroma: backdrop.chroma,
      figures: figures.map {
        PlacedFigure($0, at: timestamp, width: width, height: height)
      })
  }
}

/// A figure at one point in time, in pixels.
private struct PlacedFigure {
  var figure: Figure
  var left: Int
  var top: Int
  var width: Int
  var height: Int
  /// Side of a check, in pixels.
  var check: Int

  init(_ figure: Figure, at timestamp: Timestamp, width: Int, height: Int) {
    self.figure = figure
    let center = figure.center(at: timestamp, width: width, height: height)
    // A figure keeps a few pixels in the smallest scenes, too.
    self.width = max(3, figure.width * height / 1_000)
    self.height = max(3, figure.height * height / 1_000)
    left = (center.x - 500 * self.width) / 1_000
    top = (center.y - 500 * self.height) / 1_000
    check = max(2, height / 60)
  }

  /// The columns that the figure covers in a row of the image; may be outside the image.
  func span(y: Int) -> Range<Int> {
    let dy = y - top
    guard (0..<height).contains(dy) else { return 0..<0 }
    let inset: Int
    switch figure.shape {
    case .rectangle: inset = 0
    case .diamond: inset = abs(2 * dy + 1 - height) * width / (2 * height)
    case .ellipse:
      let off = 2 * dy + 1 - height
      let square = Double(height * height - off * off)
      // Exact: integers below 2^52, and IEEE's square root is correctly rounded.
      inset = (height - Int(square.squareRoot())) * width / (2 * height)
    }
    // At a tip the insets may meet, and a Range that runs backwards traps.
    return left + inset..<max(left + inset, left + width - inset)
  }
}

private struct FiguresImage: SceneImage {
  var width: Int
  var luma: [UInt8]
  var chroma: (UInt8, UInt8)
  var figures: [PlacedFigure]

  func fill(_ row: inout [UInt8], plane: Int, y: Int, noise: CameraNoise) {
    if plane == 0 {
      copyRow(from: luma, at: y * width, count: width, to: &row)
      for placed in figures { fillLuma(&row, y: y, placed) }
    } else {
      let level = plane == 1 ? chroma.0 : chroma.1
      for x in row.indices { row[x] = level }
      for placed in figures { fillChroma(&row, plane: plane, y: y, placed) }
    }
  }

  private func fillLuma(_ row: inout [UInt8], y: Int, _ placed: PlacedFigure) {
    // Checks are counted from the figure's own corner, so that they move with it.
    let odd = (y - placed.top) / placed.check
    for x in placed.span(y: y).clamped(to: 0..<width) {
      let isOdd = ((x - placed.left) / placed.check + odd) & 1 == 1
      row[x] = isOdd ? placed.figure.luma.1 : placed.figure.luma.0
    }
  }

  private func fillChroma(_ row: inout [UInt8], plane: Int, y: Int, _ placed: PlacedFigure) {
    // A row of chroma belongs to two rows of luma. The upper one decides.
    let span = placed.span(y: 2 * y).clamped(to: 0..<width)
    let level = plane == 1 ? placed.figure.chroma.0 : placed.figure.chroma.1
    for x in span.lowerBound / 2..<(span.upperBound + 1) / 2 { row[x] = level }
  }
}
