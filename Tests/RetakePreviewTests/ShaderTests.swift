import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeTestSupport
import Testing

@testable import RetakePreview

/// The own shaders on real contexts of OpenGL: pixels that were drawn are read back.
extension SDLTests {
  @Suite(
    .oneAtATime(.displays),
    .enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"),
    .enabled(if: TestWindow.hasOpenGL, "libGL.so.1 is not installed: Scripts/setup installs it"))
  final class ShaderTests {
    private let xvfb: Xvfb
    /// In levels of 255, from swscale's accurate conversion.
    private static let levelsMax = 2
    static let drivers = [WindowRenderer.desktop, WindowRenderer.embedded]

    init() throws {
      xvfb = try Xvfb()
      TestDisplay.set(xvfb.display)
    }

    deinit { TestDisplay.set("") }

    @Test(arguments: drivers)
    func `flat fields have the colors of the standards in each format, range and matrix`(
      driver: String
    ) throws {
      let canvas = try TestWindow.open(driver, side: Fields.side)
      for kind in SDLTests.PixelTests.kinds {
        let frame = Fields.frame(kind.format, range: kind.range, matrix: kind.matrix)
        let seen = try Shown.picture(of: frame, on: canvas)
        canvas.painter.present()
        let wanted =
          kind.format.isYUV || kind.format == .gray
          ? Exact.picture(of: frame) : try MediaScaler().scale(frame, format: .bgra)
        #expect(Fields.difference(seen, wanted) <= 1, "\(kind.testDescription)")
      }
    }

    @Test(
      .enabled(if: Exact.hasFFmpeg, "the ffmpeg command is not here: Scripts/setup installs it"),
      arguments: drivers)
    func `every pixel of a gradient is as swscale's accurate conversion gives it`(driver: String)
      throws
    {
      let canvas = try TestWindow.open(driver, side: Ramps.side)
      for format in [PixelFormat.i444, .i420, .nv12] {
        for range in [ColorRange.limited, .full] {
          for matrix in [ColorMatrix.bt601, .bt709, .bt2020] {
            let frame = Ramps.frame(format, range: range, matrix: matrix)
            let seen = try Shown.picture(of: frame, on: canvas)
            canvas.painter.present()
            let levels = Ramps.difference(seen, try Exact.swscale(frame))
            #expect(
              levels <= Self.levelsMax, "\(format.rawValue) \(range.rawValue) \(matrix.rawValue)")
          }
        }
      }
    }

    @Test(arguments: drivers)
    func `a frame taken for another range or matrix would be seen`(driver: String) throws {
      let canvas = try TestWindow.open(driver, side: Fields.side)
      let frame = Fields.frame(.nv12, range: .full, matrix: .bt709)
      let wanted = Exact.picture(of: frame)
      for (range, matrix) in [
        (ColorRange.limited, ColorMatrix.bt709), (.full, .bt601), (.full, .bt2020),
      ] {
        var other = frame
        (other.range, other.matrix) = (range, matrix)
        let seen = try Shown.picture(of: other, on: canvas)
        #expect(Fields.difference(seen, wanted) > 3 * Self.levelsMax)
      }
    }

