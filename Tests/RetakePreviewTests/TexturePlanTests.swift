import RetakeBuffers
import Testing

@testable import RetakePreview

@Suite struct TexturePlanTests {
  @Test(arguments: [
    (PixelFormat.i420, ColorRange.limited, ColorMatrix.bt601, TexturePlan.Conversion.limited601),
    (.i420, .limited, .bt709, .limited709), (.i420, .full, .bt601, .full601),
    (.nv12, .limited, .bt709, .limited709), (.gray, .full, .identity, .full601),
  ])
  func `the renderer converts what it can, from the planes as they lie`(
    format: PixelFormat, range: ColorRange, matrix: ColorMatrix, wanted: TexturePlan.Conversion
  ) {
    let plan = TexturePlan(format: format, range: range, matrix: matrix)
    #expect(plan.converted == nil)
    #expect(plan.conversion == wanted)
  }

  @Test(arguments: [
    (ColorRange.full, ColorMatrix.bt709), (.full, .bt2020), (.limited, .bt2020),
  ])
  func `what SDL has no conversion for becomes BGRA first`(range: ColorRange, matrix: ColorMatrix) {
    for format in [PixelFormat.i420, .nv12, .i422, .i444] {
      let plan = TexturePlan(format: format, range: range, matrix: matrix)
      #expect(plan.converted == .bgra)
      #expect(plan.layout == .bgra)
    }
  }

  @Test(arguments: [
    (0, 4, 3, CanvasRect(0, 25, 200, 150)), (90, 4, 3, CanvasRect(25, 0, 150, 200)),
    (180, 3, 4, CanvasRect(25, 0, 150, 200)), (270, 3, 4, CanvasRect(0, 25, 200, 150)),
  ])
  func `a picture is whole and in the middle`(
    degrees: Int, width: Int, height: Int, wanted: CanvasRect
  ) {
    let fit = ImageFit(
      width: width * 10, height: height * 10, rotationDegrees: degrees,
      in: CanvasRect(0, 0, 200, 200))
    #expect(fit.shown == wanted)
  }

  @Test func `a player's parts do not overlap and fill the window`() {
    for lanes in [0, 1, 5, 40] {
      let layout = PlayerLayout(CanvasRect(0, 0, 640, 700), lanes: lanes)
      #expect(layout.picture.maxY <= layout.status.y)
      #expect(layout.status.maxY <= layout.scrub.y)
      #expect(layout.scrub.maxY <= layout.lanes.y)
      #expect(layout.lanes.maxY == 700)
      #expect(layout.laneCount <= PlayerLayout.lanesMax)
      for place in [0.0, 0.25, 1.0] {
        #expect(abs(layout.scrubFraction(x: layout.scrubPlace(place)) - place) < 0.01)
      }
    }
  }
}
