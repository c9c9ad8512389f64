import RetakeBuffers
import RetakeCore
import RetakeTestFrames
import Testing

@testable import RetakeStages

@Suite struct FrameTurnTests {
  /// Each sample encodes its position.
  private func numbered(_ degrees: Int) -> Frame {
    var made = frame(.i420, 6, 4) { plane, y, x in plane * 64 + y * 8 + x }
    made.rotationDegrees = degrees
    made.sampleAspect = SampleAspect(4, 3)
    return made
  }

  @Test func `a picture that stands upright is itself`() throws {
    let plain = numbered(0)
    #expect(share(try plain.turnedUpright(), plain))
  }

  @Test(arguments: [90, 180, 270])
  func `each sample goes where the turn puts it, in every plane`(degrees: Int) throws {
    let turned = try numbered(degrees).turnedUpright()
    let isOnItsSide = degrees != 180
    #expect(turned.width == (isOnItsSide ? 4 : 6) && turned.height == (isOnItsSide ? 6 : 4))
    #expect(turned.rotationDegrees == 0)
    #expect(turned.sampleAspect == (isOnItsSide ? SampleAspect(3, 4) : SampleAspect(4, 3)))
    for (plane, across, down) in [(0, 6, 4), (1, 3, 2), (2, 3, 2)] {
      let bytes = turned.bytes(of: plane)
      let width = isOnItsSide ? down : across
      for y in 0..<down {
        for x in 0..<across {
          // Clockwise: the top left corner moves to the right, to the bottom, or to the left.
          let (column, row) =
            switch degrees {
            case 90: (down - 1 - y, x)
            case 180: (across - 1 - x, down - 1 - y)
            default: (y, across - 1 - x)
            }
          #expect(Int(bytes[row * width + column]) == plane * 64 + y * 8 + x)
        }
      }
    }
  }

  @Test(arguments: [0, 90, 180, 270])
  func `a mirrored picture is mirrored left to right, and then turned`(degrees: Int) throws {
    var mirrored = numbered(degrees)
    mirrored.isMirrored = true
    let shown = try mirrored.turnedUpright()
    #expect(!shown.isMirrored && shown.rotationDegrees == 0)
    // Mirrored by hand: each row from right to left.
    var byHand = frame(.i420, 6, 4) { plane, y, x in
      plane * 64 + y * 8 + (plane == 0 ? 5 : 2) - x
    }
    byHand.rotationDegrees = degrees
    let wanted = try byHand.turnedUpright()
    #expect((0..<3).allSatisfy { shown.bytes(of: $0) == wanted.bytes(of: $0) })
  }

  @Test func `what is laid out upright is where the turned picture has it`() {
    for degrees in [90, 180, 270] {
      let box = Box(x: 1, y: 0, width: 2, height: 3)
      for isMirrored in [false, true] {
        let picture = OverlayImage(
          width: 6, height: 4, rotationDegrees: degrees, isMirrored: isMirrored)
        #expect(picture.stored(picture.upright(box)) == box)
      }
    }
  }

  @Test(arguments: PixelFormat.allCases.filter(\.isTurnable), [90, 180, 270])
  func `the stage turns each format as the overlay does, and four quarters are none`(
    format: PixelFormat, degrees: Int
  ) throws {
    for (width, height) in [(6, 4), (5, 3)] {
      var first = frame(format, width, height) { plane, y, x in (plane * 83 + y * 31 + x * 7) & 255
      }
      first.isMirrored = degrees == 270
      var turned = first
      turned.rotationDegrees = degrees
      let upright = Upright().process(turned, anyContext)
      let wanted = try turned.turnedUpright()
      #expect((upright.width, upright.height) == (wanted.width, wanted.height))
      #expect(
        upright.digest == wanted.digest && upright.rotationDegrees == 0 && !upright.isMirrored)
      // Back by the rest of the circle; a mirror is undone by another one, after the turn.
      guard !first.isMirrored else { continue }
      var back = upright
      back.rotationDegrees = 360 - degrees
      #expect(Upright().process(back, anyContext).bytes(of: 0) == first.bytes(of: 0))
    }
  }

  @Test func `a frame without rotation is passed through`() throws {
    let plain = frame(.rgb, 4, 2) { _, y, x in y + x }
    #expect(share(Upright().process(plain, anyContext), plain))
  }
}
