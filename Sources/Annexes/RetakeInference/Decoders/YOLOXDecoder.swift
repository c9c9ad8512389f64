import RetakeCore

/// YOLOX: one row a cell of three grids, relative to the cell.
///
/// The middle is `(x + column) × stride`, the width `e^w × stride`; objectness and class scores are
/// in [0, 1] already (Megvii's `demo_postprocess`).
struct YOLOXDecoder: OutputDecoder {
  let name = DecoderName.yolox
  static let expectedShapes =
    "one output of 1xmx(5+n), a row for each cell of the grids, a score for each of n classes"
  private let settings: DecoderSettings
  private let cells: [(column: Int, row: Int, stride: Int)]

  init(_ settings: DecoderSettings) {
    self.settings = settings
    let strides = settings.strides.isEmpty ? [8, 16, 32] : settings.strides
    cells = strides.flatMap { stride in
      (0..<settings.height / stride).flatMap { row in
        (0..<settings.width / stride).map { (column: $0, row: row, stride: stride) }
      }
    }
  }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    shapes.count == 1 && shapes[0].fits([1, cells.count, nil]) && shapes[0].has(2, atLeast: 6)
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let rows = ObjectnessRows(outputs)
    try rows.requireLabels(settings.labels)
    var found: [Candidate] = []
    for (index, cell) in cells.enumerated() {
      guard let best = try rows.best(index, above: settings.confidenceThreshold) else { continue }
      let place = try rows.place(index)
      let size = try rows.powers(index)
      let stride = Double(cell.stride)
      found.append(
        Candidate(
          box: Box(
            middleX: (place.x + Double(cell.column)) * stride,
            middleY: (place.y + Double(cell.row)) * stride,
            width: size.width * stride, height: size.height * stride),
          score: best.score, classIndex: best.classIndex, index: index))
    }
    let filter = CandidateFilter(settings: settings)
    return filter.decoded(filter.suppressed(found), geometry)
  }
}
