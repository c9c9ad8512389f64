import RetakeBuffers
import Testing

@Suite struct PixelFormatTests {
  @Test func `planes, row bytes and rows of an odd picture, 5 by 3`() {
    let sizes: [(format: PixelFormat, rowBytes: [Int], rows: [Int])] = [
      (.i420, [5, 3, 3], [3, 2, 2]),
      (.i422, [5, 3, 3], [3, 3, 3]),
      (.i444, [5, 5, 5], [3, 3, 3]),
      (.nv12, [5, 6], [3, 2]),
      (.grey, [5], [3]),
      (.rgb, [15], [3]),
      (.bgra, [20], [3]),
      (.rgba, [20], [3]),
    ]
    #expect(sizes.map(\.format) == PixelFormat.allCases)
    for size in sizes {
      let planes = 0..<size.format.planeCount
      #expect(planes.map { size.format.rowBytes(plane: $0, width: 5) } == size.rowBytes)
      #expect(planes.map { size.format.rowCount(plane: $0, height: 3) } == size.rows)
      let total = zip(size.rowBytes, size.rows).reduce(0) { $0 + $1.0 * $1.1 }
      #expect(size.format.visibleBytes(width: 5, height: 3) == total)
    }
  }

  @Test func `even pictures have their textbook sizes`() {
    let pixels = 640 * 480
    let sizes: [(PixelFormat, Int)] = [
      (.i420, pixels * 3 / 2), (.nv12, pixels * 3 / 2), (.i422, pixels * 2), (.i444, pixels * 3),
      (.grey, pixels), (.rgb, pixels * 3), (.bgra, pixels * 4), (.rgba, pixels * 4),
    ]
    for (format, bytes) in sizes {
      #expect(format.visibleBytes(width: 640, height: 480) == bytes, "\(format)")
    }
  }

  @Test func `unlabelled pictures are 601 below 720 lines, else 709`() {
    #expect(ColorMatrix.assumed(height: 719) == .bt601)
    #expect(ColorMatrix.assumed(height: 720) == .bt709)
    #expect(PixelFormat.allCases.filter(\.isYUV) == [.i420, .i422, .i444, .nv12])
  }
}
