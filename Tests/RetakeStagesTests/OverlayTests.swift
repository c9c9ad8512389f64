import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct OverlayTests {
  private let red = OverlayColor(red: 255, green: 0, blue: 0)

  /// The image as red, green and blue, converted by FFmpeg.
  private func converted(_ frame: Frame) throws -> Frame {
    frame.format == .rgb ? frame : try MediaScalers().scale(frame, format: .rgb)
  }

  private func pixel(_ frame: Frame, _ x: Int, _ y: Int) -> [Int] {
    let bytes = frame.bytes(of: 0)
    return (0..<3).map { Int(bytes[(y * frame.width + x) * 3 + $0]) }
  }

  private func black(_ format: PixelFormat, _ width: Int, _ height: Int, _ range: ColorRange)
    -> Frame
  {
    let dark = range == .full || !(format.isYUV || format == .gray) ? 0 : 16
    return frame(format, width, height, range: range) { plane, _, _ in
      plane == 0 ? dark : 128
    }
  }

  @Test(arguments: PixelFormat.basic, [ColorRange.limited, .full])
  func `a filled box has its color in every format, and nothing else changes`(
    format: PixelFormat, range: ColorRange
  ) throws {
    let plain = black(format, 32, 24, range)
    let shape = OverlayShape(.fill(Box(x: 8, y: 4, width: 8, height: 6)), red)
    let drawn = try converted(plain.drawing([shape]))
    let before = try converted(plain)
    // FFmpeg treats gray as full range; in limited range, red is 16 + 76 x 219 / 255.
    let level = range == .full ? 76 : 81
    let wanted = format == .gray ? [level, level, level] : [255, 0, 0]
    for (x, y) in [(10, 6), (13, 8)] {
      let found = pixel(drawn, x, y)
      for channel in 0..<3 { #expect(abs(found[channel] - wanted[channel]) <= 3, "\(found)") }
    }
    for (x, y) in [(2, 2), (20, 6), (10, 16)] { #expect(pixel(drawn, x, y) == pixel(before, x, y)) }
    #expect(plain.bytes(of: 0) == black(format, 32, 24, range).bytes(of: 0), "the frame stays")
  }

  @Test func `half a chroma sample gets half the color`() {
    let plain = black(.i420, 8, 8, .full)
    let drawn = plain.drawing([OverlayShape(.fill(Box(x: 1, y: 0, width: 1, height: 2)), red)])
    // Red in BT.601: luma 76, blue 85, red 255; half the distance from 128.
    #expect(drawn.bytes(of: 0)[0...3] == [0, 76, 0, 0])
    #expect(drawn.bytes(of: 1)[0...1] == [107, 128])
    #expect(drawn.bytes(of: 2)[0...1] == [191, 128])
  }

  @Test func `shapes outside, without sense or beyond all bounds draw nothing and stop nothing`() {
    let plain = black(.i420, 33, 17, .limited)
    let shapes: [OverlayShape.Form] = [
      .fill(Box(x: -50, y: 0, width: 20, height: 5)), .fill(Box(x: 0, y: 90, width: 9, height: 9)),
      .fill(Box(x: .nan, y: 0, width: 5, height: 5)), .fill(Box(x: 3, y: 3, width: 0, height: 4)),
      .outline(Box(x: 1e300, y: 0, width: 4, height: 4), thickness: 2),
      .text("outside", x: 500, y: -90, scale: 3),
      .line([.init(x: .infinity, y: 0), .init(x: 0, y: .nan)], thickness: 2),
    ]
    let drawn = plain.drawing(shapes.map { OverlayShape($0, red) })
    for plane in 0..<3 { #expect(drawn.bytes(of: plane) == plain.bytes(of: plane)) }
    let large = OverlayShape(.fill(Box(x: -1e200, y: -1e200, width: 1e300, height: 1e300)), red)
    #expect(
      plain.drawing([large]).bytes(of: 0).allSatisfy {
        $0 == plain.drawing([large]).bytes(of: 0)[0]
      })
  }

  @Test(arguments: [0, 90, 180, 270])
  func `what is drawn on the upright picture lies in the stored one where a viewer's turn puts it`(
    degrees: Int
  ) {
    var plain = black(.gray, 20, 10, .full)
    plain.rotationDegrees = degrees
    let picture = OverlayImage(plain)
    #expect((picture.uprightWidth == 20) == (degrees % 180 == 0))
    // The corner that a viewer sees at the top left.
    let drawn = plain.drawing([
      OverlayShape(
        .fill(Box(x: 0, y: 0, width: 3, height: 2)), .init(red: 255, green: 255, blue: 255))
    ])
    let bytes = drawn.bytes(of: 0)
    let lit = bytes.indices.filter { bytes[$0] == 255 }.map { ($0 % 20, $0 / 20) }
    let corner = [0: (0, 0), 90: (0, 9), 180: (19, 9), 270: (19, 0)][degrees]!
    #expect(lit.count == 6)
    #expect(lit.contains { $0 == corner })
    let box = Box(x: 2, y: 3, width: 4, height: 5)
    let upright = picture.upright(box)
    #expect(upright.width == (degrees % 180 == 0 ? 4 : 5))
    #expect(upright.x >= 0 && upright.x + upright.width <= Double(picture.uprightWidth))
  }

  @Test func `every fact that can be seen has its shapes`() {
    let layout = OverlayLayout(OverlayImage(width: 640, height: 480))
    let found = Detection(
      box: Box(x: 100, y: 200, width: 50, height: 40), score: 0.8312, classIndex: 1, identity: 7,
      classes: [.init(label: "red", score: 0.5)])
    let shapes = layout.shapes(of: [
      OverlayContent(
        facts: [
          .detection(found), .scalar(name: "mean", value: 12.34567),
          .text(name: "code", text: "A-1"), .classification(.init(label: "day", score: 1)),
          .waveform(Waveform(name: "pulse", rate: 30, samples: [0, 1, 0, -1])),
        ], classNames: ["cat", "dog"], ageNanoseconds: 120_400_000)
    ])
    let texts = shapes.compactMap { (shape) -> String? in
      if case .text(let text, _, _, _) = shape.form { text } else { nil }
    }
    #expect(
      texts == ["dog 0.831 #7 red 0.5", "pulse", "mean 12.346", "code A-1", "day 1", "120 ms"])
    #expect(shapes.contains { $0.form == .outline(found.box, thickness: 2) })
    let line = shapes.compactMap { (shape) -> [OverlayShape.Point]? in
      if case .line(let points, _) = shape.form { points } else { nil }
    }
    // Three intervals of a thirtieth of a second, at 240 per second.
    #expect(line.map(\.count) == [25])
    #expect(line[0][0].x == 0 && line[0][24].x == 640)
    #expect(line[0][8].y < line[0][0].y && line[0][24].y > line[0][0].y)
  }

  @Test func `masks, points and JSON are drawn`() {
    let mask = Mask(width: 64, height: 48) { x, y in (10..<20).contains(x) && (20..<40).contains(y)
    }
    let points = KeyPoints(
      [KeyPoint("a", x: 4, y: 5), KeyPoint("b", x: 9, y: 5)], bones: [.init(0, 1), .init(1, 7)])
    let shapes = OverlayLayout(OverlayImage(width: 64, height: 48)).shapes(of: [
      OverlayContent(facts: [
        .observation(Observation(.mask(mask), label: "person", score: 0.5, identity: 3)),
        .observation(Observation(.points(points), label: "face")),
        .observation(Observation(.json(.object(["n": .integer(1)])), label: "meta")),
        .observation(Observation(.embedding([1]), label: "id")),
      ])
    ])
    let texts = shapes.compactMap { (shape) -> String? in
      if case .text(let text, _, _, _) = shape.form { text } else { nil }
    }
    #expect(texts == ["person 0.5 #3", "face 1", #"meta {"n":1}"#])
    let lines = shapes.compactMap { (shape) -> [OverlayShape.Point]? in
      if case .line(let points, _) = shape.form { points } else { nil }
    }
    // Four sides of the mask, and the bone whose points exist.
    #expect(lines.count == 5 && lines[0].count == 2)
    #expect(lines[..<4].flatMap { $0 }.map(\.x).max() == 20)
    #expect(lines[4] == [.init(x: 4, y: 5), .init(x: 9, y: 5)])
  }

  @Test func `labels stay inside the picture`() {
    let picture = OverlayImage(width: 320, height: 240)
    let corners = [
      Box(x: -20, y: -10, width: 30, height: 30), Box(x: 310, y: 235, width: 30, height: 30),
    ]
    let shapes = OverlayLayout(picture).shapes(of: [
      OverlayContent(facts: corners.map { .detection(Detection(box: $0, score: 0.5)) })
    ])
    let grounds = shapes.compactMap { (shape) -> Box? in
      if case .fill(let box) = shape.form { box } else { nil }
    }
    #expect(grounds.count == 2)
    for box in grounds {
      #expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= 320 && box.y + box.height <= 240)
    }
  }

  @Test func `letters cover their cells and unknown ones are boxes`() {
    for letter in "AgÄ|9".unicodeScalars {
      let levels = GlyphAtlas.coverage(of: letter)
      #expect(levels.count == GlyphAtlas.width * GlyphAtlas.height)
      #expect(levels.contains { $0 > 7 } && levels.max()! <= GlyphAtlas.levelMax)
    }
    #expect(GlyphAtlas.coverage(of: " ").allSatisfy { $0 == 0 })
    #expect(Array(GlyphAtlas.coverage(of: "猫")) == Array(GlyphAtlas.coverage(of: "犬")))
    #expect(GlyphAtlas.coverage(of: "猫").contains(GlyphAtlas.levelMax))
    let different = Set((33...126).map { Array(GlyphAtlas.coverage(of: Unicode.Scalar($0)!)) })
    #expect(different.count == 94)
  }

  @Test func `the stage draws what came and fails without a frame`() throws {
    let plain = black(.nv12, 64, 48, .limited)
    let boxes = Detections(
      [Detection(box: Box(x: 10, y: 10, width: 20, height: 20), score: 1)], classNames: ["thing"])
    let joined = Joined([
      .init(port: "frame", value: plain), .init(port: "boxes", value: boxes),
      .init(port: "none", value: nil),
    ])
    let drawn = try Overlay().process(joined, anyContext)
    #expect(drawn.digest != plain.digest)
    #expect(drawn.format == .nv12 && drawn.width == 64 && !share(drawn, plain))
    let bare = try Overlay().process(Joined([.init(port: "frame", value: plain)]), anyContext)
    #expect(bare.digest == plain.digest && !share(bare, plain))
    #expect {
      try Overlay().process(Joined([.init(port: "boxes", value: boxes)]), anyContext)
    } throws: { ($0 as? StageError)?.code == "overlay.noFrame" }
  }

  @Test func `a waveform of one value, of none or with gaps is drawn as far as it goes`() {
    let layout = OverlayLayout(OverlayImage(width: 100, height: 80))
    for samples in [[], [3], [.nan, .infinity], [1, .nan, 2], [5, 5, 5]] as [[Double]] {
      let shapes = layout.shapes(of: [
        OverlayContent(facts: [.waveform(Waveform(name: "w", rate: 1e9, samples: samples))])
      ])
      #expect(shapes.count == 3)
      let points = shapes.flatMap { (shape) -> [OverlayShape.Point] in
        if case .line(let points, _) = shape.form { points } else { [] }
      }
      #expect(points.allSatisfy { $0.x.isFinite && $0.y.isFinite })
    }
  }
}
