import Foundation
import RetakeBuffers
import Testing

@testable import RetakeMedia

/// Deep samples to 8 bits: rounding, and tone mapping by fixed curves.
@Suite struct DepthTests {
  /// A frame of words; each plane is given as its samples.
  private func frame(
    _ format: PixelFormat, _ width: Int, _ height: Int, range: ColorRange = .limited,
    _ planes: [[UInt16]]
  ) -> Frame {
    Frame(
      format: format, width: width, height: height, range: range,
      planes: planes.map { plane in
        plane.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
      })
  }

  @Test func `samples are rounded to the nearest, and the largest stays the largest`() throws {
    let deep = frame(
      .i420(bits: 10), 4, 2, range: .full, [[0, 1, 2, 3, 4, 5, 6, 1023], [512, 514], [1021, 1]])

    let eight = try deep.reducedToEightBits()

    #expect(eight.format == .i420 && eight.range == .full && eight.matrix == deep.matrix)
    #expect(eight.bytes(of: 0) == [0, 0, 1, 1, 1, 1, 2, 255])
    #expect(eight.bytes(of: 1) == [128, 129] && eight.bytes(of: 2) == [255, 0])
  }

  @Test(arguments: PixelFormat.allCases.filter(\.isDeep))
  func `every deep format keeps its planes and their order`(format: PixelFormat) throws {
    let shift = format.bitsPerSample - 8
    let (width, height) = (5, 3)
    let planes = (0..<format.planeCount).map { plane in
      let count =
        format.rowBytes(plane: plane, width: width) / 2
        * format.rowCount(plane: plane, height: height)
      return (0..<count).map { UInt16(40 * plane + $0) << UInt16(shift) }
    }

    let eight = try frame(format, width, height, planes).reducedToEightBits()

    #expect(eight.format == format.eightBits)
    let expected = planes.map { $0.map { UInt8($0 >> UInt16(shift)) } }
    if format.isYUV || format.layout == .gray {
      #expect((0..<eight.format.planeCount).map { eight.bytes(of: $0) } == expected)
    } else {
      // Planes of green, blue, red and opacity; pixels of red, green, blue and opacity.
      let order = [2, 0, 1, 3].prefix(format.planeCount)
      #expect(eight.bytes(of: 0) == (0..<15).flatMap { x in order.map { expected[$0][x] } })
    }
  }

  @Test func `a scaler gives 8 bits, and makes no deep frames`() throws {
    let deep = frame(
      .i444(bits: 12), 2, 1, [[256, 3760], [2048, 2048], [2048, 2048]])
    #expect(try MediaScaler().scale(deep).allBytes == deep.reducedToEightBits().allBytes)
    let rgb = try MediaScaler().scale(deep, format: .rgb)
    #expect(rgb.bytes(of: 0) == [0, 0, 0, 255, 255, 255])
    #expect(throws: MediaError.self) { try MediaScaler().scale(rgb, format: .i420(bits: 10)) }
  }

  @Test func `the curves are those of the standards`() {
    let unit = 16_777_216.0
    for i in 0...1024 {
      let signal = Double(i) / 1024
      check(ToneCurves.perceptual[i], unit * Self.perceptual(signal) / 203)
      check(ToneCurves.hybrid[i], unit * Self.hybrid(signal))
      check(ToneCurves.display[i], 65_536 * pow(signal, 0.2) * 1000 / 203)
    }
    #expect(ToneCurves.codes.count == 255 && ToneCurves.perceptual.count == 1025)
    for (index, light) in ToneCurves.codes.enumerated() {
      check(light, unit * Self.light(ofCode: Double(index) + 0.5))
    }
  }

  /// The nearest integer; a machine's own `pow` may be wrong in its last bits.
  private func check(_ number: Int64, _ exact: Double) {
    #expect(abs(Double(number) - exact) <= 0.501 + exact * 1e-12, "\(number), \(exact)")
  }

