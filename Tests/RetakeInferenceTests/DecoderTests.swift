import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeInference

/// A 64x64 input of a 128x64 frame: half the size, with 16 rows of padding above and below.
private let geometry = ImageGeometry(
  frameWidth: 128, frameHeight: 64, width: 64, height: 64, resizeType: .fitToWindowLetterbox)

private func decoder(
  _ name: DecoderName, _ change: (inout DecoderSettings) -> Void = { _ in }
) -> any OutputDecoder {
  var settings = DecoderSettings(width: 64, height: 64)
  change(&settings)
  return name.decoder(settings)
}

private func tensor(_ shape: [Int], _ numbers: [Float]) -> ModelTensor {
  ModelTensor(.float(numbers), shape: shape)
}

/// Zeros with some numbers set.
private func sparse(_ shape: [Int], _ set: [([Int], Float)] = []) -> ModelTensor {
  var numbers = [Float](repeating: 0, count: shape.reduce(1, *))
  for (place, value) in set {
    numbers[zip(place, shape).reduce(0) { $0 * $1.1 + $1.0 }] = value
  }
  return tensor(shape, numbers)
}

private func detections(_ decoded: Decoded) throws -> [Detection] {
  guard case .detections(let found, _) = decoded else {
    throw DecodingMismatch.type(decoder: .boxes, output: 0)
  }
  return found.items
}

private func classes(_ decoded: Decoded) -> [Classification] {
  guard case .classes(let classes) = decoded else { return [] }
  return classes.items
}

