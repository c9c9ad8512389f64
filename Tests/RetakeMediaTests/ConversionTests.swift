import RetakeBuffers
import Testing

@testable import RetakeMedia

@Suite struct ConversionTests {
  @Test(arguments: PixelFormat.basic)
  func `every format converts to every other at any size`(from: PixelFormat) throws {
    let sides = [1, 2, 3, 16, 33]
    let shapes = sides.flatMap { width in sides.map { (width, $0) } }
    let strips = [(16_384, 1), (1, 16_384), (40_000, 2)]
    for range in [ColorRange.limited, .full] {
      for (width, height) in shapes + strips {
        let frame = Pictures.noise(from, width: width, height: height, range: range)
        for format in PixelFormat.basic {
          let made = try MediaScaler().scale(frame, format: format)
          #expect((made.width, made.height, made.format) == (width, height, format))
        }
      }
    }
  }
}
