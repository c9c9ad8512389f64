import RetakeBuffers
import RetakeCore
import Testing

@testable import RetakeRewrite

@Suite struct RedactedAreaTests {
  private func area(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, in frame: (Int, Int) = (640, 480)
  ) -> [Int]? {
    let box = Box(x: x, y: y, width: width, height: height)
    let area = RedactedArea(
      box, margin: 0.2, frameWidth: frame.0, frameHeight: frame.1, reason: .detected)
    return area.map { [$0.x, $0.y, $0.width, $0.height, $0.cell] }
  }

  @Test func `a box grows by its margin, and to complete cells of a quarter of its side`() {
    // 92...148 and 92...128 with the least margin of 8 pixels.
    #expect(area(100, 100, 40, 20) == [80, 80, 80, 48, 16])
    // -70...490, which is 560 pixels, and -10...130.
    #expect(area(10, 10, 400, 100) == [0, 0, 512, 256, 256])
    #expect(area(10.5, 10, 400, 100) == [0, 0, 512, 256, 256])
    // A box with negative sides is the same box.
    #expect(area(140, 120, -40, -20) == [80, 80, 80, 48, 16])
    #expect(area(60, 40, 10, 10, in: (65, 49)) == [48, 32, 17, 17, 16])
    #expect(area(0, 0, 1, 1, in: (1, 1)) == [0, 0, 1, 1, 16])
  }

  @Test func `a box outside of its frame has no area, and a box without numbers has all of it`() {
    #expect(area(700, 10, 40, 40) == nil)
    #expect(area(10, -60, 40, 40) == nil)
    // The margin reaches into the frame.
    #expect(area(644, 10, 20, 20) == [624, 0, 16, 48, 16])
    for number in [Double.nan, .infinity, -.infinity] {
      #expect(area(number, 10, 40, 40) == [0, 0, 640, 480, 256])
      #expect(area(10, 10, 40, number) == [0, 0, 640, 480, 256])
    }
    #expect(area(-1e300, -1e300, 2e300, 2e300) == [0, 0, 640, 480, 16_384])
  }

  /// Samples of a plane: their values by row and by component of a row.
  private func samples(_ frame: Frame, _ plane: Int) -> [[Int]] {
    var rows: [[Int]] = []
    let isDeep = frame.format.isDeep
    frame.forEachRow(of: plane) { row in
      let bytes = row.map(Int.init)
      rows.append(
        isDeep
          ? stride(from: 0, to: bytes.count, by: 2).map { bytes[$0] | bytes[$0 + 1] << 8 } : bytes)
    }
    return rows
  }

  private static func sample(x: Int, y: Int, isDeep: Bool) -> UInt8 {
    // The upper byte of a deep sample has few bits.
    if isDeep, x % 2 == 1 { return UInt8((x / 2 + y) % 2) }
    return UInt8((x * x + 31 * y) % 251)
  }

  @Test(arguments: PixelFormat.allCases)
  func `each cell is the mean of its samples in each plane, and other samples stay`(
    format: PixelFormat
  ) throws {
    let (width, height) = (71, 53)
    let planes = (0..<format.planeCount).map { plane in
      let count = format.rowBytes(plane: plane, width: width)
      let rows = format.rowCount(plane: plane, height: height)
      return (0..<count * rows).map { place in
        Self.sample(x: place % count, y: place / count, isDeep: format.isDeep)
      }
    }
    let frame = Frame(format: format, width: width, height: height, planes: planes)
    let box = Box(x: 50, y: 30, width: 9, height: 9)
    let area = try #require(
      RedactedArea(
        box, margin: 0, frameWidth: width, frameHeight: height, reason: .detected))
    #expect((area.x, area.y, area.width, area.height, area.cell) == (32, 16, 39, 32, 16))
    let result = try frame.averaged(in: [area])
    #expect(result.hasShape(of: frame))
    for plane in 0..<format.planeCount {
      let (before, after) = (samples(frame, plane), samples(result, plane))
      let isChroma = format.isYUV && (plane == 1 || plane == 2)
      let step = isChroma ? format.chromaStep : (1, 1)
      // Components that a pixel has in a row of this plane.
      let components =
        format.rowBytes(plane: plane, width: 1) / (format.isDeep ? 2 : 1)
      var cells: [[Int]: [(old: Int, new: Int)]] = [:]
      for (row, line) in before.enumerated() {
        for (place, old) in line.enumerated() {
          let (x, y) = (place / components * step.0, row * step.1)
          let new = after[row][place]
          let isInside = (32..<71).contains(x) && (16..<48).contains(y)
          guard isInside else {
            #expect(new == old, "\(plane) \(x) \(y)")
            continue
          }
          cells[[x / 16, y / 16, place % components], default: []].append((old, new))
        }
      }
      #expect(!cells.isEmpty)
      for (cell, samples) in cells {
        let sum = samples.reduce(0) { $0 + $1.old }
        let mean = (2 * sum + samples.count) / (2 * samples.count)
        #expect(samples.allSatisfy { $0.new == mean }, "\(plane) \(cell)")
      }
    }
  }

  @Test func `where areas overlap, the larger cells count`() throws {
    let size = 256
    let plane = (0..<size * size).map { UInt8(($0 * 7 + $0 / size * 13) % 256) }
    let frame = Frame(format: .gray, width: size, height: size, planes: [plane])
    let boxes = [Box(x: 0, y: 0, width: 200, height: 200), Box(x: 8, y: 8, width: 8, height: 8)]
    let areas = boxes.compactMap {
      RedactedArea($0, margin: 0, frameWidth: size, frameHeight: size, reason: .detected)
    }
    #expect(areas.map(\.cell) == [64, 16])
    let result = samples(try frame.averaged(in: areas), 0)
    #expect(Set((0..<32).flatMap { result[$0].prefix(32) }).count == 1)
    #expect(samples(try frame.averaged(in: areas.reversed()), 0) == result)
    #expect(samples(try frame.averaged(in: []), 0) == samples(frame, 0))
  }
}
