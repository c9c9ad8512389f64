import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestFrames
import Testing

@testable import RetakeStages

@Suite struct CropTests {
  private func crop(_ frame: Frame, _ x: Int, _ y: Int, _ width: Int, _ height: Int) throws -> Frame
  {
    try Crop(options: CropOptions(x: x, y: y, width: width, height: height))
      .process(frame, anyContext)
  }

  @Test func `a crop shows its rectangle of the frame`() throws {
    let cut = try crop(frame(.gray, 8, 6) { _, y, x in 10 * y + x }, 3, 2, 2, 3)
    #expect((cut.width, cut.height) == (2, 3))
    #expect(cut.bytes(of: 0) == [23, 24, 33, 34, 43, 44])
  }

  @Test func `a crop copies no pixel and keeps the memory alive`() throws {
    var whole: Frame? = frame(.gray, 8, 6) { _, y, x in 10 * y + x }
    let base = whole?.storage.planes[0].base
    let stride = whole?.storage.planes[0].stride
    let cut = try crop(#require(whole), 1, 1, 7, 5)
    whole = nil
    #expect(cut.storage.planes[0].base == base.map { $0 + (stride ?? 0) + 1 })
    #expect(cut.bytes(of: 0).first == 11)
  }

  @Test func `all planes of I420 are cut at the same place`() throws {
    let cut = try crop(frame(.i420, 8, 8) { plane, y, x in 80 * plane + 8 * y + x }, 4, 2, 3, 3)
    #expect(cut.bytes(of: 0) == [20, 21, 22, 28, 29, 30, 36, 37, 38])
    #expect(cut.bytes(of: 1) == [90, 91, 98, 99])
    #expect(cut.bytes(of: 2) == [170, 171, 178, 179])
  }

  @Test func `an odd offset is rounded down where chroma is coarser`() throws {
    for (format, x, y) in [
      (PixelFormat.i420, 2, 4), (.nv12, 2, 4), (.i422, 2, 5), (.i444, 3, 5), (.gray, 3, 5),
    ] {
      let cut = try crop(frame(format, 10, 10) { _, y, x in 10 * y + x }, 3, 5, 4, 4)
      #expect(cut.bytes(of: 0).first == UInt8(10 * y + x), "\(format)")
      #expect((cut.width, cut.height) == (4, 4))
    }
  }

  @Test func `packed pixels stay whole`() throws {
    let cut = try crop(frame(.rgb, 4, 2) { _, y, x in 20 * y + x }, 1, 1, 2, 1)
    #expect(cut.bytes(of: 0) == [23, 24, 25, 26, 27, 28])
  }

  @Test func `a crop of a crop is one crop`() throws {
    for format in [PixelFormat.i420, .nv12, .i422, .i444, .gray, .rgb, .rgba] {
      let whole = frame(format, 12, 12) { plane, y, x in (60 * plane + 17 * y + x) & 255 }
      let twice = try crop(crop(whole, 2, 4, 9, 8), 4, 2, 5, 5)
      let once = try crop(whole, 6, 6, 5, 5)
      #expect(twice.digest == once.digest, "\(format)")
    }
  }

  @Test func `without a size the crop goes to the edges`() throws {
    let cut = try crop(frame(.gray, 5, 4) { _, y, x in 10 * y + x }, 3, 2, 0, 0)
    #expect(cut.bytes(of: 0) == [23, 24, 33, 34])
  }

  @Test func `a crop outside the frame fails the frame`() throws {
    for (x, y, width, height) in [(0, 0, 9, 1), (8, 0, 1, 1), (0, 6, 0, 0), (4, 4, 4, 3)] {
      let error = #expect(throws: StageError.self) {
        try crop(frame(.gray, 8, 6) { _, _, _ in 0 }, x, y, width, height)
      }
      #expect(error?.code == "crop.outside")
      #expect(error?.severity == .recoverable)
    }
  }

  @Test func `a crop keeps the frame's name, time, range and matrix`() throws {
    var whole = frame(.i420, 8, 8, range: .limited) { _, _, _ in 0 }
    whole.id = FrameID(track: 3, sequence: 4)
    whole.timestamp = Timestamp(nanoseconds: 5)
    whole.matrix = .bt709
    whole.rotationDegrees = 90
    let cut = try crop(whole, 0, 0, 2, 2)
    #expect((cut.id, cut.timestamp, cut.range) == (whole.id, whole.timestamp, .limited))
    #expect((cut.matrix, cut.rotationDegrees) == (.bt709, 90))
  }
}

