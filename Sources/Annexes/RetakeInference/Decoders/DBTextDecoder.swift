import RetakeCore

/// Differentiable Binarization (PP-OCR's detector): a map of how likely each pixel is text.
///
/// Pixels above `pixel_threshold` that touch, also diagonally, are one text. Its box grows by
/// `area × unclip_ratio / perimeter` on each side, because the model is trained on shrunk texts.
/// The score is the mean of the map inside of the box before it grows (PaddleOCR's `DBPostProcess`
/// with `score_mode` fast). Boxes are parallel to the axes: a slanted text gets the box around it.
struct DBTextDecoder: OutputDecoder {
  let name = DecoderName.dbText
  static let expectedShapes = "one output of 1x1xhxw, as large as the input"
  /// Texts are this high at least before they grow, and two pixels more after, as in PaddleOCR.
  private static let sideMin = 3
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    shapes.count == 1 && shapes[0].fits([1, 1, settings.height, settings.width])
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let map = outputs.floats(0)
    for (index, value) in map.enumerated() where !value.isFinite {
      throw outputs.notFinite(value, 0, index)
    }
    let threshold = Float(settings.pixelThreshold)
    var mask = PixelMask(
      width: settings.width, height: settings.height, pixels: map.map { $0 > threshold })
    if settings.usesDilation { mask.dilate() }
    var found: [Candidate] = []
    for (index, area) in mask.components().enumerated() {
      guard let candidate = candidate(area, map, index) else { continue }
      found.append(candidate)
    }
    let filter = CandidateFilter(settings: settings)
    return filter.decoded(filter.best(found), geometry)
  }

  private func candidate(_ area: PixelRectangle, _ map: [Float], _ index: Int) -> Candidate? {
    // As contours are measured: between the middles of the outermost pixels.
    let (width, height) = (Double(area.width - 1), Double(area.height - 1))
    guard min(width, height) >= Double(Self.sideMin) else { return nil }
    let score = mean(of: map, in: area)
    guard score > settings.confidenceThreshold else { return nil }
    let growth = width * height * settings.unclipRatio / (2 * (width + height))
    guard min(width, height) + 2 * growth >= Double(Self.sideMin + 2) else { return nil }
    return Candidate(
      box: Box(
        x: Double(area.x) - growth, y: Double(area.y) - growth, width: width + 2 * growth,
        height: height + 2 * growth),
      score: score, classIndex: 0, index: index)
  }

  private func mean(of map: [Float], in area: PixelRectangle) -> Double {
    var sum = 0.0
    // In the order of the pixels, so that the roundings are the same in each run.
    for y in area.y..<area.y + area.height {
      for x in area.x..<area.x + area.width { sum += Double(map[y * settings.width + x]) }
    }
    return sum / Double(area.width * area.height)
  }
}

/// A picture of yes and no.
struct PixelMask {
  let width: Int
  let height: Int
  private(set) var pixels: [Bool]

  init(width: Int, height: Int, pixels: [Bool]) {
    precondition(pixels.count == width * height)
    (self.width, self.height, self.pixels) = (width, height, pixels)
  }

  /// Each pixel also sets its right, lower and lower right neighbor: OpenCV's `dilate` with a
  /// kernel of 2x2.
  mutating func dilate() {
    let before = pixels
    for y in 0..<height {
      for x in 0..<width where before[y * width + x] {
        for (dx, dy) in [(1, 0), (0, 1), (1, 1)] where x + dx < width && y + dy < height {
          pixels[(y + dy) * width + x + dx] = true
        }
      }
    }
  }

  /// The bounding boxes of connected text pixels, diagonal neighbors included, in the order of the
  /// first pixel of each.
  func components() -> [PixelRectangle] {
    var unseen = pixels
    var boxes: [PixelRectangle] = []
    for start in unseen.indices where unseen[start] {
      var (left, right) = (start % width, start % width)
      var (top, bottom) = (start / width, start / width)
      unseen[start] = false
      // Ends: each pixel is marked as seen when it is added, and so is added once.
      var open = [start]
      while let index = open.popLast() {
        let (x, y) = (index % width, index / width)
        (left, right) = (min(left, x), max(right, x))
        (top, bottom) = (min(top, y), max(bottom, y))
        for ny in max(0, y - 1)...min(height - 1, y + 1) {
          for nx in max(0, x - 1)...min(width - 1, x + 1) where unseen[ny * width + nx] {
            unseen[ny * width + nx] = false
            open.append(ny * width + nx)
          }
        }
      }
      boxes.append(
        PixelRectangle(x: left, y: top, width: right - left + 1, height: bottom - top + 1))
    }
    return boxes
  }
}
