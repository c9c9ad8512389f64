import Foundation

/// The functions of OpenGL 2.1 and OpenGL ES 3.0 that are used, by their names in the headers.
struct GLFunctions: @unchecked Sendable {
  // SAFETY: @unchecked because C functions are not Sendable; the table never changes after it is
  // created, and is used on the thread that has the context. Each type below is the function's
  // declaration in Khronos' headers: GLenum and GLuint are UInt32, GLint and GLsizei are Int32.
  typealias Pointer = UnsafeMutableRawPointer
  typealias Text = UnsafePointer<CChar>

  let activeTexture: @convention(c) (UInt32) -> Void
  let attachShader: @convention(c) (UInt32, UInt32) -> Void
  let bindAttribLocation: @convention(c) (UInt32, UInt32, Text) -> Void
  let bindTexture: @convention(c) (UInt32, UInt32) -> Void
  let blendFunc: @convention(c) (UInt32, UInt32) -> Void
  let clear: @convention(c) (UInt32) -> Void
  let clearColor: @convention(c) (Float, Float, Float, Float) -> Void
  let compileShader: @convention(c) (UInt32) -> Void
  let createProgram: @convention(c) () -> UInt32
  let createShader: @convention(c) (UInt32) -> UInt32
  let deleteProgram: @convention(c) (UInt32) -> Void
  let deleteShader: @convention(c) (UInt32) -> Void
  let deleteTextures: @convention(c) (Int32, UnsafePointer<UInt32>) -> Void
  let disable: @convention(c) (UInt32) -> Void
  let drawArrays: @convention(c) (UInt32, Int32, Int32) -> Void
  let enable: @convention(c) (UInt32) -> Void
  let enableVertexAttribArray: @convention(c) (UInt32) -> Void
  let finish: @convention(c) () -> Void
  let flush: @convention(c) () -> Void
  let genTextures: @convention(c) (Int32, UnsafeMutablePointer<UInt32>) -> Void
  let getError: @convention(c) () -> UInt32
  let getIntegerv: @convention(c) (UInt32, UnsafeMutablePointer<Int32>) -> Void
  let getProgramInfoLog:
    @convention(c) (
      UInt32, Int32, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<CChar>
    ) -> Void
  let getProgramiv: @convention(c) (UInt32, UInt32, UnsafeMutablePointer<Int32>) -> Void
  let getShaderInfoLog:
    @convention(c) (
      UInt32, Int32, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<CChar>
    ) -> Void
  let getShaderiv: @convention(c) (UInt32, UInt32, UnsafeMutablePointer<Int32>) -> Void
  let getString: @convention(c) (UInt32) -> UnsafePointer<UInt8>?
  let getUniformLocation: @convention(c) (UInt32, Text) -> Int32
  let linkProgram: @convention(c) (UInt32) -> Void
  let pixelStorei: @convention(c) (UInt32, Int32) -> Void
  let readPixels: @convention(c) (Int32, Int32, Int32, Int32, UInt32, UInt32, Pointer) -> Void
  let scissor: @convention(c) (Int32, Int32, Int32, Int32) -> Void
  let shaderSource:
    @convention(c) (
      UInt32, Int32, UnsafePointer<Text?>, UnsafePointer<Int32>?
    ) -> Void
  let texImage2D:
    @convention(c) (
      UInt32, Int32, Int32, Int32, Int32, Int32, UInt32, UInt32, UnsafeRawPointer?
    ) -> Void
  let texParameteri: @convention(c) (UInt32, UInt32, Int32) -> Void
  let texSubImage2D:
    @convention(c) (
      UInt32, Int32, Int32, Int32, Int32, Int32, UInt32, UInt32, UnsafeRawPointer
    ) -> Void
  let uniform1f: @convention(c) (Int32, Float) -> Void
  let uniform1i: @convention(c) (Int32, Int32) -> Void
  let uniform2f: @convention(c) (Int32, Float, Float) -> Void
  let uniform4f: @convention(c) (Int32, Float, Float, Float, Float) -> Void
  let useProgram: @convention(c) (UInt32) -> Void
  let vertexAttribPointer:
    @convention(c) (
      UInt32, Int32, UInt32, UInt8, Int32, UnsafeRawPointer?
    ) -> Void
  let viewport: @convention(c) (Int32, Int32, Int32, Int32) -> Void