@Suite struct GrayTests {
  @Test func `the luma plane of YUV is shared, not copied`() {
    for format in [PixelFormat.i420, .i422, .i444, .nv12] {
      let color = frame(format, 6, 4, range: .limited) { plane, y, x in 100 * plane + 6 * y + x }
      let luma = Gray().process(color, anyContext)
      #expect(share(luma, color))
      #expect((luma.format, luma.range, luma.matrix) == (.gray, .limited, .identity))
      #expect(luma.bytes(of: 0) == Array(0..<24))
    }
  }

  @Test func `a gray frame passes as it is`() {
    let given = gray([[1, 2], [3, 4]])
    #expect(share(Gray().process(given, anyContext), given))
  }

  @Test func `packed colors are weighted`() {
    let pixels: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
    let expected: [UInt8] = [76, 150, 29, 255]
    let rgb = Frame(format: .rgb, width: 4, height: 1, planes: [pixels.flatMap(\.self)])
    let rgba = Frame(format: .rgba, width: 4, height: 1, planes: [pixels.flatMap { $0 + [9] }])
    let bgra = Frame(
      format: .bgra, width: 4, height: 1, planes: [pixels.flatMap { $0.reversed() + [9] }])
    for color in [rgb, rgba, bgra] {
      let luma = Gray().process(color, anyContext)
      #expect(luma.bytes(of: 0) == expected)
      #expect(luma.range == color.range)
    }
  }
}

@Suite struct ScalingTests {
  private func scaled(_ frame: Frame, _ width: Int, _ height: Int) throws -> Frame {
    try Downsample(options: DownsampleOptions(width: width, height: height))
      .process(frame, anyContext)
  }

  @Test func `halving takes the mean of four pixels`() throws {
    let small = try scaled(frame(.gray, 64, 32) { _, y, x in (x / 2 % 2) * 100 + y / 2 }, 32, 16)
    #expect((small.width, small.height, small.format) == (32, 16, .gray))
    let expected = frame(.gray, 32, 16) { _, y, x in x % 2 * 100 + y }
    #expect(small.bytes(of: 0) == expected.bytes(of: 0))
  }

  @Test func `a frame of the size asked for passes untouched`() throws {
    let given = frame(.i420, 64, 32) { _, _, x in x }
    #expect(share(try scaled(given, 64, 32), given))
  }

  @Test func `sizes and formats may change from frame to frame`() throws {
    let stage = try Downsample(options: DownsampleOptions(width: 24, height: 20))
    for format in PixelFormat.basic {
      for (width, height) in [(64, 48), (33, 17), (24, 48), (1, 1)] {
        let given = frame(format, width, height, range: .limited) { _, _, _ in 77 }
        let small = stage.process(given, anyContext)
        #expect((small.width, small.height, small.format) == (24, 20, format))
        #expect(small.bytes(of: 0).allSatisfy { $0 == 77 })
      }
    }
  }

  @Test func `a scaled frame keeps its range, matrix and name`() throws {
    var given = frame(.nv12, 64, 48, range: .limited) { _, _, _ in 100 }
    given.matrix = .bt709
    given.id = FrameID(track: 1, sequence: 9)
    let small = try scaled(given, 32, 24)
    #expect((small.range, small.matrix, small.id) == (.limited, .bt709, given.id))
  }

  @Test func `resize grows what is smaller and shrinks what is larger`() throws {
    let stage = try Resize(options: ResizeOptions(width: 32, height: 32))
    for format in PixelFormat.basic {
      for (width, height) in [(9, 5), (200, 100), (3, 90)] {
        let scaled = stage.process(frame(format, width, height) { _, _, _ in 90 }, anyContext)
        #expect((scaled.width, scaled.height, scaled.format) == (32, 32, format))
        #expect(scaled.bytes(of: 0).allSatisfy { $0 == 90 }, "\(format) \(width)x\(height)")
      }
    }
    let given = frame(.i420, 32, 32) { _, _, x in x }
    #expect(share(stage.process(given, anyContext), given))
  }