@Suite struct DecoderTests {
  @Test func `finished boxes are moved to the frame and sorted`() throws {
    let rows: [Float] = [
      16, 20, 32, 40, 0.75, 1,
      0, 16, 8, 24, 0.875, 0,
      1, 2, 3, 4, 0.25, 2,
    ]
    let found = try detections(decoder(.boxes).decode([tensor([1, 3, 6], rows)], geometry))
    #expect(
      found == [
        Detection(box: Box(x: 0, y: 0, width: 16, height: 16), score: 0.875, classIndex: 0),
        Detection(box: Box(x: 32, y: 8, width: 32, height: 40), score: 0.75, classIndex: 1),
      ])
    #expect(try detections(decoder(.boxes).decode([tensor([0, 6], [])], geometry)).isEmpty)
  }

  @Test func `classes that are not kept take no place and suppress nothing`() throws {
    // Two boxes at one place: the better one is of the second class.
    let rows: [Float] = [
      32, 32, 16, 8, 0.75, 1, 0,
      32, 32, 16, 8, 0.875, 0, 1,
    ]
    func scores(_ classes: [String]) throws -> [Double] {
      let yolo = decoder(.yoloV5) {
        ($0.labels, $0.classes) = (["face", "hand"], classes)
        ($0.isClassAgnostic, $0.maxDetections) = (true, 1)
      }
      return try detections(yolo.decode([tensor([1, 2, 7], rows)], geometry)).map(\.score)
    }
    #expect(try scores([]) == [0.875] && scores(["face", "hand"]) == [0.875])
    #expect(try scores(["face"]) == [0.75])
    #expect(try scores(["hand"]) == [0.875])
  }

  @Test func `YOLOv5 multiplies the objectness with the best class`() throws {
    // The middle, the size, the objectness, three classes.
    let rows: [Float] = [
      32, 32, 16, 8, 0.75, 0.5, 1, 1,
      10, 30, 4, 4, 0.5, 0.75, 0.875, 0,
    ]
    let names = ["a", "b", "c"]
    let decoded = try decoder(.yoloV5) { $0.labels = names }
      .decode([tensor([1, 2, 8], rows)], geometry)
    #expect(
      decoded
        == .detections(
          Detections(
            [Detection(box: Box(x: 48, y: 24, width: 32, height: 16), score: 0.75, classIndex: 1)],
            classNames: names), landmarks: []))
  }

  @Test func `YOLOv8 has a column for each box`() throws {
    let output = sparse(
      [1, 6, 21],
      [
        ([0, 0, 3], 32), ([0, 1, 3], 32), ([0, 2, 3], 16), ([0, 3, 3], 8), ([0, 5, 3], 0.75),
        ([0, 4, 20], 0.4375),
      ])
    let found = try detections(decoder(.yoloV8).decode([output], geometry))
    #expect(
      found == [
        Detection(box: Box(x: 48, y: 24, width: 32, height: 16), score: 0.75, classIndex: 1)
      ])
  }

  /// DeepStream-Yolo, report 697: a box that crosses from the picture into the padding.
  @Test func `a box at the edge of the padding is found`() throws {
    let wide = ImageGeometry(
      frameWidth: 1920, frameHeight: 1080, width: 640, height: 640,
      resizeType: .fitToWindowLetterbox)
    let output = sparse(
      [1, 5, 2],
      [
        ([0, 0, 1], 386.159), ([0, 1, 1], 438.383), ([0, 2, 1], 155.506), ([0, 3, 1], 124.106),
        ([0, 4, 1], 0.954179),
      ])
    let found = try detections(decoder(.yoloV8).decode([output], wide))
    let box = try #require(found.first?.box)
    #expect(abs(box.y - 708.99) < 0.01 && box.y + box.height == 1080)
    #expect(abs(box.x - 925.218) < 0.01 && abs(box.width - 466.518) < 0.01)
  }

  @Test func `YOLOX counts from the cell of the grid`() throws {
    // 8x8 cells of 8 pixels, 4x4 of 16, 2x2 of 32: row 64 + 4 x 2 + 1 is cell (1, 2) of 16.
    let logarithm: Float = 0.6931471805599453
    let output = sparse(
      [1, 84, 6],
      [
        ([0, 73, 0], 0.5), ([0, 73, 1], 0.25), ([0, 73, 2], logarithm), ([0, 73, 3], 0),
        ([0, 73, 4], 0.875), ([0, 73, 5], 1),
      ])
    let box = try #require(
      try detections(decoder(.yolox).decode([output], geometry)).first?.box)
    // The middle is (1.5, 2.25) x 16 = (24, 36), the size 32x16.
    #expect(abs(box.x - 16) < 1e-5 && abs(box.width - 64) < 1e-5)
    #expect(box.y == 24 && box.height == 32)
  }

  @Test func `anchors are two for each layer in each cell`() {
    let anchors = SSDAnchorsDecoder.anchors(strides: [8, 16, 16, 16], width: 128, height: 128)
    #expect(anchors.count == 896)
    #expect(anchors[0] == ImagePoint(x: 4, y: 4) && anchors[1] == ImagePoint(x: 4, y: 4))
    #expect(anchors[2] == ImagePoint(x: 12, y: 4) && anchors[511] == ImagePoint(x: 124, y: 124))
    #expect(anchors[512...517].allSatisfy { $0 == ImagePoint(x: 8, y: 8) })
    #expect(anchors[518] == ImagePoint(x: 24, y: 8))
  }

  @Test func `BlazeFace counts from its anchors, in either order of outputs`() throws {
    // 128 anchors in 8x8 cells, then 96 in 4x4 cells.
    let boxes = sparse(
      [1, 224, 8],
      [
        ([0, 19, 0], 2), ([0, 19, 1], 12), ([0, 19, 2], 10), ([0, 19, 3], 8), ([0, 19, 4], -1),
        ([0, 19, 5], 8), ([0, 19, 6], 5), ([0, 19, 7], 9),
      ])
    var scores = [Float](repeating: -9, count: 224)
    scores[19] = 0.5
    let score = tensor([1, 224, 1], scores)
    let one = try decoder(.ssdAnchors).decode([boxes, score], geometry)
    #expect(try decoder(.ssdAnchors).decode([score, boxes], geometry) == one)
    guard case .detections(let found, let landmarks) = one else { return #expect(Bool(false)) }
    // Anchor 19 is in cell (1, 1): 12, 12.
    #expect(found.items.map(\.box) == [Box(x: 18, y: 8, width: 20, height: 16)])
    #expect(landmarks == [[ImagePoint(x: 22, y: 8), ImagePoint(x: 34, y: 10)]])
    #expect(abs((found.items.first?.score ?? 0) - 0.6224593312018546) < 1e-15)
  }

  @Test func `CenterFace has maps with y before x`() throws {
    let shape = { (channels: Int) in [1, channels, 16, 16] }
    let place = { (channel: Int, value: Float) in ([0, channel, 7, 5], value) }
    let outputs = [
      sparse(shape(1), [place(0, 0.875)]),
      // The size: e^0 x 4 high, e^0 x 4 wide; the offset 0.25 down, 0.5 to the right.
      sparse(shape(2)),
      sparse(shape(2), [place(0, 0.25), place(1, 0.5)]),
      sparse(shape(10), [place(0, 0.25), place(1, 0.5), place(8, 1), place(9, 0.75)]),
    ]
    let decoded = try decoder(.centerface) { $0.labels = ["face"] }.decode(outputs, geometry)
    guard case .detections(let found, let landmarks) = decoded else {
      return #expect(Bool(false))
    }
    // The middle is ((5 + 0.5 + 0.5) x 4, (7 + 0.25 + 0.5) x 4) = (24, 31).
    #expect(
      found
        == Detections(
          [Detection(box: Box(x: 44, y: 26, width: 8, height: 8), score: 0.875)],
          classNames: ["face"]))
    #expect(landmarks.first?.count == 5)
    #expect(landmarks.first?.first == ImagePoint(x: 48, y: 28))
    #expect(landmarks.first?.last == ImagePoint(x: 50, y: 34))
  }

  @Test func `a text is what touches, grown by its area over its perimeter`() throws {
    // 21 x 5 pixels: 20 x 4 between the middles, so it grows by 80 x 1.5 / 48 = 2.5.
    var set: [([Int], Float)] = []
    for y in 30...34 { for x in 10...30 { set.append(([0, 0, y, x], 0.875)) } }
    // Too low to be text, and too flat.
    set += [([0, 0, 50, 50], 0.25)] + (40...60).map { ([0, 0, 45, $0], 0.9) }
    let output = sparse([1, 1, 64, 64], set)
    let found = try detections(
      decoder(.dbText) { $0.unclipRatio = 1.5 }.decode([output], geometry))
    #expect(
      found == [Detection(box: Box(x: 15, y: 23, width: 50, height: 18), score: 0.875)])
  }

  @Test func `texts touch diagonally, and dilation joins what is next to it`() {
    func boxes(_ rows: [String], dilated: Bool = false) -> [PixelRectangle] {
      var mask = PixelMask(
        width: rows[0].count, height: rows.count, pixels: rows.joined().map { $0 == "#" })
      if dilated { mask.dilate() }
      return mask.components()
    }
    #expect(
      boxes(["#...", ".#..", "...#"]) == [
        PixelRectangle(x: 0, y: 0, width: 2, height: 2),
        PixelRectangle(x: 3, y: 2, width: 1, height: 1),
      ])
    #expect(
      boxes(["#...", ".#..", "...#"], dilated: true)
        == [PixelRectangle(x: 0, y: 0, width: 4, height: 3)])
    #expect(
      boxes(["#..", "...", "..."], dilated: true)
        == [PixelRectangle(x: 0, y: 0, width: 2, height: 2)])
    #expect(boxes(["...", "..."]).isEmpty)
  }

  @Test func `the greedy text leaves out blanks and repetitions`() throws {
    // Classes: blank, a, b, space. The steps are a, a, blank, a, space, b.
    let best: [(Int, Float)] = [(1, 0.5), (1, 0.75), (0, 0.9), (1, 0.75), (3, 1), (2, 0.25)]
    let output = sparse([1, 6, 4], best.enumerated().map { ([0, $0, $1.0], $1.1) })
    let decoder = decoder(.ctcText) {
      $0.labels = ["a", "b"]
      $0.confidenceThreshold = 0
    }
    #expect(
      classes(try decoder.decode([output], geometry)) == [
        Classification(label: "aa b", score: 0.625)
      ])
    let blank = sparse([1, 2, 4], [([0, 0, 0], 1), ([0, 1, 0], 1)])
    #expect(classes(try decoder.decode([blank], geometry)).isEmpty)
  }

  @Test func `softmax gives the best labels, and equal ones in their order`() throws {
    let logits = tensor([1, 4], [1, 3, 1, 0])
    let found = classes(
      try decoder(.softmax) {
        ($0.labels, $0.topK, $0.confidenceThreshold) = (["a", "b", "c", "d"], 3, 0)
      }.decode([logits], geometry))
    #expect(found.map(\.label) == ["b", "a", "c"])
    // e^2 / (e^2 + 2 + 1/e)
    #expect(abs(found[0].score - 0.7573132) < 1e-6 && found[1].score == found[2].score)
    let large = tensor([1, 2, 1, 1], [1000, 999])
    let scores = classes(try decoder(.softmax).decode([large], geometry)).map(\.score)
    #expect(scores.count == 1 && abs(scores[0] - 0.7310586) < 1e-6)
  }

  @Test func `each label of a multi-label model counts on its own`() throws {
    let logits = tensor([1, 3], [0, 2, 4])
    let found = classes(try decoder(.sigmoidMultilabel).decode([logits], geometry))
    #expect(found.map(\.label) == ["2", "1"])
    #expect(abs(found[1].score - 0.8807971) < 1e-6)
  }

  @Test func `a tree ensemble's scores are taken as they are`() throws {
    let outputs = [
      ModelTensor(.int64([1]), shape: [1]), ModelTensor(.double([0.125, 0.875]), shape: [1, 2]),
    ]
    let decoder = decoder(.probabilities) {
      ($0.labels, $0.confidenceThreshold) = (["calm", "angry"], 0)
    }
    #expect(
      classes(try decoder.decode(outputs, geometry)) == [
        Classification(label: "angry", score: 0.875), Classification(label: "calm", score: 0.125),
      ])
    let label = ModelTensor(.int64([1]), shape: [1])
    #expect(throws: DecodingMismatch.type(decoder: .probabilities, output: 0)) {
      try decoder.decode([label], geometry)
    }
  }

  @Test func `regressions are named numbers`() throws {
    let two = tensor([1, 2], [1.5, -2])
    func names(_ labels: [String], _ output: ModelTensor) throws -> [String] {
      guard
        case .scalars(let scalars) = try decoder(.regression, { $0.labels = labels })
          .decode([output], geometry)
      else { return [] }
      return scalars.entries.map { "\($0.name)=\($0.value)" }
    }
    #expect(try names(["rate", "shift"], two) == ["rate=1.5", "shift=-2.0"])
    #expect(try names([], two) == ["value0=1.5", "value1=-2.0"])
    #expect(try names([], tensor([1, 1], [7])) == ["value=7.0"])
    #expect(throws: DecodingMismatch.labels(decoder: .regression, expected: 2, actual: 1)) {
      try names(["one"], two)
    }
  }
}

