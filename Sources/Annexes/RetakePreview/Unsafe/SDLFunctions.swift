import Foundation

/// The functions of SDL 2 that are used, by their names in its headers.
///
/// The library is loaded when a window is requested. Everything else works without it.
struct SDLFunctions: @unchecked Sendable {
  // SAFETY: @unchecked because C functions are not Sendable; the table never changes after it is
  // created. Each type below is the function's declaration in the headers of SDL 2.0.18. SDL 2
  // keeps this binary interface in all later versions. The library stays loaded for as long as the
  // process lives.
  typealias Pointer = UnsafeMutableRawPointer
  typealias Text = UnsafePointer<CChar>
  typealias Bytes = UnsafePointer<UInt8>

  let setMainReady: @convention(c) () -> Void
  let initSubSystem: @convention(c) (UInt32) -> Int32
  let quitSubSystem: @convention(c) (UInt32) -> Void
  let getCurrentVideoDriver: @convention(c) () -> Text?
  let getError: @convention(c) () -> Text?
  let setHint: @convention(c) (Text, Text) -> Int32
  let createWindow: @convention(c) (Text, Int32, Int32, Int32, Int32, UInt32) -> Pointer?
  let destroyWindow: @convention(c) (Pointer) -> Void
  let setWindowFullscreen: @convention(c) (Pointer, UInt32) -> Int32
  let setWindowSize: @convention(c) (Pointer, Int32, Int32) -> Void
  let getWindowSize:
    @convention(c) (Pointer, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> Void
  let createRenderer: @convention(c) (Pointer, Int32, UInt32) -> Pointer?
  let createSoftwareRenderer: @convention(c) (Pointer) -> Pointer?
  let destroyRenderer: @convention(c) (Pointer) -> Void
  let getRendererInfo: @convention(c) (Pointer, UnsafeMutableRawPointer) -> Int32
  let getRendererOutputSize:
    @convention(c) (Pointer, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> Int32
  let createSurface: @convention(c) (UInt32, Int32, Int32, Int32, UInt32) -> Pointer?
  let freeSurface: @convention(c) (Pointer) -> Void
  let createTexture: @convention(c) (Pointer, UInt32, Int32, Int32, Int32) -> Pointer?
  let destroyTexture: @convention(c) (Pointer) -> Void
  let setYUVConversionMode: @convention(c) (Int32) -> Void
  let updateYUVTexture:
    @convention(c) (
      Pointer, UnsafeRawPointer?, Bytes, Int32, Bytes, Int32, Bytes, Int32
    ) -> Int32
  let updateNVTexture:
    @convention(c) (Pointer, UnsafeRawPointer?, Bytes, Int32, Bytes, Int32) -> Int32
  let updateTexture: @convention(c) (Pointer, UnsafeRawPointer?, UnsafeRawPointer, Int32) -> Int32
  let setTextureBlendMode: @convention(c) (Pointer, Int32) -> Int32
  let setTextureScaleMode: @convention(c) (Pointer, Int32) -> Int32
  let setTextureColorMod: @convention(c) (Pointer, UInt8, UInt8, UInt8) -> Int32
  let setTextureAlphaMod: @convention(c) (Pointer, UInt8) -> Int32
  let renderClear: @convention(c) (Pointer) -> Int32
  let setRenderDrawColor: @convention(c) (Pointer, UInt8, UInt8, UInt8, UInt8) -> Int32
  let setRenderDrawBlendMode: @convention(c) (Pointer, Int32) -> Int32
  let renderFillRects: @convention(c) (Pointer, UnsafeRawPointer, Int32) -> Int32
  let renderCopy: @convention(c) (Pointer, Pointer, UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
  let renderCopyEx:
    @convention(c) (
      Pointer, Pointer, UnsafeRawPointer?, UnsafeRawPointer?, Double,
      UnsafeRawPointer?, Int32
    ) -> Int32
  let renderSetClipRect: @convention(c) (Pointer, UnsafeRawPointer?) -> Int32
  let renderReadPixels:
    @convention(c) (Pointer, UnsafeRawPointer?, UInt32, UnsafeMutableRawPointer, Int32) ->
      Int32
  let renderFlush: @convention(c) (Pointer) -> Int32
  let renderPresent: @convention(c) (Pointer) -> Void
  let glResetAttributes: @convention(c) () -> Void
  let glSetAttribute: @convention(c) (Int32, Int32) -> Int32
  let glCreateContext: @convention(c) (Pointer) -> Pointer?
  let glDeleteContext: @convention(c) (Pointer) -> Void
  let glMakeCurrent: @convention(c) (Pointer, Pointer) -> Int32
  let glSetSwapInterval: @convention(c) (Int32) -> Int32
  let glGetDrawableSize:
    @convention(c) (Pointer, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> Void
  let glGetProcAddress: @convention(c) (Text) -> Pointer?
  let glSwapWindow: @convention(c) (Pointer) -> Void
  let waitEventTimeout: @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32

  /// - Throws: `PreviewError.noLibrary`, `.oldLibrary`.
  static func load() throws -> SDLFunctions { try loaded.get() }

  private static let loaded = Result { try SDLFunctions() }

  private static let names: [String] = {
    #if canImport(Darwin)
      ["libSDL2-2.0.0.dylib", "libSDL2.dylib"]
    #else
      // The name with the version, because the name without it is part of the development package.
      ["libSDL2-2.0.so.0"]
    #endif
  }()

  private init() throws {
    var failure = ""
    var handle: Pointer?
    for name in Self.names where handle == nil {
      handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)
      if handle == nil { failure = dlerror().map { String(cString: $0) } ?? name }
    }
    guard let library = handle else { throw PreviewError.noLibrary(cause: failure) }
    func symbol<Function>(_ name: String) throws -> Function {
      guard let symbol = dlsym(library, name) else { throw PreviewError.oldLibrary(symbol: name) }
      // SAFETY: the type is the function's declaration, see above.
      return unsafeBitCast(symbol, to: Function.self)
    }
    setMainReady = try symbol("SDL_SetMainReady")
    initSubSystem = try symbol("SDL_InitSubSystem")
    quitSubSystem = try symbol("SDL_QuitSubSystem")
    getCurrentVideoDriver = try symbol("SDL_GetCurrentVideoDriver")
    getError = try symbol("SDL_GetError")
    setHint = try symbol("SDL_SetHint")
    createWindow = try symbol("SDL_CreateWindow")
    destroyWindow = try symbol("SDL_DestroyWindow")
    setWindowFullscreen = try symbol("SDL_SetWindowFullscreen")
    setWindowSize = try symbol("SDL_SetWindowSize")
    getWindowSize = try symbol("SDL_GetWindowSize")
    createRenderer = try symbol("SDL_CreateRenderer")
    createSoftwareRenderer = try symbol("SDL_CreateSoftwareRenderer")
    destroyRenderer = try symbol("SDL_DestroyRenderer")
    getRendererInfo = try symbol("SDL_GetRendererInfo")
    getRendererOutputSize = try symbol("SDL_GetRendererOutputSize")
    createSurface = try symbol("SDL_CreateRGBSurfaceWithFormat")
    freeSurface = try symbol("SDL_FreeSurface")
    createTexture = try symbol("SDL_CreateTexture")
    destroyTexture = try symbol("SDL_DestroyTexture")
    setYUVConversionMode = try symbol("SDL_SetYUVConversionMode")
    updateYUVTexture = try symbol("SDL_UpdateYUVTexture")
    updateNVTexture = try symbol("SDL_UpdateNVTexture")
    updateTexture = try symbol("SDL_UpdateTexture")
    setTextureBlendMode = try symbol("SDL_SetTextureBlendMode")
    setTextureScaleMode = try symbol("SDL_SetTextureScaleMode")
    setTextureColorMod = try symbol("SDL_SetTextureColorMod")
    setTextureAlphaMod = try symbol("SDL_SetTextureAlphaMod")
    renderClear = try symbol("SDL_RenderClear")
    setRenderDrawColor = try symbol("SDL_SetRenderDrawColor")
    setRenderDrawBlendMode = try symbol("SDL_SetRenderDrawBlendMode")
    renderFillRects = try symbol("SDL_RenderFillRects")
    renderCopy = try symbol("SDL_RenderCopy")
    renderCopyEx = try symbol("SDL_RenderCopyEx")
    renderSetClipRect = try symbol("SDL_RenderSetClipRect")
    renderReadPixels = try symbol("SDL_RenderReadPixels")
    renderFlush = try symbol("SDL_RenderFlush")
    renderPresent = try symbol("SDL_RenderPresent")
    glResetAttributes = try symbol("SDL_GL_ResetAttributes")
    glSetAttribute = try symbol("SDL_GL_SetAttribute")
    glCreateContext = try symbol("SDL_GL_CreateContext")
    glDeleteContext = try symbol("SDL_GL_DeleteContext")
    glMakeCurrent = try symbol("SDL_GL_MakeCurrent")
    glSetSwapInterval = try symbol("SDL_GL_SetSwapInterval")
    glGetDrawableSize = try symbol("SDL_GL_GetDrawableSize")
    glGetProcAddress = try symbol("SDL_GL_GetProcAddress")
    glSwapWindow = try symbol("SDL_GL_SwapWindow")
    waitEventTimeout = try symbol("SDL_WaitEventTimeout")
  }

  /// SDL's message for the last call that failed on this thread.
  var errorText: String { getError().map { String(cString: $0) } ?? "" }
}