  /// Measures the time that the device needs; `nil` if the driver cannot.
  struct Timers {
    let gen: @convention(c) (Int32, UnsafeMutablePointer<UInt32>) -> Void
    let delete: @convention(c) (Int32, UnsafePointer<UInt32>) -> Void
    let begin: @convention(c) (UInt32, UInt32) -> Void
    let end: @convention(c) (UInt32) -> Void
    let status: @convention(c) (UInt32, UInt32, UnsafeMutablePointer<UInt32>) -> Void
    let result: @convention(c) (UInt32, UInt32, UnsafeMutablePointer<UInt64>) -> Void
  }
  private(set) var timers: Timers?

  /// Call it while a context is current.
  ///
  /// - Throws: `PreviewError.oldLibrary` if the driver lacks a function.
  init(_ sdl: SDLFunctions) throws {
    func find<Function>(_ name: String) -> Function? {
      // SAFETY: the type is the function's declaration, see above.
      sdl.glGetProcAddress(name).map { unsafeBitCast($0, to: Function.self) }
    }
    func symbol<Function>(_ name: String) throws -> Function {
      guard let symbol: Function = find(name) else { throw PreviewError.oldLibrary(symbol: name) }
      return symbol
    }
    activeTexture = try symbol("glActiveTexture")
    attachShader = try symbol("glAttachShader")
    bindAttribLocation = try symbol("glBindAttribLocation")
    bindTexture = try symbol("glBindTexture")
    blendFunc = try symbol("glBlendFunc")
    clear = try symbol("glClear")
    clearColor = try symbol("glClearColor")
    compileShader = try symbol("glCompileShader")
    createProgram = try symbol("glCreateProgram")
    createShader = try symbol("glCreateShader")
    deleteProgram = try symbol("glDeleteProgram")
    deleteShader = try symbol("glDeleteShader")
    deleteTextures = try symbol("glDeleteTextures")
    disable = try symbol("glDisable")
    drawArrays = try symbol("glDrawArrays")
    enable = try symbol("glEnable")
    enableVertexAttribArray = try symbol("glEnableVertexAttribArray")
    finish = try symbol("glFinish")
    flush = try symbol("glFlush")
    genTextures = try symbol("glGenTextures")
    getError = try symbol("glGetError")
    getIntegerv = try symbol("glGetIntegerv")
    getProgramInfoLog = try symbol("glGetProgramInfoLog")
    getProgramiv = try symbol("glGetProgramiv")
    getShaderInfoLog = try symbol("glGetShaderInfoLog")
    getShaderiv = try symbol("glGetShaderiv")
    getString = try symbol("glGetString")
    getUniformLocation = try symbol("glGetUniformLocation")
    linkProgram = try symbol("glLinkProgram")
    pixelStorei = try symbol("glPixelStorei")
    readPixels = try symbol("glReadPixels")
    scissor = try symbol("glScissor")
    shaderSource = try symbol("glShaderSource")
    texImage2D = try symbol("glTexImage2D")
    texParameteri = try symbol("glTexParameteri")
    texSubImage2D = try symbol("glTexSubImage2D")
    uniform1f = try symbol("glUniform1f")
    uniform1i = try symbol("glUniform1i")
    uniform2f = try symbol("glUniform2f")
    uniform4f = try symbol("glUniform4f")
    useProgram = try symbol("glUseProgram")
    vertexAttribPointer = try symbol("glVertexAttribPointer")
    viewport = try symbol("glViewport")
    // A driver may have the names without the extension, so the extension decides.
    if string(GLNumber.extensions).contains("timer_query") {
      let suffix = string(GLNumber.version).hasPrefix("OpenGL ES") ? "EXT" : ""
      if let gen: @convention(c) (Int32, UnsafeMutablePointer<UInt32>) -> Void =
        find("glGenQueries" + suffix),
        let delete: @convention(c) (Int32, UnsafePointer<UInt32>) -> Void =
          find("glDeleteQueries" + suffix),
        let begin: @convention(c) (UInt32, UInt32) -> Void = find("glBeginQuery" + suffix),
        let end: @convention(c) (UInt32) -> Void = find("glEndQuery" + suffix),
        let status: @convention(c) (UInt32, UInt32, UnsafeMutablePointer<UInt32>) -> Void =
          find("glGetQueryObjectuiv" + suffix),
        let result: @convention(c) (UInt32, UInt32, UnsafeMutablePointer<UInt64>) -> Void =
          find("glGetQueryObjectui64v" + suffix)
      {
        timers = Timers(
          gen: gen, delete: delete, begin: begin, end: end, status: status, result: result)
      }
    }
  }

  /// A string of the driver; empty if the driver does not have it.
  func string(_ name: UInt32) -> String {
    // SAFETY: the driver's string ends with a zero and stays where it is.
    getString(name).map { String(cString: $0) } ?? ""
  }
}
