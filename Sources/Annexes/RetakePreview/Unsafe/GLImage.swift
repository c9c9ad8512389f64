import RetakeBuffers
import RetakeMedia

/// The newest image as textures of OpenGL, converted to red, green and blue by a shader while it is
/// drawn: every range and matrix, from the planes as they are in the frame.
final class GLImage: ImagePainter {
  // SAFETY: textures and programs belong to the painter's context; the painter outlives them
  // because of the reference below. Planes have the rows and the stride that the frame's format
  // requires, by the frame's own rule.
  private struct Kind: Hashable {
    var format: PixelFormat
    var width: Int
    var height: Int
  }

  private let painter: GLPainter
  private let grading: Grading?
  private let scaler = MediaScaler()
  private var programs: [ImageShader: GLProgram] = [:]
  private var textures: [GLTexture] = []
  private var kind: Kind?
  private var conversion = YCbCrConversion(range: .full, matrix: .bt709)
  private var seconds: Float = 0
  private var timers: GLTimers?

  private var gl: GLFunctions { painter.gl }

  init(_ painter: GLPainter, _ grading: Grading?) throws {
    (self.painter, self.grading) = (painter, grading)
    // Mesa's processor drivers time the last tile of an image alone.
    if !painter.renderer.isSoftware { timers = gl.timers.map { GLTimers($0) } }
    // At once, so that an error in the grading is reported before a frame is there.
    _ = try program(.semiPlanar)
  }

  func converted(_ frame: Frame) throws -> Frame {
    // The shaders read the formats of cameras; a screen has 8 bits.
    frame.format.isBasic
      ? frame : try scaler.scale(frame, format: frame.format.nearestBasic)
  }

  func upload(_ frame: Frame) throws {
    painter.makeCurrent()
    let planes = frame.storage.planes
    try prepare(Kind(format: frame.format, width: frame.width, height: frame.height))
    for (texture, plane) in zip(textures, planes) {
      texture.upload(plane.base, stride: plane.stride)
    }
    withExtendedLifetime(frame) {}
    conversion = YCbCrConversion(range: frame.range, matrix: frame.matrix)
    seconds = Float(Double(frame.timestamp.nanoseconds) / 1e9)
    try painter.check("loading an image")
  }

  func draw(_ fit: ImageFit) throws {
    guard let kind else { return }
    let samples = ImageShader.Samples(kind.format)
    let program = try program(samples)
    program.use(painter.area)
    for (unit, texture) in textures.enumerated() {
      texture.bind(unit: UInt32(unit))
      gl.uniform1i(program.location("plane\(unit)"), Int32(unit))
    }
    gl.uniform2f(program.location("pictureSize"), Float(kind.width), Float(kind.height))
    gl.uniform1f(program.location("seconds"), seconds)
    // The image's corners, clockwise; turned, the canvas's first corner shows another one.
    let corners: [(Float, Float)] =
      fit.isMirrored ? [(1, 0), (0, 0), (0, 1), (1, 1)] : [(0, 0), (1, 0), (1, 1), (0, 1)]
    var quads = GLQuads()
    quads.add(fit.shown, (0..<4).map { corners[($0 - fit.degrees / 90 + 4) % 4] })
    // An image's own opacity is ignored, so that the ground does not shine through.
    gl.disable(GLNumber.blend)
    let isTimed = timers?.begin() ?? false
    program.draw(quads.vertices)
    if isTimed { timers?.end() }
    gl.enable(GLNumber.blend)
    try painter.check("drawing an image")
  }

  func finishedNanoseconds() -> [Int64] { timers?.finished() ?? [] }

  private func program(_ samples: ImageShader.Samples) throws -> GLProgram {
    let shader = ImageShader(
      samples: samples, conversion: conversion, grading: grading?.code)
    if let known = programs[shader] { return known }
    do {
      let program = try GLProgram(gl, fragment: shader.fragment)
      programs[shader] = program
      return program
    } catch {
      throw PreviewError.shader(
        path: grading?.path, line: shader.line(of: error.message),
        cause: ImageShader.cause(of: error.message))
    }
  }

  private func prepare(_ wanted: Kind) throws {
    guard kind != wanted else { return }
    let most = painter.textureSizeMax
    guard wanted.width <= most, wanted.height <= most else {
      throw PreviewError.renderer(
        step: "making a texture",
        cause: "\(wanted.width)x\(wanted.height) pixels, and at most \(most)x\(most) are possible")
    }
    let format = wanted.format
    textures = (0..<format.planeCount).map { plane in
      let layout = GLTexture.Layout(format, plane: plane)
      return GLTexture(
        gl, layout,
        width: layout.width(format.rowBytes(plane: plane, width: wanted.width)),
        height: format.rowCount(plane: plane, height: wanted.height), filter: GLNumber.linear)
    }
    kind = wanted
  }
}

/// Asks the device how long it took for images, without waiting for it.
final class GLTimers {
  // SAFETY: the queries belong to the painter's context; they are deleted with it.
  private let timers: GLFunctions.Timers
  private var free: [UInt32]
  /// The oldest first.
  private var waiting: [UInt32] = []
  private var open: UInt32?

  /// More than a driver lets wait; beyond them an image is not measured.
  private static let countMax = 8

  init(_ timers: GLFunctions.Timers) {
    self.timers = timers
    free = [UInt32](repeating: 0, count: Self.countMax)
    timers.gen(Int32(Self.countMax), &free)
  }

  func begin() -> Bool {
    guard let next = free.popLast() else { return false }
    timers.begin(GLNumber.timeElapsed, next)
    open = next
    return true
  }

  func end() {
    guard let open else { return }
    timers.end(GLNumber.timeElapsed)
    waiting.append(open)
    self.open = nil
  }

  func finished() -> [Int64] {
    var times: [Int64] = []
    // Ends: at the first that the device has not finished.
    while let oldest = waiting.first {
      var isThere: UInt32 = 0
      timers.status(oldest, GLNumber.queryResultAvailable, &isThere)
      guard isThere != 0 else { break }
      var nanoseconds: UInt64 = 0
      timers.result(oldest, GLNumber.queryResult, &nanoseconds)
      times.append(Int64(clamping: nanoseconds))
      waiting.removeFirst()
      free.append(oldest)
    }
    return times
  }
}

extension GLTexture.Layout {
  fileprivate init(_ format: PixelFormat, plane: Int) {
    switch format {
    case .i420, .i422, .i444, .gray: self = .one
    case .nv12: self = plane == 0 ? .one : .two
    case .rgb: self = .three
    // BGRA and RGBA; all others are converted before.
    default: self = .four
    }
  }

  /// Texels in a row of so many bytes.
  fileprivate func width(_ rowBytes: Int) -> Int {
    switch self {
    case .one: rowBytes
    case .two: rowBytes / 2
    case .three: rowBytes / 3
    case .four: rowBytes / 4
    }
  }
}