    @Test(arguments: drivers)
    func `a grading gets each pixel's color and place, its samples, and the frame's time`(
      driver: String
    ) throws {
      let canvas = try TestWindow.open(driver, side: 64)
      var frame = Fields.frame(.nv12, range: .full, matrix: .bt709)
      frame.timestamp = Timestamp(nanoseconds: 250_000_000)
      let grading = Grading(
        """
        vec3 grade(vec3 rgb, vec2 at) {
          if (at.y > 0.5) return at.x > 0.5 ? ycbcrAt(at) : rgbAt(1.0 - at);
          return at.x > 0.5 ? vec3(pictureSize / 255.0, seconds) : 1.0 - rgb;
        }
        """)
      let seen = try Shown.picture(of: frame, on: canvas, grading)
      let plain = try Shown.picture(of: frame, on: canvas)
      // Inverted, at the top on the left.
      let (one, other) = (
        Corners.color(of: seen, at: (8, 8)), Corners.color(of: plain, at: (8, 8))
      )
      #expect(zip(one, other).allSatisfy { abs(255 - Int($0) - Int($1)) <= 1 })
      // The size in pixels, and a quarter of a second.
      #expect(Corners.color(of: seen, at: (56, 8)) == [64, 64, 64])
      // The samples as they are in the frame.
      let luma = frame.bytes(of: 0)[56 * 64 + 56]
      let chroma = frame.bytes(of: 1)[(28 * 64 + 56)...(28 * 64 + 57)]
      #expect(Corners.color(of: seen, at: (56, 56)) == [luma] + chroma)
      // The color of another place.
      #expect(
        Corners.color(of: seen, at: (8, 56)) == Corners.color(of: plain, at: (55, 7)))
    }

    @Test(arguments: drivers)
    func `the grading of the documentation compiles and does what it says`(driver: String) throws {
      let page = try String(
        contentsOf: packageRoot.appending(path: "docs/view.md"), encoding: .utf8)
      let blocks = page.components(separatedBy: "```glsl\n").dropFirst().compactMap {
        $0.components(separatedBy: "\n```").first
      }
      let canvas = try TestWindow.open(driver, side: 64)
      let white = Frame(
        format: .gray, width: 64, height: 64, range: .full,
        planes: [[UInt8](repeating: 255, count: 64 * 64)])
      let seen = try Shown.picture(of: white, on: canvas, Grading(try #require(blocks.first)))
      #expect(blocks.count == 1)
      #expect(Corners.color(of: seen, at: (60, 9)) == [255, 255, 217])
      #expect(Corners.color(of: seen, at: (1, 1)) == [0, 0, 0])
      #expect(Corners.color(of: seen, at: (4, 1)) == [255, 255, 255])
    }

    @Test(arguments: drivers)
    func `a compiler's error names the line of the grading`(driver: String) throws {
      let canvas = try TestWindow.open(driver, side: 16)
      func error(_ code: String) -> PreviewError? {
        var grading = Grading(code)
        grading.path = "warm.glsl"
        return #expect(throws: PreviewError.self) {
          _ = try canvas.painter.makeImage(grading)
        }
      }
      let undeclared = error(
        "// Warm.\nvec3 grade(vec3 rgb, vec2 at) {\n  return rgb * warmth;\n}\n")
      #expect(undeclared?.code == "preview.shader.invalid")
      #expect(undeclared?.place?.description == "warm.glsl, line 3")
      #expect(undeclared?.cause?.contains("warmth") == true)
      // The error is in Retake's code, which calls it.
      #expect(error("vec3 graid(vec3 rgb, vec2 at) { return rgb; }")?.place?.part == nil)
      #expect(error("vec3 grade(vec3 rgb, vec2 at) {")?.place?.file == "warm.glsl")
    }

    @Test func `without OpenGL a grading is refused, and the window says why`() throws {
      let canvas = try TestWindow.open("software", side: 16)
      let error = #expect(throws: PreviewError.self) {
        _ = try canvas.painter.makeImage(Grading("vec3 grade(vec3 rgb, vec2 at) { return rgb; }"))
      }
      #expect(error?.code == "preview.shader.noOpenGL")
      #expect(error?.advice?.contains("SDL_RENDER_DRIVER") == true)
      #expect(canvas.renderer.isSoftware && canvas.renderer.fallbackCause == nil)
    }

    @Test(arguments: [0, 90, 180, 270, -90])
    func `a picture is turned as its metadata says`(degrees: Int) throws {
      let canvas = try TestWindow.open(WindowRenderer.desktop, side: 48)
      var frame = Corners.frame(width: 48, height: 48)
      frame.rotationDegrees = degrees
      let seen = try Shown.picture(of: frame, on: canvas)
      #expect(Corners.clockwise(seen) == Corners.turned(by: (degrees + 360) % 360))
    }

    @Test(arguments: [0, 90, 180, 270])
    func `a mirrored picture is mirrored before it is turned`(degrees: Int) throws {
      let canvas = try TestWindow.open(WindowRenderer.desktop, side: 48)
      var frame = Corners.frame(width: 48, height: 48)
      (frame.rotationDegrees, frame.isMirrored) = (degrees, true)
      let seen = try Shown.picture(of: frame, on: canvas)
      #expect(Corners.clockwise(seen) == Corners.turned(by: degrees, isMirrored: true))
    }

    @Test(arguments: PixelFormat.basic)
    func `odd sizes and rows with any padding are shown whole`(format: PixelFormat) throws {
      let canvas = try TestWindow.open(WindowRenderer.desktop, side: 64)
      let frame = try MediaScaler().scale(
        Corners.frame(width: 48, height: 48), width: 37, height: 37, format: format)
      let wanted = Corners.clockwise(
        try Shown.picture(of: Corners.frame(width: 48, height: 48), on: canvas))
      // As FFmpeg's frames are, and without padding: rows of 37 bytes, and of 111.
      var tight = Frame(
        format: format, width: 37, height: 37, range: frame.range,
        planes: (0..<format.planeCount).map { frame.bytes(of: $0) })
      tight.matrix = frame.matrix
      for frame in [frame, tight] {
        let seen = Corners.clockwise(try Shown.picture(of: frame, on: canvas))
        for (one, other) in zip(seen.joined(), wanted.joined()) where format != .gray {
          #expect(abs(Int(one) - Int(other)) <= 6)
        }
        if format == .gray { #expect(seen[3] == [255, 255, 255]) }
      }
    }
  }
}