  @Test func `left to itself, what shrinks becomes the mean of what a pixel covers`() throws {
    let line = frame(.gray, 64, 32) { _, _, x in x == 21 ? 200 : 0 }
    func scaled(_ width: Int, _ height: Int, _ algorithm: ScalingAlgorithm) throws -> [UInt8] {
      let options = ResizeOptions(width: width, height: height, algorithm: algorithm)
      return try Resize(options: options).process(line, anyContext).bytes(of: 0)
    }
    #expect(try scaled(16, 8, .automatic) == scaled(16, 8, .area))
    #expect(try scaled(16, 8, .automatic) != scaled(16, 8, .bilinear))
    #expect(try scaled(16, 8, .automatic).prefix(8) == [0, 0, 0, 0, 0, 50, 0, 0])
    #expect(try scaled(96, 48, .automatic) == scaled(96, 48, .bilinear))
  }

  @Test func `no shape is so odd that it cannot be scaled`() throws {
    for format in PixelFormat.basic {
      for (from, to) in [
        ((1_024, 4), (2, 600)), ((4, 2_048), (900, 1)), ((4_096, 1), (1, 1)), ((1, 1), (1_024, 1)),
        ((5_000, 3), (7, 700)),
      ] {
        let stage = try Resize(options: ResizeOptions(width: to.0, height: to.1))
        let scaled = stage.process(frame(format, from.0, from.1) { _, _, _ in 60 }, anyContext)
        #expect((scaled.width, scaled.height) == to)
        let planes = 0..<format.planeCount
        #expect(
          planes.map { Set(scaled.bytes(of: $0)) } == planes.map { _ in [60] }, "\(format) \(from)")
      }
    }
  }

  @Test func `the mean of what a pixel covers is rounded to the nearest`() {
    let small = gray([[0, 1, 10, 20, 7], [1, 1, 30, 40, 8]]).boxMeans(width: 2, height: 1)
    #expect(small.bytes(of: 0) == [1, 19])
    let large = frame(.nv12, 2, 2) { plane, y, x in 50 * plane + 10 * y + x }
      .boxMeans(width: 4, height: 4)
    #expect(Array(large.bytes(of: 0).prefix(8)) == [0, 0, 1, 1, 0, 0, 1, 1])
    #expect(large.bytes(of: 1) == [50, 51, 50, 51, 50, 51, 50, 51])
    #expect(large.sampleAspect == .square)
    #expect(gray([[1, 2, 3, 4]]).boxMeans(width: 2, height: 1).sampleAspect == SampleAspect(2, 1))
  }

  @Test func `conversion to its own format copies nothing`() throws {
    let given = frame(.nv12, 16, 16) { _, _, _ in 1 }
    let convert = Convert(options: ConvertOptions(format: .nv12))
    #expect(share(convert.process(given, anyContext), given))
    #expect(convert.outputFormat(for: .i420) == .nv12)
  }

  @Test func `conversion to gray is the luma`() throws {
    let given = frame(.i420, 16, 16, range: .limited) { _, y, x in 16 + y + x }
    let convert = Convert(options: ConvertOptions(format: .gray))
    let converted = convert.process(given, anyContext)
    #expect(share(converted, given))
    #expect(converted.digest == Gray().process(given, anyContext).digest)
  }

  @Test func `chroma is laid out anew, not changed`() throws {
    let given = frame(.i420, 32, 16, range: .limited) { plane, y, x in 60 * plane + y + x + 20 }
    let convert = Convert(options: ConvertOptions(format: .nv12))
    let nv12 = convert.process(given, anyContext)
    #expect(nv12.bytes(of: 0) == given.bytes(of: 0))
    let pairs: [[UInt8]] = zip(given.bytes(of: 1), given.bytes(of: 2)).map { [$0, $1] }
    #expect(nv12.bytes(of: 1) == Array(pairs.joined()))
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .i420(bits: 10), .bgra])
  func `BGR24 has the samples of RGB24 in the other order`(format: PixelFormat) {
    let given = frame(format, 32, 16, range: format.isRGB ? .full : .limited) { plane, y, x in
      60 * plane + 3 * y + x + 20
    }
    let colors = [PixelFormat.rgb, .bgr].map {
      Convert(options: ConvertOptions(format: $0)).process(given, anyContext).bytes(of: 0)
    }
    let rgb: [UInt8] = colors[0]
    #expect(rgb.count == 3 * 32 * 16)
    var turned: [UInt8] = []
    for pixel in 0..<rgb.count / 3 { turned += rgb[3 * pixel..<3 * pixel + 3].reversed() }
    #expect(colors[1] == turned)
  }

  @Test func `white is white in every color format, to two levels`() throws {
    let white = frame(.i420, 32, 16, range: .limited) { plane, _, _ in plane == 0 ? 235 : 128 }
    for format in [PixelFormat.rgb, .bgr, .rgba, .bgra] {
      let converted = Convert(options: ConvertOptions(format: format))
        .process(white, anyContext)
      #expect(converted.range == .full)
      // FFmpeg's fixed point results in 253 for limited white.
      #expect(converted.bytes(of: 0).allSatisfy { $0 >= 253 }, "\(format)")
    }
  }
}

