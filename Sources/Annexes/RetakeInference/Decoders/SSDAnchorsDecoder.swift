import RetakeCore

/// MediaPipe's BlazeFace: boxes and landmarks relative to fixed anchors, and one score each.
///
/// A cell of a grid has two anchors for each layer with its stride; all have the middle of the cell
/// and the size of the input (`SsdAnchorsCalculator` with `fixed_anchor_size` and an interpolated
/// scale). The numbers of a row are in pixels of the input: the middle, the size, then the points
/// (`TensorsToDetectionsCalculator` with `reverse_output_order`). A score is the sigmoid of the
/// output, which is clipped at ±100 before.
struct SSDAnchorsDecoder: OutputDecoder {
  let name = DecoderName.ssdAnchors
  static let expectedShapes =
    "outputs of 1xmx(4+2k), a row for each anchor with k points, and of 1xmx1, its score"
  private static let scoreLimit = 100.0
  private let settings: DecoderSettings
  private let anchors: [ImagePoint]

  init(_ settings: DecoderSettings) {
    self.settings = settings
    anchors = Self.anchors(
      strides: settings.strides.isEmpty ? [8, 16, 16, 16] : settings.strides,
      width: settings.width, height: settings.height)
  }

  /// The middles of all anchors, in pixels of the input.
  static func anchors(strides: [Int], width: Int, height: Int) -> [ImagePoint] {
    var anchors: [ImagePoint] = []
    var layer = 0
    while layer < strides.count {
      let stride = strides[layer]
      // Layers with the same stride share their cells.
      let layers = strides[layer...].prefix { $0 == stride }.count
      let (columns, rows) = ((width + stride - 1) / stride, (height + stride - 1) / stride)
      for row in 0..<rows {
        for column in 0..<columns {
          let middle = ImagePoint(
            x: (Double(column) + 0.5) / Double(columns) * Double(width),
            y: (Double(row) + 0.5) / Double(rows) * Double(height))
          anchors += Array(repeating: middle, count: 2 * layers)
        }
      }
      layer += layers
    }
    return anchors
  }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    guard shapes.count == 2, let boxes = boxesIndex(shapes) else { return false }
    return shapes[boxes].fits([1, anchors.count, nil]) && shapes[boxes].has(2, atLeast: 4)
      && (shapes[boxes][2] ?? 4) % 2 == 0 && shapes[1 - boxes].fits([1, anchors.count, 1])
  }

  /// Exports have the two outputs in either order.
  private func boxesIndex(_ shapes: [[Int?]]) -> Int? {
    shapes.firstIndex { $0.count == 3 && $0[2] != 1 }
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let boxes = boxesIndex(outputs.shapes) ?? 0
    let (rows, scores) = (outputs.floats(boxes), outputs.floats(1 - boxes))
    let length = outputs.shapes[boxes][2]
    var found: [Candidate] = []
    for (index, anchor) in anchors.enumerated() {
      let raw = try outputs.finite(scores, index, of: 1 - boxes)
      let score = ExactExponential.sigmoid(max(-Self.scoreLimit, min(Self.scoreLimit, raw)))
      guard score > settings.confidenceThreshold else { continue }
      var row: [Double] = []
      for element in 0..<length {
        row.append(try outputs.finite(rows, index * length + element, of: boxes))
      }
      found.append(
        Candidate(
          box: Box(
            middleX: row[0] + anchor.x, middleY: row[1] + anchor.y, width: row[2],
            height: row[3]),
          score: score, classIndex: 0, index: index,
          landmarks: stride(from: 4, to: length, by: 2).map {
            ImagePoint(x: row[$0] + anchor.x, y: row[$0 + 1] + anchor.y)
          }))
    }
    let filter = CandidateFilter(settings: settings)
    return filter.decoded(filter.suppressed(found), geometry)
  }
}