  /// SMPTE ST 2084, formula 4.1, in cd/m2.
  private static func perceptual(_ signal: Double) -> Double {
    let m1: Double = 2610.0 / 16384
    let m2: Double = 2523.0 / 4096 * 128
    let c1: Double = 3424.0 / 4096
    let c2: Double = 2413.0 / 4096 * 32
    let c3: Double = 2392.0 / 4096 * 32
    let power: Double = pow(signal, 1.0 / m2)
    let share: Double = max(power - c1, 0.0) / (c2 - c3 * power)
    return 10_000.0 * pow(share, 1.0 / m1)
  }

  /// ITU-R BT.2100, table 5.
  private static func hybrid(_ signal: Double) -> Double {
    let a: Double = 0.17883277
    let b: Double = 1.0 - 4.0 * a
    let c: Double = 0.5 - a * log(4.0 * a)
    return signal <= 0.5 ? signal * signal / 3.0 : (exp((signal - c) / a) + b) / 12.0
  }

  /// The inverse of x (1 + x / w^2) / (1 + x) for the light of an 8-bit code.
  private static func light(ofCode code: Double) -> Double {
    let shown: Double = pow(code / 255.0, 2.4)
    let white: Double = pow(1000.0 / 203.0, 2.0)
    let middle: Double = 1.0 - shown
    let root: Double = (middle * middle + 4.0 * shown / white).squareRoot()
    return white / 2.0 * (root - middle)
  }

  @Test(arguments: [ToneMap.pq, .hlg])
  func `gray stays gray, rises, and has black and white`(map: ToneMap) throws {
    let mapper = try #require(ToneMapper(map))
    var last = -1
    for signal in stride(from: Int64(0), through: ToneMapper.signalMax, by: 64) {
      let (red, green, blue) = mapper.map(signal, signal, signal)
      #expect(red == green && green == blue && Int(red) >= last)
      last = Int(red)
    }
    #expect(mapper.map(0, 0, 0) == (0, 0, 0) && last == 255)
    #expect(ToneMapper(.none) == nil)
  }

  @Test func `the white of text is the same in both, at 75 percent of HLG and 58 of PQ`() throws {
    // ITU-R BT.2408: 203 cd/m2 are 58.1 percent of the PQ signal and 75 of HLG's.
    let (pq, hlg) = (try #require(ToneMapper(.pq)), try #require(ToneMapper(.hlg)))
    let signals = (Int64(0.5806 * 65_536), Int64(0.75 * 65_536))
    let (a, b) = (
      pq.map(signals.0, signals.0, signals.0).0, hlg.map(signals.1, signals.1, signals.1).0
    )
    // x = 1 is shown as (1 + 1/w^2) / 2 of the light, to the power 1/2.4.
    #expect(abs(Int(a) - 194) <= 1 && abs(Int(a) - Int(b)) <= 1, "\(a) \(b)")
  }

  @Test func `HDR frames are mapped by their own range and matrix`() throws {
    // Limited white of 10 bits is 940, and black is 64; red has more red than its neighbors.
    let planes: [[UInt16]] = [[64, 940, 400, 400], [512, 512], [512, 700]]
    var deep = frame(.i422(bits: 10), 4, 1, planes)
    deep.matrix = .bt2020
    let mapped = try deep.toneMapped(try #require(ToneMapper(.pq)))

    #expect(mapped.format == .rgb && mapped.range == .full && mapped.matrix == .identity)
    let bytes = mapped.bytes(of: 0)
    #expect(Array(bytes[..<6]) == [0, 0, 0, 255, 255, 255])
    #expect(bytes[6] > bytes[7] && Array(bytes[6..<9]) == Array(bytes[9..<12]))
    // The same signals as planes of red, green and blue have the same colors.
    let colors = frame(.gbr(bits: 16), 1, 1, range: .full, [[65_535], [65_535], [65_535]])
    #expect(
      try colors.toneMapped(try #require(ToneMapper(.hlg))).bytes(of: 0) == [255, 255, 255])
    let again = try deep.toneMapped(try #require(ToneMapper(.pq)))
    #expect(again.pixelDigest == mapped.pixelDigest)
  }
}
