import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct MotionTests {
  /// The detections of the last of some frames.
  private func last(
    _ frames: [Frame], _ change: (inout MotionOptions) -> Void = { _ in }
  ) throws -> Detections {
    var options = MotionOptions()
    options.minimumArea = 1
    change(&options)
    var motion = try Motion(options: options)
    motion.reset()
    var result = Detections([], classNames: [])
    for frame in frames { result = motion.process(frame, anyContext) }
    return result
  }

  @Test func `the first frame has no boxes`() throws {
    let found = try last([dark(32, 32, bright: [(4, 4, 8, 8)])])
    #expect(found == Detections([], classNames: ["motion"]))
  }

  @Test func `a square that appears is found where it is`() throws {
    let found = try last([dark(64, 48, bright: []), dark(64, 48, bright: [(21, 14, 10, 7)])])
    #expect(found.items == [Detection(box: Box(x: 21, y: 14, width: 10, height: 7), score: 1)])
  }

  @Test func `a square that moves is one box around where it was and is`() throws {
    let frames = [
      dark(64, 48, bright: [(20, 12, 12, 12)]), dark(64, 48, bright: [(24, 12, 12, 12)]),
    ]
    let found = try last(frames) { $0.reach = 3 }
    // Four columns were uncovered on the left, four covered on the right, of 16 x 12.
    let box = Box(x: 20, y: 12, width: 16, height: 12)
    #expect(found.items == [Detection(box: box, score: 96.0 / 192)])
  }

  @Test func `a copy of the stage goes on from where it was made`() throws {
    var options = MotionOptions()
    options.minimumArea = 1
    var motion = try Motion(options: options)
    _ = motion.process(dark(64, 48, bright: []), anyContext)
    var copy = motion
    let bright = dark(64, 48, bright: [(21, 14, 10, 7)])
    let found = motion.process(bright, anyContext)
    #expect(found.items.count == 1 && motion.process(bright, anyContext).items.isEmpty)
    #expect(copy.process(bright, anyContext) == found)
  }

  @Test func `it remembers as many frames as it says, also of another size`() throws {
    #expect(AnyStage(try Motion(options: MotionOptions())).callsRemembered == 1)
    let figure = dark(64, 48, bright: [(21, 14, 10, 7)])
    let last = [figure, dark(64, 48, bright: [(20, 12, 12, 12)])]
    let found = try self.last(last)
    #expect(!found.items.isEmpty)
    for earlier in [dark(64, 48, bright: [(4, 4, 8, 8)]), dark(32, 32, bright: []), figure] {
      #expect(try self.last([earlier] + last) == found)
    }
  }

  @Test func `two figures are two boxes from the top down`() throws {
    let before = dark(96, 64, bright: [])
    let after = dark(96, 64, bright: [(60, 4, 8, 8), (8, 40, 8, 8)])
    let boxes = try last([before, after]).items.map(\.box)
    #expect(
      boxes == [
        Box(x: 60, y: 4, width: 8, height: 8), Box(x: 8, y: 40, width: 8, height: 8),
      ])
  }

  @Test func `cells that touch at a corner belong together`() throws {
    let found = try last([
      dark(32, 32, bright: []), dark(32, 32, bright: [(8, 8, 4, 4), (12, 12, 4, 4)]),
    ]) { $0.reach = 1 }
    let box = Box(x: 8, y: 8, width: 8, height: 8)
    #expect(found.items == [Detection(box: box, score: 0.5)])
  }

  @Test func `reach says how far apart cells of one region lie`() throws {
    let frames = [dark(64, 16, bright: []), dark(64, 16, bright: [(8, 4, 4, 4), (16, 4, 4, 4)])]
    #expect(try last(frames) { $0.reach = 1 }.items.count == 2)
    #expect(try last(frames) { $0.reach = 2 }.items.count == 1)
  }

  @Test func `a shape that meets itself late is one region`() throws {
    // Two prongs that are joined only at the bottom, and the other way round.
    for joint in [0, 20] {
      let after = dark(64, 32, bright: [(4, 0, 4, 24), (40, 0, 4, 24), (4, joint, 40, 4)])
      let found = try last([dark(64, 32, bright: []), after]) { $0.reach = 1 }
      #expect(found.items.map(\.box) == [Box(x: 4, y: 0, width: 40, height: 24)])
    }
  }

  @Test func `a pixel counts from the threshold on`() throws {
    let frames = [dark(32, 32, bright: []), dark(32, 32, bright: [(8, 8, 8, 8)], level: 74)]
    #expect(try last(frames) { $0.threshold = 24 }.items.count == 1)
    #expect(try last(frames) { $0.threshold = 25 }.items.isEmpty)
    #expect(try last(frames.reversed()) { $0.threshold = 24 }.items.count == 1)
  }

  @Test func `a single pixel is no motion, but it is with cells of one pixel`() throws {
    let frames = [dark(32, 32, bright: []), dark(32, 32, bright: [(9, 10, 1, 1)])]
    #expect(try last(frames).items.isEmpty)
    let found = try last(frames) { $0.cell = 1 }
    #expect(found.items == [Detection(box: Box(x: 9, y: 10, width: 1, height: 1), score: 1)])
  }

  @Test func `regions below the area are left out`() throws {
    let frames = [dark(32, 32, bright: []), dark(32, 32, bright: [(8, 8, 6, 6)])]
    #expect(try last(frames) { $0.minimumArea = 36 }.items.count == 1)
    #expect(try last(frames) { $0.minimumArea = 37 }.items.isEmpty)
  }

  @Test func `the largest regions are kept, in the order of their place`() throws {
    let sizes = [4, 12, 8, 16]
    let after = dark(
      160, 24,
      bright: sizes.enumerated().map {
        (x: 40 * $0.offset, y: 4, width: $0.element, height: $0.element)
      })
    let found = try last([dark(160, 24, bright: []), after]) { $0.maximumRegions = 2 }
    #expect(found.items.map(\.box.x) == [40, 120])
  }

  @Test func `the right and lower edges of a frame count`() throws {
    let found = try last([dark(30, 22, bright: []), dark(30, 22, bright: [(27, 19, 3, 3)])])
    #expect(found.items.map(\.box) == [Box(x: 27, y: 19, width: 3, height: 3)])
  }

  @Test func `a frame of another size begins anew`() throws {
    let frames = [
      dark(32, 32, bright: []), dark(48, 32, bright: [(8, 8, 8, 8)]), dark(48, 32, bright: []),
    ]
    #expect(try last(Array(frames.prefix(2))).items.isEmpty)
    #expect(try last(frames).items.map(\.box) == [Box(x: 8, y: 8, width: 8, height: 8)])
  }

  @Test func `reset forgets the last frame`() throws {
    var motion = try Motion(options: MotionOptions())
    _ = motion.process(dark(32, 32, bright: []), anyContext)
    motion.reset()
    #expect(motion.process(dark(32, 32, bright: [(0, 0, 16, 16)]), anyContext).items.isEmpty)
  }

  @Test func `noise gives no boxes and leaves the figures' own`() throws {
    let scene = try SyntheticScene(
      SyntheticOptions(scene: .figures, width: 320, height: 240, frames: 6))
    let frames = try (0..<6).map { try scene.frame(FrameID(track: 0, sequence: $0)) }
    let boxes = try last(frames) { $0.minimumArea = 48 }.items.map(\.box)
    #expect((2...8).contains(boxes.count))
    #expect(boxes.allSatisfy { $0.area < 320 * 240 / 4 })

    var still = try Motion(options: MotionOptions())
    let empty = (0..<4).map { index in
      frame(.gray, 64, 64) { _, y, x in 100 + (x * 7 + y * 13 + index * 29) % 23 }
    }
    #expect(empty.allSatisfy { still.process($0, anyContext).items.isEmpty })
  }

  @Test func `a color frame counts by its luma`() throws {
    func color(_ level: Int) -> Frame {
      frame(.i420, 16, 16) { plane, _, _ in plane == 0 ? level : 128 }
    }
    #expect(try last([color(20), color(90)]).items.map(\.score) == [1])
  }
}
