/// A pair of shaders, compiled and linked.
final class GLProgram {
  // SAFETY: the program belongs to a context that outlives it, because the painter that has the
  // context owns it; it is deleted once, in `deinit`. Strings are passed with a zero at their end.
  private let gl: GLFunctions
  private let number: UInt32
  private var locations: [String: Int32] = [:]

  /// The attributes of a vertex: its place on the canvas, and in a texture.
  static let place: UInt32 = 0
  static let inTexture: UInt32 = 1
  /// Four floats.
  static let vertexBytes: Int32 = 16
  /// Enough for the errors that a user reads.
  private static let logBytesMax = 4_096

  /// The compiler's message.
  struct Failure: Error, Hashable {
    var message: String
  }

  init(_ gl: GLFunctions, fragment: String) throws(Failure) {
    self.gl = gl
    let vertex = try Self.compile(gl, GLNumber.vertexShader, ImageShader.vertex)
    defer { gl.deleteShader(vertex) }
    let fragment = try Self.compile(gl, GLNumber.fragmentShader, fragment)
    defer { gl.deleteShader(fragment) }
    let number = gl.createProgram()
    gl.attachShader(number, vertex)
    gl.attachShader(number, fragment)
    gl.bindAttribLocation(number, Self.place, "place")
    gl.bindAttribLocation(number, Self.inTexture, "inTexture")
    gl.linkProgram(number)
    var status: Int32 = 0
    gl.getProgramiv(number, GLNumber.linkStatus, &status)
    guard status != 0 else {
      let message = Self.log { gl.getProgramInfoLog(number, $0, nil, $1) }
      gl.deleteProgram(number)
      throw Failure(message: message)
    }
    self.number = number
  }

  deinit { gl.deleteProgram(number) }

  private static func compile(
    _ gl: GLFunctions, _ kind: UInt32, _ code: String
  ) throws(Failure) -> UInt32 {
    let shader = gl.createShader(kind)
    code.withCString { text in
      var text: UnsafePointer<CChar>? = text
      gl.shaderSource(shader, 1, &text, nil)
    }
    gl.compileShader(shader)
    var status: Int32 = 0
    gl.getShaderiv(shader, GLNumber.compileStatus, &status)
    guard status != 0 else {
      let message = log { gl.getShaderInfoLog(shader, $0, nil, $1) }
      gl.deleteShader(shader)
      throw Failure(message: message)
    }
    return shader
  }

  private static func log(_ read: (Int32, UnsafeMutablePointer<CChar>) -> Void) -> String {
    var bytes = [CChar](repeating: 0, count: logBytesMax)
    bytes.withUnsafeMutableBufferPointer { bytes in
      if let base = bytes.baseAddress { read(Int32(bytes.count), base) }
    }
    return String(
      decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The place of a uniform; -1, which setting ignores, if the compiler left it out.
  func location(_ name: String) -> Int32 {
    if let known = locations[name] { return known }
    let location = gl.getUniformLocation(number, name)
    locations[name] = location
    return location
  }

  /// Makes it the program of the calls that follow, for a canvas of this size.
  func use(_ area: CanvasRect) {
    gl.useProgram(number)
    gl.uniform2f(location("canvas"), Float(area.width), Float(area.height))
  }

  func set(_ name: String, _ color: CanvasColor) {
    gl.uniform4f(
      location(name), Float(color.red) / 255, Float(color.green) / 255, Float(color.blue) / 255,
      Float(color.alpha) / 255)
  }

  /// Draws triangles: for each vertex x and y on the canvas, then in the texture.
  func draw(_ vertices: [Float]) {
    vertices.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      // SAFETY: the memory is read by the call of `drawArrays`, for as many vertices as it has.
      gl.vertexAttribPointer(Self.place, 2, GLNumber.float, 0, Self.vertexBytes, base)
      gl.vertexAttribPointer(Self.inTexture, 2, GLNumber.float, 0, Self.vertexBytes, base + 8)
      gl.drawArrays(
        GLNumber.triangles, 0, Int32(clamping: bytes.count / Int(Self.vertexBytes)))
    }
  }
}