@Suite struct DecoderRefusalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: DecoderName
    var shapes: [[Int]]
    var labels: [String] = []

    var testDescription: String { "\(name.rawValue) \(shapes)" }
  }

  static let refused = [
    Case(name: .boxes, shapes: [[1, 3, 7]]), Case(name: .boxes, shapes: [[1, 3, 6], [1]]),
    Case(name: .yoloV5, shapes: [[1, 25200, 5]]), Case(name: .yoloV5, shapes: [[25200, 85]]),
    Case(name: .yoloV8, shapes: [[1, 4, 84]]), Case(name: .yoloV8, shapes: [[2, 84, 10]]),
    // The transposed output of a model with two classes.
    Case(name: .yoloV8, shapes: [[1, 84, 6]], labels: ["a", "b"]),
    Case(name: .yolox, shapes: [[1, 85, 6]]), Case(name: .yolox, shapes: [[1, 84, 5]]),
    Case(name: .ssdAnchors, shapes: [[1, 224, 16]]),
    Case(name: .ssdAnchors, shapes: [[1, 896, 16], [1, 896, 1]]),
    Case(name: .ssdAnchors, shapes: [[1, 224, 5], [1, 224, 1]]),
    Case(name: .centerface, shapes: [[1, 1, 16, 16], [1, 2, 16, 16], [1, 2, 16, 16]]),
    Case(
      name: .centerface,
      shapes: [[1, 1, 8, 8], [1, 2, 8, 8], [1, 2, 8, 8], [1, 10, 8, 8]]),
    Case(name: .dbText, shapes: [[1, 1, 32, 32]]), Case(name: .dbText, shapes: [[1, 2, 64, 64]]),
    Case(name: .ctcText, shapes: [[1, 40, 5]]),
    Case(name: .ctcText, shapes: [[1, 40, 5]], labels: ["a", "b"]),
    Case(name: .softmax, shapes: [[1, 10, 10]]), Case(name: .softmax, shapes: [[1, 0]]),
    Case(name: .softmax, shapes: []), Case(name: .sigmoidMultilabel, shapes: [[2, 10]]),
    Case(name: .probabilities, shapes: [[1], [1, 3], [1]]),
    Case(name: .probabilities, shapes: [[4], [1, 3]]),
    Case(name: .regression, shapes: [[1, 257]]), Case(name: .regression, shapes: [[3, 3]]),
  ]

  @Test(arguments: refused)
  func `outputs of other shapes are refused before and in the frame`(_ it: Case) {
    let decoder = decoder(it.name) { $0.labels = it.labels }
    let expected = DecodingMismatch.shapes(
      decoder: it.name, expected: type(of: decoder).expectedShapes,
      actual: it.shapes.map { $0.map(Optional.some) })
    #expect(throws: expected) {
      try decoder.check(it.shapes.map { ModelPort(name: "o", type: .float, shape: $0) })
    }
    #expect(throws: expected) {
      try decoder.decode(it.shapes.map { sparse($0) }, geometry)
    }
    #expect(expected.message.contains(type(of: decoder).expectedShapes))
    let numbers = it.shapes.first?.map(String.init).joined(separator: "x")
    #expect(expected.message.contains(numbers ?? "no outputs"))
  }

  @Test func `dimensions that are not known yet are not refused`() throws {
    let open: [DecoderName: [[Int?]]] = [
      .boxes: [[1, nil, 6]], .yoloV5: [[nil, nil, nil]], .yoloV8: [[nil, nil, nil]],
      .yolox: [[1, nil, 85]], .centerface: [1, 2, 2, 10].map { [nil, $0, nil, nil] },
      .ssdAnchors: [[1, 224, nil], [1, 224, 1]], .dbText: [[nil, 1, nil, nil]],
      .ctcText: [[nil, nil, nil]], .softmax: [[nil, 10]], .sigmoidMultilabel: [[nil, 10]],
      .probabilities: [[nil], [nil, 3]], .regression: [[nil, 1]],
    ]
    for name in DecoderName.allCases {
      let ports = try #require(open[name]).map { ModelPort(name: "o", type: .float, shape: $0) }
      #expect(throws: Never.self, "\(name)") {
        try decoder(name) { $0.labels = name == .ctcText ? ["a"] : [] }.check(ports)
      }
    }
    #expect(throws: DecodingMismatch.type(decoder: .softmax, output: 0)) {
      try decoder(.softmax).check([ModelPort(name: "o", type: nil, shape: [1, 3])])
    }
  }

  /// Outputs that are accepted, and an element in each that must be a number.
  static let numbers: [(name: DecoderName, shapes: [[Int]], output: Int, element: Int)] = [
    (.boxes, [[1, 2, 6]], 0, 10), (.yoloV5, [[1, 2, 8]], 0, 12), (.yoloV5, [[1, 2, 8]], 0, 15),
    (.yoloV8, [[1, 6, 21]], 0, 90), (.yolox, [[1, 84, 6]], 0, 10),
    (.ssdAnchors, [[1, 224, 16], [1, 224, 1]], 1, 7),
    (.centerface, [[1, 1, 16, 16], [1, 2, 16, 16], [1, 2, 16, 16], [1, 10, 16, 16]], 0, 99),
    (.dbText, [[1, 1, 64, 64]], 0, 4_000), (.ctcText, [[1, 4, 2]], 0, 5),
    (.softmax, [[1, 3]], 0, 1), (.sigmoidMultilabel, [[1, 3]], 0, 2),
    (.probabilities, [[1], [1, 3]], 1, 0), (.regression, [[1, 2]], 0, 1),
  ]

  @Test func `a score that is no number is the frame's error by name`() throws {
    for it in Self.numbers {
      for (value, text) in [(Float.nan, "NaN"), (.infinity, "inf"), (-.infinity, "-inf")] {
        let outputs = it.shapes.enumerated().map { index, shape in
          var numbers = [Float](repeating: 0.1, count: shape.reduce(1, *))
          if index == it.output { numbers[it.element] = value }
          return tensor(shape, numbers)
        }
        let expected = DecodingMismatch.notFinite(
          decoder: it.name, output: it.output, element: it.element, value: text)
        #expect(throws: expected, "\(it.name)") {
          try decoder(it.name) { $0.labels = it.name == .ctcText ? ["a"] : [] }
            .decode(outputs, geometry)
        }
      }
    }
  }

  @Test func `a box that is no number is an error, too, where it counts`() {
    let output = sparse(
      [1, 5, 3], [([0, 2, 1], .nan), ([0, 4, 1], 0.9)])
    #expect(
      throws: DecodingMismatch.notFinite(decoder: .yoloV8, output: 0, element: 7, value: "NaN")
    ) { try decoder(.yoloV8).decode([output], geometry) }
  }

  @Test func `a size that is too large for a number is an error, too`() {
    let output = sparse([1, 84, 6], [([0, 5, 3], 800), ([0, 5, 4], 1), ([0, 5, 5], 1)])
    #expect(
      throws: DecodingMismatch.notFinite(decoder: .yolox, output: 0, element: 33, value: "inf")
    ) { try decoder(.yolox).decode([output], geometry) }
  }

  @Test func `labels must be as many as classes`() {
    let five = tensor([1, 2, 8], [Float](repeating: 0, count: 16))
    #expect(throws: DecodingMismatch.labels(decoder: .yoloV5, expected: 3, actual: 2)) {
      try decoder(.yoloV5) { $0.labels = ["a", "b"] }.decode([five], geometry)
    }
    #expect(throws: DecodingMismatch.labels(decoder: .softmax, expected: 3, actual: 2)) {
      try decoder(.softmax) { $0.labels = ["a", "b"] }
        .decode([tensor([1, 3], [1, 2, 3])], geometry)
    }
  }
}