/// Colors of a mosaic, compared with OpenCV 4's bilinear demosaicing of the same samples, mirrored at
/// the edges.
@Suite struct DebayerTests {
  private static let samples = [10, 200, 30, 90, 60, 5, 77, 140, 250, 11, 98, 33, 7, 120, 44, 181]
  /// Red, green and blue of each pixel.
  private static let expected: [Mosaic: [Int]] = [
    .rggb: [
      10, 130, 5, 20, 200, 5, 30, 111, 73, 30, 90, 140, 130, 60, 5, 97,
      87, 5, 64, 77, 73, 64, 69, 140, 250, 22, 63, 174, 11, 63, 98, 41,
      112, 98, 33, 161, 250, 7, 120, 174, 18, 120, 98, 44, 151, 98, 39, 181,
    ],
    .bggr: [
      5, 130, 10, 5, 200, 20, 73, 111, 30, 140, 90, 30, 5, 60, 130, 5,
      87, 97, 73, 77, 64, 140, 69, 64, 63, 22, 250, 63, 11, 174, 112, 41,
      98, 161, 33, 98, 120, 7, 250, 120, 18, 174, 151, 44, 98, 181, 39, 98,
    ],
    .gbrg: [
      60, 10, 200, 69, 13, 200, 77, 30, 145, 77, 85, 90, 60, 68, 106, 69,
      5, 106, 77, 68, 84, 77, 140, 62, 34, 250, 11, 47, 118, 11, 61, 98,
      22, 61, 129, 33, 7, 185, 11, 26, 120, 11, 44, 124, 22, 44, 181, 33,
    ],
    .grbg: [
      200, 10, 60, 200, 13, 69, 145, 30, 77, 90, 85, 77, 106, 68, 60, 106,
      5, 69, 84, 68, 77, 62, 140, 77, 11, 250, 34, 11, 118, 47, 22, 98,
      61, 33, 129, 61, 11, 185, 7, 11, 120, 26, 22, 124, 44, 33, 181, 44,
    ],
  ]

  private func colors(_ pattern: Mosaic, _ format: PixelFormat) throws -> Frame {
    // Samples of 16 bits are 256 times as high: their low bytes, which come first, are 0.
    let image = frame(format, 4, 4) { _, y, x in
      !format.isDeep
        ? Self.samples[4 * y + x] : x.isMultiple(of: 2) ? 0 : Self.samples[4 * y + x / 2]
    }
    return try Debayer(options: DebayerOptions(pattern: pattern)).process(image, anyContext)
  }

  @Test(arguments: Mosaic.allCases) func `colors are those of OpenCV`(pattern: Mosaic) throws {
    let made = try colors(pattern, .gray)
    #expect(made.format == .rgb && made.range == .full)
    #expect(made.bytes(of: 0).map { Int($0) } == Self.expected[pattern])
  }

  @Test(arguments: Mosaic.allCases) func `deep samples keep their bits`(pattern: Mosaic) throws {
    let made = try colors(pattern, .gray(bits: 16))
    #expect(made.format == .gbr(bits: 16))
    let expected = try #require(Self.expected[pattern])
    // The planes are green, blue and red. A mean of scaled samples has a fraction of the step more.
    for (plane, color) in [1, 2, 0].enumerated() {
      let bytes = made.bytes(of: plane)
      let values = (0..<16).map { Int(bytes[2 * $0]) | Int(bytes[2 * $0 + 1]) << 8 }
      for (place, value) in values.enumerated() {
        #expect((value + 128) / 256 == expected[3 * place + color], "\(plane) \(place)")
      }
    }
  }

  @Test func `a pattern is required, and a single row has its own neighbors`() throws {
    #expect(throws: OptionError.self) { try Debayer(options: DebayerOptions()) }
    let row = frame(.gray, 4, 1) { _, _, x in 10 * x }
    let made = try Debayer(options: DebayerOptions(pattern: .rggb)).process(row, anyContext)
    #expect(made.bytes(of: 0) == [0, 5, 10, 10, 10, 10, 20, 20, 20, 20, 30, 30])
  }
}
