/// A texture of one plane of an image.
final class GLTexture {
  // SAFETY: the texture belongs to a context that outlives it, because the painter that has the
  // context owns it; it is deleted once, in `deinit`. Uploaded pixels have the rows and the stride
  // that the caller names.
  private let gl: GLFunctions
  private let number: UInt32
  private let width: Int
  private let height: Int
  private let layout: Layout

  /// The channels of a texel.
  enum Layout: Hashable {
    case one, two, three, four

    fileprivate var format: UInt32 {
      switch self {
      case .one: GLNumber.luminance
      case .two: GLNumber.luminanceAlpha
      case .three: GLNumber.rgb
      case .four: GLNumber.rgba
      }
    }

    fileprivate var bytes: Int {
      switch self {
      case .one: 1
      case .two: 2
      case .three: 3
      case .four: 4
      }
    }
  }

  init(_ gl: GLFunctions, _ layout: Layout, width: Int, height: Int, filter: Int32) {
    (self.gl, self.layout, self.width, self.height) = (gl, layout, width, height)
    var number: UInt32 = 0
    gl.genTextures(1, &number)
    self.number = number
    gl.bindTexture(GLNumber.texture2D, number)
    for (name, value) in [
      (GLNumber.minFilter, filter), (GLNumber.magFilter, filter),
      (GLNumber.wrapS, GLNumber.clampToEdge), (GLNumber.wrapT, GLNumber.clampToEdge),
    ] {
      gl.texParameteri(GLNumber.texture2D, name, value)
    }
    // Without bits per channel, because such formats have no size in OpenGL ES.
    gl.texImage2D(
      GLNumber.texture2D, 0, Int32(bitPattern: layout.format), Int32(clamping: width),
      Int32(clamping: height), 0, layout.format, GLNumber.unsignedByte, nil)
  }

  deinit {
    var number = number
    gl.deleteTextures(1, &number)
  }

  func bind(unit: UInt32) {
    gl.activeTexture(GLNumber.texture0 + unit)
    gl.bindTexture(GLNumber.texture2D, number)
  }

  /// Copies pixels.
  ///
  /// - Parameter base: The first of `height` rows, each `stride` bytes after the previous row.
  func upload(_ base: UnsafeRawPointer, stride: Int) {
    bind(unit: 0)
    gl.pixelStorei(GLNumber.unpackAlignment, 1)
    if stride % layout.bytes == 0 {
      gl.pixelStorei(GLNumber.unpackRowLength, Int32(clamping: stride / layout.bytes))
      copy(base, row: 0, rows: height)
    } else {
      gl.pixelStorei(GLNumber.unpackRowLength, 0)
      // A row's length is set in pixels, and this stride is not a multiple of a pixel's bytes.
      for row in 0..<height { copy(base + row * stride, row: row, rows: 1) }
    }
  }

  private func copy(_ base: UnsafeRawPointer, row: Int, rows: Int) {
    gl.texSubImage2D(
      GLNumber.texture2D, 0, 0, Int32(clamping: row), Int32(clamping: width),
      Int32(clamping: rows), layout.format, GLNumber.unsignedByte, base)
  }
}