@Suite struct SuppressionTests {
  private func kept(
    _ candidates: [Candidate], _ change: (inout DecoderSettings) -> Void = { _ in }
  ) -> [Int] {
    var settings = DecoderSettings(width: 64, height: 64)
    change(&settings)
    return CandidateFilter(settings: settings).suppressed(candidates).map(\.index)
  }

  private func candidate(
    _ index: Int, x: Double, y: Double = 0, score: Double = 0.9, classIndex: Int = 0
  ) -> Candidate {
    Candidate(
      box: Box(x: x, y: y, width: 10, height: 10), score: score, classIndex: classIndex,
      index: index)
  }

  @Test func `the better of two that overlap is kept, and the threshold itself is allowed`() {
    // 5 of 15 columns are shared: a third.
    let pair = [candidate(0, x: 0, score: 0.5), candidate(1, x: 5, score: 0.6)]
    #expect(kept(pair) { $0.iouThreshold = 0.33 } == [1])
    #expect(kept(pair) { $0.iouThreshold = 50.0 / 150 } == [1, 0])
    #expect(kept(pair) { $0.iouThreshold = 0.34 } == [1, 0])
  }

  @Test func `what is suppressed suppresses nothing`() {
    let chain = [
      candidate(0, x: 0, score: 0.9), candidate(1, x: 3, score: 0.8),
      candidate(2, x: 6, score: 0.7),
    ]
    #expect(kept(chain) { $0.iouThreshold = 0.5 } == [0, 2])
  }

