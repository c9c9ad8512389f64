import RetakeBuffers
import RetakeCore
import RetakeStages
import Testing

@testable import RetakePreview

extension SDLTests {
  /// The window's drawing over an image, compared with a drawing without a window.
  @Suite struct OverlayTests {
    /// The two blend with different rounding steps.
    private static let levelsMax = 3

    private static let facts: [ResultFact] = [
      .detection(
        Detection(box: Box(x: 20.4, y: 40.6, width: 60, height: 50), score: 0.91, classIndex: 1)),
      .detection(Detection(box: Box(x: 150, y: -5, width: 70, height: 30), score: 0.5)),
      .scalar(name: "level", value: 12.5),
      .classification(Classification(label: "bright", score: 0.75)),
      .waveform(
        Waveform(name: "pulse", rate: 30, samples: [0, 1, 4, 2, -1, -3, 0, 2, 5, 3, 1, 0])),
    ]

    private static let result = PreviewResult(
      id: FrameID(track: 0, sequence: 3), timestamp: .zero,
      outcomes: [SinkOutcome(sink: "found", content: .facts(facts))],
      classNames: [["cat", "dog"]])

    private static func frame(degrees: Int = 0) -> Frame {
      var pixels: [UInt8] = []
      for y in 0..<160 {
        for x in 0..<200 { pixels += [UInt8(x), UInt8(y), UInt8((x + y) / 2), 255] }
      }
      var frame = Frame(format: .bgra, width: 200, height: 160, planes: [pixels])
      frame.rotationDegrees = degrees
      return frame
    }

    private static func shown(_ frame: Frame, width: Int, height: Int) throws -> Frame {
      let canvas = try Canvas.memory(width: width, height: height)
      let view = try PreviewImageView(canvas)
      canvas.painter.clear(.black)
      try view.show(frame, in: canvas.area)
      try view.draw(result, ageNanoseconds: 66_000_000)
      return try canvas.painter.picture()
    }

    private static func shapes(_ frame: Frame) -> [OverlayShape] {
      OverlayLayout(OverlayImage(frame)).shapes(of: [
        OverlayContent(facts: facts, classNames: ["cat", "dog"], ageNanoseconds: 66_000_000)
      ])
    }

    @Test func `where a frame has no picture nothing is left of the one before`() throws {
      let canvas = try Canvas.memory(width: 320, height: 240)
      let view = try PreviewImageView(canvas)
      func drawn() throws -> [UInt8] {
        canvas.painter.clear(.black)
        try view.draw(Self.result, ageNanoseconds: 0)
        return try canvas.painter.picture().bytes(of: 0)
      }
      let empty = try drawn()
      try view.show(Self.frame(), in: canvas.area)
      #expect(try drawn() != empty)
      view.hide()
      view.place(in: canvas.area)
      #expect(try drawn() == empty)
    }

    @Test func `a window's overlay has the pixels of one without a window`() throws {
      let frame = Self.frame()
      let seen = try Self.shown(frame, width: 200, height: 160).bytes(of: 0)
      let wanted = frame.drawing(Self.shapes(frame)).bytes(of: 0)
      let bare = frame.bytes(of: 0)
      #expect(wanted.indices.count { wanted[$0] != bare[$0] } > 5_000)
      let worst = seen.indices.filter { $0 % 4 != 3 }
        .map { abs(Int(seen[$0]) - Int(wanted[$0])) }.max()
      #expect(worst ?? 255 <= Self.levelsMax)
    }

    @Test(arguments: [90, 180, 270])
    func `the overlay of a turned picture stands upright`(degrees: Int) throws {
      var frame = Self.frame(degrees: degrees)
      let (width, height) = degrees == 180 ? (200, 160) : (160, 200)
      let seen = try Self.shown(frame, width: width, height: height).bytes(of: 0)
      // The same, rotated by the test: without a window, the shapes are drawn on the stored image.
      frame = frame.drawing(Self.shapes(frame))
      let stored = frame.bytes(of: 0)
      var worst = 0
      for y in 0..<height {
        for x in 0..<width {
          let (column, row) =
            switch degrees {
            case 90: (y, 159 - x)
            case 180: (199 - x, 159 - y)
            default: (199 - y, x)
            }
          for color in 0..<3 {
            let one = Int(seen[(y * width + x) * 4 + color])
            worst = max(worst, abs(one - Int(stored[(row * 200 + column) * 4 + color])))
          }
        }
      }
      #expect(worst <= Self.levelsMax)
    }

    @Test func `boxes lie on a picture that is shown larger`() throws {
      let seen = try Self.shown(Self.frame(), width: 400, height: 320)
      // The second box's lower border, at twice the distance: y 25 is 50, minus its thickness.
      let color = Corners.color(of: seen, at: (380, 49))
      #expect(color == [230, 159, 0])
    }
  }
}
