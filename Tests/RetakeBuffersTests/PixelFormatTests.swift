import Foundation
import RetakeBuffers
import Testing

@Suite struct PixelFormatTests {
  @Test func `planes, row bytes and rows of an odd picture, 5 by 3`() {
    let sizes: [(format: PixelFormat, rowBytes: [Int], rows: [Int])] = [
      (.i420, [5, 3, 3], [3, 2, 2]),
      (.i422, [5, 3, 3], [3, 3, 3]),
      (.i444, [5, 5, 5], [3, 3, 3]),
      (.nv12, [5, 6], [3, 2]),
      (.gray, [5], [3]),
      (.rgb, [15], [3]),
      (.bgra, [20], [3]),
      (.rgba, [20], [3]),
    ]
    #expect(sizes.map(\.format) == PixelFormat.basic)
    for size in sizes + Self.rarer {
      let planes = 0..<size.format.planeCount
      #expect(planes.map { size.format.rowBytes(plane: $0, width: 5) } == size.rowBytes)
      #expect(planes.map { size.format.rowCount(plane: $0, height: 3) } == size.rows)
      let total = zip(size.rowBytes, size.rows).reduce(0) { $0 + $1.0 * $1.1 }
      #expect(size.format.visibleBytes(width: 5, height: 3) == total)
    }
  }

  private static let rarer: [(format: PixelFormat, rowBytes: [Int], rows: [Int])] = [
    (.i440, [5, 5, 5], [3, 2, 2]),
    (.i411, [5, 2, 2], [3, 3, 3]),
    (.i410, [5, 2, 2], [3, 1, 1]),
    (.i420a, [5, 3, 3, 5], [3, 2, 2, 3]),
    (.bgr, [15], [3]),
    (.i420(bits: 10), [10, 6, 6], [3, 2, 2]),
    (.i422(bits: 12), [10, 6, 6], [3, 3, 3]),
    (.i444(bits: 16), [10, 10, 10], [3, 3, 3]),
    (.gray(bits: 14), [10], [3]),
    (.gbr(bits: 10), [10, 10, 10], [3, 3, 3]),
  ]

  @Test func `each format has a name of its own, and is found by it`() {
    let all = PixelFormat.allCases
    #expect(Set(all).count == all.count && Set(all.map(\.rawValue)).count == all.count)
    #expect(all.prefix(8) == PixelFormat.basic[...] && !all.dropFirst(8).contains { $0.isBasic })
    for format in all {
      #expect(PixelFormat(rawValue: format.rawValue) == format)
      #expect(format.isDeep == (format.bitsPerSample > 8) && !format.eightBits.isDeep)
      #expect(format.nearestBasic.isBasic && (!format.isBasic || format.nearestBasic == format))
    }
    let names = [
      PixelFormat.i420(bits: 10), .gray(bits: 16), .gbr(bits: 12), .i444a, .gray, .rgb, .bgr,
    ]
    #expect(
      names.map(\.rawValue) == ["I420P10", "GRAY16", "GBRP12", "I444A", "GRAY8", "RGB24", "BGR24"])
    #expect(PixelFormat(rawValue: "I420P11") == nil && PixelFormat(rawValue: "NV12P10") == nil)
  }

  @Test func `formats are strings in JSON, as they were`() throws {
    let given: [PixelFormat] = [.i420, .gray, .i420(bits: 10)]
    let text = String(decoding: try JSONEncoder().encode(given), as: UTF8.self)
    #expect(text == #"["I420","GRAY8","I420P10"]"#)
    #expect(try JSONDecoder().decode([PixelFormat].self, from: Data(text.utf8)) == given)
  }

  @Test func `even pictures have their textbook sizes`() {
    let pixels = 640 * 480
    let sizes: [(PixelFormat, Int)] = [
      (.i420, pixels * 3 / 2), (.nv12, pixels * 3 / 2), (.i422, pixels * 2), (.i444, pixels * 3),
      (.gray, pixels), (.rgb, pixels * 3), (.bgra, pixels * 4), (.rgba, pixels * 4),
    ]
    for (format, bytes) in sizes {
      #expect(format.visibleBytes(width: 640, height: 480) == bytes, "\(format)")
    }
  }

  @Test func `unlabelled pictures are 601 below 720 lines, else 709`() {
    #expect(ColorMatrix.assumed(height: 719) == .bt601)
    #expect(ColorMatrix.assumed(height: 720) == .bt709)
    #expect(PixelFormat.basic.filter(\.isYUV) == [.i420, .i422, .i444, .nv12])
  }
}