  @Test func `classes are compared with themselves, unless told otherwise`() {
    let pair = [candidate(0, x: 0), candidate(1, x: 0, score: 0.8, classIndex: 1)]
    #expect(kept(pair) == [0, 1])
    #expect(kept(pair) { $0.isClassAgnostic = true } == [0])
  }

  @Test func `ties are settled by class, y, x and index, whatever their order was`() {
    let tied = [
      candidate(0, x: 40, y: 0, classIndex: 1), candidate(1, x: 20, y: 30),
      candidate(2, x: 0, y: 30), candidate(3, x: 50, y: 20), candidate(4, x: 0, y: 0, score: 0.8),
      candidate(6, x: 0, y: 30), candidate(5, x: 0, y: 30),
    ]
    let order = [3, 2, 5, 6, 1, 0, 4]
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<20 {
      #expect(kept(tied.shuffled(using: &generator)) { $0.iouThreshold = 1 } == order)
      // Of the three equal boxes the lowest index is kept.
      #expect(kept(tied.shuffled(using: &generator)) == [3, 2, 1, 0, 4])
    }
  }

  @Test func `the best are kept if there are too many`() {
    let many = (0..<9).map { candidate($0, x: Double($0) * 20, score: Double($0) / 10) }
    #expect(kept(many) { $0.maxDetections = 3 } == [8, 7, 6])
  }

  @Test func `boxes without an area suppress nothing`() {
    var flat = [candidate(0, x: 0), candidate(1, x: 0, score: 0.8)]
    flat[0].box.width = 0
    flat[1].box.width = 0
    #expect(kept(flat) { $0.iouThreshold = 0 } == [0, 1])
  }
}
