import RetakeBuffers

/// Draws on a window with OpenGL 2.1 or OpenGL ES 3.0, and Retake's own shaders.
final class GLPainter: CanvasPainter {
  // SAFETY: the context belongs to the window of `target`, which is destroyed after this painter.
  // It is created once in `init` and deleted once in `deinit`; it is used by one thread. Memory for
  // pixels has the rows that are read into it.
  let renderer: WindowRenderer
  let gl: GLFunctions
  /// Pixels in each direction.
  let textureSizeMax: Int
  private let target: CanvasTarget
  private let window: SDLFunctions.Pointer
  private let context: SDLFunctions.Pointer
  private let fill: GLProgram
  private let waitsForDevice: Bool

  private var sdl: SDLFunctions { target.sdl }

  /// The kind of OpenGL that is requested.
  enum Flavour: Hashable, Sendable, CaseIterable {
    case desktop, embedded

    var name: String {
      switch self {
      case .desktop: WindowRenderer.desktop
      case .embedded: WindowRenderer.embedded
      }
    }
  }

  /// Sets the OpenGL attributes of windows that are created from now on.
  static func request(_ flavour: Flavour, _ sdl: SDLFunctions) {
    sdl.glResetAttributes()
    let (profile, major, minor): (Int32, Int32, Int32) =
      switch flavour {
      case .desktop: (0, 2, 1)
      case .embedded: (SDLNumber.glProfileES, 3, 0)
      }
    for (name, value) in [
      (SDLNumber.glProfile, profile), (SDLNumber.glMajor, major), (SDLNumber.glMinor, minor),
      (SDLNumber.glDepth, 0), (SDLNumber.glDoubleBuffer, 1),
    ] {
      _ = sdl.glSetAttribute(name, value)
    }
  }

  /// - Parameter target: A window that was created after `request`.
  /// - Throws: `PreviewError.noWindow`, `.oldLibrary`.
  init(
    _ target: CanvasTarget, _ flavour: Flavour, _ wanted: Canvas.Window
  ) throws {
    let sdl = target.sdl
    guard let window = target.window, let context = sdl.glCreateContext(window) else {
      throw PreviewError.noWindow(cause: sdl.errorText)
    }
    do {
      let gl = try GLFunctions(sdl)
      do {
        fill = try GLProgram(gl, fragment: ImageShader.fill)
      } catch {
        throw PreviewError.noWindow(cause: ImageShader.cause(of: error.message))
      }
      self.gl = gl
    } catch let error as PreviewError {
      sdl.glDeleteContext(context)
      throw error
    }
    (self.target, self.window, self.context) = (target, window, context)
    // A display without a refresh to wait for refuses, and `present` returns at once.
    _ = sdl.glSetSwapInterval(wanted.waitsForScreen ? 1 : 0)
    waitsForDevice = wanted.waitsForDevice
    let device = gl.string(GLNumber.renderer)
    renderer = WindowRenderer(
      name: flavour.name, device: device, isSoftware: WindowRenderer.isSoftware(device: device))
    var most: Int32 = 0
    gl.getIntegerv(GLNumber.textureSizeMax, &most)
    textureSizeMax = Int(most)
    gl.enable(GLNumber.blend)
    gl.blendFunc(GLNumber.sourceAlpha, GLNumber.oneMinusSourceAlpha)
    gl.enableVertexAttribArray(GLProgram.place)
    gl.enableVertexAttribArray(GLProgram.inTexture)
  }

  deinit {
    // With a display that refused a request, SDL's next one would end the process.
    if !DisplayLoss.hasRefused { sdl.glDeleteContext(context) }
  }

  /// Another window may have made its own context the current one.
  func makeCurrent() { _ = sdl.glMakeCurrent(window, context) }

  /// - Throws: `PreviewError.renderer` if a call since the last check failed.
  func check(_ step: String) throws {
    let number = gl.getError()
    guard number != 0 else { return }
    throw PreviewError.renderer(step: step, cause: "OpenGL's error 0x" + String(number, radix: 16))
  }

  var area: CanvasRect {
    var (width, height): (Int32, Int32) = (0, 0)
    sdl.glGetDrawableSize(window, &width, &height)
    return CanvasRect(0, 0, Int(width), Int(height))
  }