/// The texts of shaders, without a device.
@Suite struct ImageShaderTests {
  private let shader = ImageShader(
    samples: .planar, conversion: YCbCrConversion(range: .limited, matrix: .bt709),
    grading: "vec3 grade(vec3 rgb, vec2 at) {\n  return rgb;\n}")

  @Test(arguments: [
    ("0:%(12): error: `warmth' undeclared", "`warmth' undeclared"),
    ("0(%) : error C1503: undefined variable \"warmth\"", "C1503: undefined variable \"warmth\""),
    ("ERROR: 0:%: 'warmth' : undeclared identifier", "'warmth' : undeclared identifier"),
  ])
  func `the messages of Mesa, NVIDIA and ANGLE are read`(message: String, cause: String) {
    let message = message.replacing("%", with: "\(shader.linesBefore + 2)")
    #expect(shader.line(of: message) == 2)
    #expect(ImageShader.cause(of: "warning\n" + message) == cause)
  }

  @Test func `a line that is not the grading's is not named`() {
    for line in [0, shader.linesBefore, shader.linesBefore + 4] {
      #expect(shader.line(of: "0:\(line)(1): error: x") == nil)
    }
    #expect(shader.line(of: "error: linking") == nil)
  }

  @Test func `the grading begins after the lines that are subtracted`() {
    let lines = shader.fragment.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[shader.linesBefore] == "vec3 grade(vec3 rgb, vec2 at) {")
  }

  @Test func `black, white and the primaries of each standard are exact`() {
    for matrix in [ColorMatrix.bt601, .bt709, .bt2020] {
      let conversion = YCbCrConversion(range: .limited, matrix: matrix)
      func rgb(_ y: Float, _ cb: Float, _ cr: Float) -> [Float] {
        let samples = zip([y, cb, cr], conversion.zero).map { $0 / 255 - $1 }
        return (0..<3).map { row in
          (0..<3).reduce(0) { $0 + conversion.matrix[$1 * 3 + row] * samples[$1] }
        }
      }
      #expect(zip(rgb(16, 128, 128), [0, 0, 0]).allSatisfy { abs($0 - $1) < 1e-5 })
      #expect(zip(rgb(235, 128, 128), [1, 1, 1]).allSatisfy { abs($0 - $1) < 1e-5 })
    }
    // Red of BT.709 is (63, 102, 240), by its own weights.
    let red = YCbCrConversion(range: .limited, matrix: .bt709)
    let samples = zip([63, 102, 240] as [Float], red.zero).map { $0 / 255 - $1 }
    let level = (0..<3).reduce(Float(0)) { $0 + red.matrix[$1 * 3] * samples[$1] }
    #expect(abs(level - 1) < 0.01)
  }

  @Test(arguments: [
    ("llvmpipe (LLVM 15.0.6, 256 bits)", true), ("Mesa Intel(R) UHD Graphics 620 (KBL GT2)", false),
    ("NVIDIA GeForce RTX 3060/PCIe/SSE2", false), ("softpipe", true),
    ("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device))", true),
  ])
  func `a driver that computes on the processor is known by its name`(
    device: String, isSoftware: Bool
  ) {
    #expect(WindowRenderer.isSoftware(device: device) == isSoftware)
  }
}

/// The colors of a frame, computed without a renderer.
enum Exact {
  static let hasFFmpeg =
    (try? runCommand("ffmpeg", arguments: ["-version"]))?.status == 0

