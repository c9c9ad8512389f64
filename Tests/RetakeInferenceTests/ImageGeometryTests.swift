import RetakeCore
import RetakeInference
import Testing

@Suite struct ImageGeometryTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var type: ResizeType
    var frame: (Int, Int)
    var input: (Int, Int)
    var source: [Int]
    var placed: [Int]

    var testDescription: String { "\(type.rawValue) \(frame) in \(input)" }
  }

  static let cases = [
    Case(
      type: .standard, frame: (854, 480), input: (640, 480), source: [0, 0, 854, 480],
      placed: [0, 0, 640, 480]),
    // 480 x 640 / 854 = 359.7
    Case(
      type: .fitToWindow, frame: (854, 480), input: (640, 480), source: [0, 0, 854, 480],
      placed: [0, 0, 640, 360]),
    Case(
      type: .fitToWindowLetterbox, frame: (854, 480), input: (640, 480),
      source: [0, 0, 854, 480], placed: [0, 60, 640, 360]),
    Case(
      type: .crop, frame: (854, 480), input: (640, 480), source: [107, 0, 640, 480],
      placed: [0, 0, 640, 480]),
    Case(
      type: .crop, frame: (480, 854), input: (224, 224), source: [0, 187, 480, 480],
      placed: [0, 0, 224, 224]),
    Case(
      type: .fitToWindowLetterbox, frame: (1920, 1080), input: (640, 640),
      source: [0, 0, 1920, 1080], placed: [0, 140, 640, 360]),
    // An odd number of padding columns: the larger half is on the right.
    Case(
      type: .fitToWindowLetterbox, frame: (100, 200), input: (101, 100),
      source: [0, 0, 100, 200], placed: [25, 0, 50, 100]),
    // 2.5 rows are rounded half to even.
    Case(
      type: .fitToWindow, frame: (20, 5), input: (10, 10), source: [0, 0, 20, 5],
      placed: [0, 0, 10, 2]),
    // A row of pixels stays at least one row.
    Case(
      type: .fitToWindow, frame: (4000, 1), input: (16, 16), source: [0, 0, 4000, 1],
      placed: [0, 0, 16, 1]),
    Case(
      type: .crop, frame: (1, 4000), input: (16, 1), source: [0, 1999, 1, 1],
      placed: [0, 0, 16, 1]),
  ]

  @Test(arguments: cases)
  func `a frame is placed as Model API places it`(_ it: Case) {
    let geometry = ImageGeometry(
      frameWidth: it.frame.0, frameHeight: it.frame.1, width: it.input.0, height: it.input.1,
      resizeType: it.type)
    let numbers = [geometry.source, geometry.placed].map { [$0.x, $0.y, $0.width, $0.height] }
    #expect(numbers == [it.source, it.placed])
  }

  @Test(arguments: ResizeType.allCases)
  func `a box comes back to where it was`(type: ResizeType) {
    let geometry = ImageGeometry(
      frameWidth: 854, frameHeight: 480,
      region: PixelRectangle(x: 101, y: 33, width: 500, height: 301), width: 320, height: 256,
      resizeType: type)
    let box = Box(x: 150.25, y: 60, width: 99, height: 42.5)
    let back = geometry.boxInFrame(geometry.boxInModel(box))
    let errors = [
      back.x - box.x, back.y - box.y, back.width - box.width, back.height - box.height,
    ]
    #expect(errors.allSatisfy { abs($0) < 1e-9 })
    let corner = geometry.boxInModel(
      Box(
        x: Double(geometry.source.x), y: Double(geometry.source.y), width: 1, height: 1))
    #expect(corner.x == Double(geometry.placed.x) && corner.y == Double(geometry.placed.y))
  }

  /// The numbers of DeepStream-Yolo's report 697: the lower edge is 0.436 pixels in the padding.
  @Test func `a box whose edge is in the padding is cut at the edge of the frame`() throws {
    let geometry = ImageGeometry(
      frameWidth: 1920, frameHeight: 1080, width: 640, height: 640,
      resizeType: .fitToWindowLetterbox)
    let inModel = Box(x: 308.406, y: 376.330, width: 463.912 - 308.406, height: 500.436 - 376.330)
    let box = try #require(geometry.clippedToFrame(geometry.boxInFrame(inModel)))
    #expect(abs(box.x - 925.218) < 1e-3 && abs(box.y - 708.990) < 1e-3)
    #expect(abs(box.x + box.width - 1391.736) < 1e-3)
    #expect(box.y + box.height == 1080)
  }

  @Test func `what is outside of the frame has no box`() {
    let geometry = ImageGeometry(
      frameWidth: 100, frameHeight: 50, width: 100, height: 100,
      resizeType: .fitToWindowLetterbox)
    let inPadding = Box(x: 10, y: 5, width: 20, height: 20)
    #expect(geometry.clippedToFrame(geometry.boxInFrame(inPadding)) == nil)
    for box in [
      Box(x: 0, y: 0, width: 0, height: 9), Box(x: 0, y: 0, width: -3, height: 9),
      Box(x: .nan, y: 0, width: 1, height: 1), Box(x: 100, y: 0, width: 5, height: 5),
    ] {
      #expect(geometry.clippedToFrame(box) == nil, "\(box)")
    }
    #expect(
      geometry.clippedToFrame(Box(x: -5, y: -5, width: 10, height: 70))
        == Box(x: 0, y: 0, width: 5, height: 50))
  }

  @Test func `a region is the box with its surroundings in whole pixels`() {
    let box = Box(x: 10.5, y: 20, width: 10, height: 5)
    let region = PixelRectangle(of: box, padding: 0.2, frameWidth: 64, frameHeight: 25)
    #expect(region == PixelRectangle(x: 8, y: 19, width: 15, height: 6))
    let cases = [
      (Box(x: 70, y: 0, width: 5, height: 5), 0.0), (Box(x: 0, y: 0, width: 0, height: 5), 0.0),
      (Box(x: .nan, y: 0, width: 5, height: 5), 0.0),
      (Box(x: 0, y: 0, width: .infinity, height: 5), 0.0),
      (Box(x: 0, y: 0, width: 5, height: 5), 4.5),
    ]
    for (box, padding) in cases {
      let none = PixelRectangle(of: box, padding: padding, frameWidth: 64, frameHeight: 25)
      #expect(none == nil, "\(box)")
    }
  }
}