  func clear(_ color: CanvasColor) {
    makeCurrent()
    let area = area
    gl.viewport(0, 0, Int32(clamping: area.width), Int32(clamping: area.height))
    gl.clearColor(
      Float(color.red) / 255, Float(color.green) / 255, Float(color.blue) / 255, 1)
    gl.clear(GLNumber.colorBufferBit)
  }

  func fill(_ rects: [CanvasRect], _ color: CanvasColor) {
    guard !rects.isEmpty else { return }
    fill.use(area)
    fill.set("color", color)
    var quads = GLQuads()
    for rect in rects { quads.add(rect) }
    fill.draw(quads.vertices)
  }

  func clip(to rect: CanvasRect?) {
    guard let rect else { return gl.disable(GLNumber.scissorTest) }
    gl.enable(GLNumber.scissorTest)
    // OpenGL's rows begin at the bottom.
    gl.scissor(
      Int32(clamping: rect.x), Int32(clamping: area.height - rect.maxY),
      Int32(clamping: rect.width), Int32(clamping: rect.height))
  }

  func uploaded() { if waitsForDevice { gl.finish() } }

  func flush() { if waitsForDevice { gl.finish() } else { gl.flush() } }

  func present() { sdl.glSwapWindow(window) }

  func picture() throws -> Frame {
    let area = area
    var pixels = [UInt8](repeating: 0, count: area.width * area.height * 4)
    gl.pixelStorei(GLNumber.packAlignment, 4)
    pixels.withUnsafeMutableBytes { pixels in
      guard let base = pixels.baseAddress else { return }
      gl.readPixels(
        0, 0, Int32(clamping: area.width), Int32(clamping: area.height), GLNumber.rgba,
        GLNumber.unsignedByte, base)
    }
    try check("reading pixels")
    let storage = FrameStorage.makeIfRoom(format: .bgra, width: area.width, height: area.height) {
      planes, strides in
      for y in 0..<area.height {
        // OpenGL's rows begin at the bottom.
        let row = (area.height - 1 - y) * area.width * 4
        for x in stride(from: 0, to: area.width * 4, by: 4) {
          let target = y * strides[0] + x
          planes[0][target] = pixels[row + x + 2]
          planes[0][target + 1] = pixels[row + x + 1]
          planes[0][target + 2] = pixels[row + x]
          planes[0][target + 3] = 255
        }
      }
    }
    guard let storage else {
      throw PreviewError.renderer(step: "reading pixels", cause: "there was no memory for them")
    }
    return Frame(
      format: .bgra, width: area.width, height: area.height, range: .full, storage: storage)
  }

  func makeGlyphs() throws -> any GlyphPainter { try GLGlyphs(self) }

  func makeImage(_ grading: Grading?) throws -> any ImagePainter {
    makeCurrent()
    return try GLImage(self, grading)
  }
}

/// Letters from a texture.
final class GLGlyphs: GlyphPainter {
  private let painter: GLPainter
  private let program: GLProgram
  private let texture: GLTexture

  /// - Throws: `PreviewError.renderer`.
  init(_ painter: GLPainter) throws {
    self.painter = painter
    painter.makeCurrent()
    do {
      program = try GLProgram(painter.gl, fragment: ImageShader.letters)
    } catch {
      throw PreviewError.renderer(
        step: "making the letters", cause: ImageShader.cause(of: error.message))
    }
    texture = GLTexture(
      painter.gl, .one, width: GlyphSheet.width, height: GlyphSheet.height,
      filter: GLNumber.nearest)
    GlyphSheet.coverage.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { texture.upload(base, stride: GlyphSheet.width) }
    }
    try painter.check("making the letters")
  }

  func write(_ text: String, x: Int, y: Int, scale: Int, _ color: CanvasColor) {
    var quads = GLQuads()
    let (width, height) = (Float(GlyphSheet.width), Float(GlyphSheet.height))
    for place in GlyphSheet.places(of: text, x: x, y: y, scale: scale) {
      let (left, right) = (Float(place.source.x) / width, Float(place.source.maxX) / width)
      let (top, bottom) = (Float(place.source.y) / height, Float(place.source.maxY) / height)
      quads.add(place.target, [(left, top), (right, top), (right, bottom), (left, bottom)])
    }
    guard !quads.vertices.isEmpty else { return }
    program.use(painter.area)
    program.set("color", color)
    texture.bind(unit: 0)
    painter.gl.uniform1i(program.location("plane0"), 0)
    program.draw(quads.vertices)
  }
}