  /// From the definitions in BT.601, BT.709 and BT.2020, with the nearest chroma sample.
  static func picture(of frame: Frame) -> Frame {
    let (red, blue): (Double, Double) =
      switch frame.matrix {
      case .bt601, .identity: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      case .bt2020: (0.2627, 0.0593)
      }
    let isFull = frame.range == .full
    let planes = (0..<frame.format.planeCount).map { frame.bytes(of: $0) }
    let chromaWidth = frame.format == .i444 ? frame.width : (frame.width + 1) / 2
    let halves = (frame.format == .i444 ? 1 : 2, frame.format.hasHalfRows ? 2 : 1)
    var pixels: [UInt8] = []
    for y in 0..<frame.height {
      for x in 0..<frame.width {
        let sample = y / halves.1 * chromaWidth + x / halves.0
        let (cb, cr): (UInt8, UInt8) =
          switch frame.format {
          case .gray: (128, 128)
          case .nv12: (planes[1][sample * 2], planes[1][sample * 2 + 1])
          default: (planes[1][sample], planes[2][sample])
          }
        let level = Double(planes[0][y * frame.width + x])
        let luma = isFull ? level / 255 : (level - 16) / 219
        let (toBlue, toRed) = (
          (Double(cb) - 128) / (isFull ? 255 : 224), (Double(cr) - 128) / (isFull ? 255 : 224)
        )
        let r = luma + 2 * (1 - red) * toRed
        let b = luma + 2 * (1 - blue) * toBlue
        let g = (luma - red * r - blue * b) / (1 - red - blue)
        pixels += [b, g, r, 1].map { UInt8((max(0, min(1, $0)) * 255).rounded()) }
      }
    }
    return Frame(
      format: .bgra, width: frame.width, height: frame.height, range: .full, planes: [pixels])
  }

  /// By FFmpeg's scaler with all flags for accuracy, which cost too much for a live image.
  static func swscale(_ frame: Frame) throws -> Frame {
    let name =
      switch frame.format {
      case .i444: "yuv444p"
      case .nv12: "nv12"
      default: "yuv420p"
      }
    let size = "\(frame.width)x\(frame.height)"
    let filter =
      "scale=in_color_matrix=\(frame.matrix.rawValue):in_range=\(frame.range.rawValue)"
      + ":out_range=full:flags=bilinear+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact"
    let folder = try TemporaryFolder()
    try Data((0..<frame.format.planeCount).flatMap { frame.bytes(of: $0) })
      .write(to: folder.file("levels.raw"))
    let result = try runFFmpeg(
      arguments: [
        "-v", "error", "-f", "rawvideo", "-pix_fmt", name, "-s", size, "-i", "levels.raw", "-vf",
        filter + ",format=bgra", "-f", "rawvideo", "-",
      ], folder: folder.url)
    try #require(result.stdoutBytes.count == frame.width * frame.height * 4, "\(result.stderr)")
    return Frame(
      format: .bgra, width: frame.width, height: frame.height, range: .full,
      planes: [Array(result.stdoutBytes)])
  }
}

extension PixelFormat {
  fileprivate var hasHalfRows: Bool { self == .i420 || self == .nv12 }
}

/// Luma from left to right and chroma from top to bottom, through all levels.
enum Ramps {
  static let side = 256

  static func frame(_ format: PixelFormat, range: ColorRange, matrix: ColorMatrix) -> Frame {
    let storage = FrameStorage.make(format: format, width: side, height: side) { planes, strides in
      for plane in 0..<format.planeCount {
        let rows = format.rowCount(plane: plane, height: side)
        let rowBytes = format.rowBytes(plane: plane, width: side)
        for y in 0..<rows {
          for x in 0..<rowBytes {
            planes[plane][y * strides[plane] + x] = level(
              format, plane: plane, x: x, across: Double(x) / Double(rowBytes - 1),
              down: Double(y) / Double(rows - 1), range)
          }
        }
      }
    }
    return Frame(
      format: format, width: side, height: side, range: range, matrix: matrix, storage: storage)
  }

  private static func level(
    _ format: PixelFormat, plane: Int, x: Int, across: Double, down: Double, _ range: ColorRange
  ) -> UInt8 {
    let (low, high) = range == .full ? (0.0, 255.0) : (16.0, 235.0)
    guard plane > 0 else { return UInt8((low + (high - low) * across).rounded()) }
    let isSecond = plane == 2 || format == .nv12 && x % 2 == 1
    // One falls while the other rises, in steps of at most a level from sample to sample.
    return UInt8((128 + (isSecond ? 1 : -1) * (down - 0.5) * 120).rounded())
  }

  /// The largest difference of a color in any pixel.
  static func difference(_ one: Frame, _ other: Frame) -> Int {
    var most = 0
    let (a, b) = (one.bytes(of: 0), other.bytes(of: 0))
    for pixel in 0..<side * side {
      for color in 0..<3 {
        most = max(most, abs(Int(a[pixel * 4 + color]) - Int(b[pixel * 4 + color])))
      }
    }
    return most
  }
}
