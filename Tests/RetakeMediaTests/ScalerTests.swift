import Foundation
import RetakeBuffers
import Testing

@testable import RetakeMedia

@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
struct ScalerTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var size = "160x120"
    var pixels = "yuv420p"
    var width: Int
    var height: Int
    var format: PixelFormat
    var algorithm = MediaScaler.Algorithm.area
    /// Options of ffmpeg's scale filter besides size and flags, and filters after it.
    var filter = ""

    var testDescription: String { "\(size) \(pixels) to \(width)x\(height) \(format.rawValue)" }
  }

  static let cases = [
    Case(width: 96, height: 72, format: .i420),
    Case(width: 101, height: 67, format: .i420),
    Case(size: "101x67", width: 64, height: 48, format: .i420),
    Case(size: "101x67", width: 33, height: 21, format: .i420, algorithm: .bilinear),
    Case(width: 320, height: 200, format: .i420, algorithm: .bilinear),
    Case(pixels: "yuvj420p", width: 96, height: 72, format: .i420),
    Case(pixels: "yuv422p", width: 96, height: 72, format: .i422),
    Case(pixels: "nv12", width: 90, height: 70, format: .nv12),
    Case(width: 96, height: 72, format: .nv12, filter: ",format=nv12"),
    Case(width: 96, height: 72, format: .gray, filter: ",format=yuv420p,extractplanes=y"),
    Case(width: 160, height: 120, format: .gray, filter: ",format=yuv420p,extractplanes=y"),
    Case(size: "101x67", width: 60, height: 40, format: .rgb, filter: ",format=rgb24"),
    Case(pixels: "yuvj420p", width: 160, height: 120, format: .rgb, filter: ",format=rgb24"),
    Case(pixels: "rgb24", width: 75, height: 61, format: .rgb),
  ]

  @Test(arguments: cases)
  func `a scaled frame equals the output of ffmpeg's scale filter`(_ one: Case) throws {
    let isFull = one.pixels == "yuvj420p"
    let file = try Clips.make(
      "scale.nut",
      Clips.picture(one.size, frames: 3)
        + ["-c:v", isFull ? "mjpeg" : "rawvideo", "-pix_fmt", one.pixels])
    let text = try Clips.ffmpeg([
      "-flags", "bitexact", "-idct", "simple", "-i", file, "-vf",
      "scale=\(one.width):\(one.height):flags=\(one.algorithm.rawValue)+accurate_rnd+bitexact"
        + one.filter, "-f", "framehash", "-",
    ])
    let expected = String(decoding: text, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { $0.suffix(64) }
    let scaler = MediaScaler(algorithm: one.algorithm)
    let scaled = try decodeAll(file).map {
      try scaler.scale($0.frame, width: one.width, height: one.height, format: one.format)
    }
    #expect(expected.count == 3)
    #expect(scaled.map { $0.frameHash[...] } == expected)
  }

  @Test func `range, matrix, place in time and shape of the picture are kept`() throws {
    var frame = Pictures.noise(.i420, width: 160, height: 120, range: .full)
    frame.rotationDegrees = 90
    frame.id.sequence = 7
    frame.timestamp.nanoseconds = 33
    frame.matrix = .bt709
    let scaled = try MediaScaler().scale(frame, width: 80, height: 30)
    #expect((scaled.range, scaled.matrix) == (.full, .bt709))
    #expect((scaled.id, scaled.timestamp) == (frame.id, frame.timestamp))
    #expect(scaled.rotationDegrees == 90)
    #expect(scaled.sampleAspect == SampleAspect(1, 2))
    let rgb = try MediaScaler().scale(scaled, format: .rgb)
    #expect((rgb.range, rgb.matrix) == (.full, .identity))
  }

  @Test func `gray is the luma plane as it is, in either range`() throws {
    for range in [ColorRange.limited, .full] {
      let frame = Pictures.noise(.i420, width: 101, height: 67, range: range)
      let gray = try MediaScaler().scale(frame, format: .gray)
      #expect(gray.bytes(of: 0) == frame.bytes(of: 0))
      #expect(gray.range == range)
    }
  }

  @Test func `the matrix decides what green is`() throws {
    var frame = Pictures.noise(.i420, width: 64, height: 48)
    frame.matrix = .bt601
    let old = try MediaScaler().scale(frame, format: .rgb)
    frame.matrix = .bt709
    let new = try MediaScaler().scale(frame, format: .rgb)
    #expect(old.allBytes != new.allBytes)
  }

  @Test func `rows that begin anywhere in memory give the same pixels`() throws {
    let whole = Pictures.noise(.i420, width: 201, height: 99)
    let odd = Frame(
      format: .i420, width: 199, height: 99, range: .full,
      storage: FrameStorage(
        planes: whole.storage.planes.map { .init(base: $0.base + 1, stride: $0.stride) }
      ) { withExtendedLifetime(whole) {} })
    let copy = Frame(
      format: .i420, width: 199, height: 99, range: .full, planes: (0..<3).map { odd.bytes(of: $0) }
    )
    for format in PixelFormat.basic {
      let scaler = MediaScaler()
      let left = try scaler.scale(odd, width: 91, height: 45, format: format)
      let right = try scaler.scale(copy, width: 91, height: 45, format: format)
      #expect(left.allBytes == right.allBytes)
    }
  }

  @Test func `every format can be made of every other`() throws {
    for source in PixelFormat.basic {
      let frame = Pictures.noise(source, width: 50, height: 38)
      for target in PixelFormat.basic {
        let result = try MediaScaler().scale(frame, width: 31, height: 22, format: target)
        #expect(result.format == target)
        #expect(result.allBytes.count == target.visibleBytes(width: 31, height: 22))
      }
    }
  }

  @Test func `one scaler used for many sizes gives what fresh ones give`() throws {
    let scaler = MediaScaler()
    for size in [20, 64, 20, 33] {
      let frame = Pictures.noise(.i420, width: 100, height: 80, seed: UInt32(size))
      let used = try scaler.scale(frame, width: size, height: size)
      #expect(used.allBytes == (try MediaScaler().scale(frame, width: size, height: size)).allBytes)
    }
  }

  @Test func `many threads scale at once to the same pixels`() async throws {
    let scalers = MediaScalers()
    let frames = (0..<64).map { Pictures.noise(.i420, width: 120, height: 90, seed: UInt32($0)) }
    let expected = try frames.map { try MediaScaler().scale($0, width: 50, height: 40).pixelDigest }
    let digests = try await withThrowingTaskGroup { group in
      for (index, frame) in frames.enumerated() {
        group.addTask { (index, try scalers.scale(frame, width: 50, height: 40).pixelDigest) }
      }
      return try await group.reduce(into: frames.map { _ in expected[0] }) { $0[$1.0] = $1.1 }
    }
    #expect(digests == expected)
  }

  /// Lent pixels may end where the program's memory ends. The last row of these pixels ends with a
  /// page, and the next page cannot be read.
  @Test(arguments: [PixelFormat.rgb, .bgra, .gray])
  func `nothing is read behind memory without padding`(format: PixelFormat) throws {
    let page = Int(getpagesize())
    let (width, height) = (64, page / 64)
    let count = format.visibleBytes(width: width, height: height)
    let size = (count + page - 1) / page * page
    let block = try #require(
      mmap(nil, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(block, size + page) }
    try #require(mprotect(block + size, page, PROT_NONE) == 0)
    let pixels = Pictures.noise(format, width: width, height: height, seed: 7)
    let base = (block + (size - count)).assumingMemoryBound(to: UInt8.self)
    for (index, byte) in pixels.bytes(of: 0).enumerated() { base[index] = byte }
    let plane = FrameStorage.Plane(
      base: base, stride: format.rowBytes(plane: 0, width: width))
    let lent = Frame(
      format: format, width: width, height: height, range: pixels.range,
      storage: FrameStorage(planes: [plane], isPadded: false) {})
    let scaled = try MediaScaler().scale(lent, width: 33, height: 21, format: .i420)
    #expect(
      scaled.allBytes
        == (try MediaScaler().scale(pixels, width: 33, height: 21, format: .i420)).allBytes)
  }
}
