import RetakeBuffers
import RetakeMedia

/// The newest image as a texture of SDL's renderer.
///
/// The planes are passed to the renderer unchanged, except for formats that it cannot convert.
final class SDLImage: ImagePainter {
  // SAFETY: the texture belongs to the painter's renderer, which outlives it because of the
  // reference below; it is destroyed once, before another replaces it or in `deinit`.
  private struct Kind: Hashable {
    var layout: TexturePlan.Layout
    /// OpenGL textures keep the conversion that was set when they were created; SDL's software
    /// renderer uses the current one.
    var conversion: TexturePlan.Conversion
    var width: Int
    var height: Int
  }

  private let painter: SDLPainter
  private let scaler = MediaScaler()
  private var texture: SDLFunctions.Pointer?
  private var kind: Kind?
  private var neutral: [UInt8] = []
  private var plan: TexturePlan?

  private var sdl: SDLFunctions { painter.sdl }

  init(_ painter: SDLPainter) {
    self.painter = painter
  }

  deinit {
    if let texture { sdl.destroyTexture(texture) }
  }

  func converted(_ frame: Frame) throws -> Frame {
    let plan = TexturePlan(format: frame.format, range: frame.range, matrix: frame.matrix)
    return try plan.converted.map { try scaler.scale(frame, format: $0) } ?? frame
  }

  func upload(_ frame: Frame) throws {
    let plan = TexturePlan(format: frame.format, range: frame.range, matrix: frame.matrix)
    self.plan = plan
    sdl.setYUVConversionMode(plan.conversion.sdlMode)
    let texture = try prepared(
      Kind(
        layout: plan.layout, conversion: plan.conversion, width: frame.width, height: frame.height))
    guard copy(frame, plan, to: texture) == 0 else {
      throw PreviewError.renderer(step: "loading an image", cause: sdl.errorText)
    }
    withExtendedLifetime(frame) {}
  }

  func draw(_ fit: ImageFit) throws {
    guard let texture, let plan else { return }
    // Set again, because the software renderer converts here and the mode is one for all of SDL.
    sdl.setYUVConversionMode(plan.conversion.sdlMode)
    var target = SDLRect(fit.unturned)
    // At its own size the image is shown pixel by pixel.
    let isScaled = fit.unturned.width != fit.width || fit.unturned.height != fit.height
    _ = sdl.setTextureScaleMode(
      texture, isScaled ? SDLNumber.scaleLinear : SDLNumber.scaleNearest)
    let result =
      fit.degrees == 0 && !fit.isMirrored
      ? sdl.renderCopy(painter.pointer, texture, nil, &target)
      : sdl.renderCopyEx(
        painter.pointer, texture, nil, &target, Double(fit.degrees), nil,
        fit.isMirrored ? SDLNumber.flipHorizontal : 0)
    guard result == 0 else {
      throw PreviewError.renderer(step: "drawing an image", cause: sdl.errorText)
    }
  }

  func finishedNanoseconds() -> [Int64] { [] }

  private func prepared(_ wanted: Kind) throws -> SDLFunctions.Pointer {
    if let texture, kind == wanted { return texture }
    if let texture { sdl.destroyTexture(texture) }
    texture = nil
    guard
      let fresh = sdl.createTexture(
        painter.pointer, wanted.layout.sdlFormat, SDLNumber.streaming,
        Int32(clamping: wanted.width),
        Int32(clamping: wanted.height))
    else { throw PreviewError.renderer(step: "making a texture", cause: sdl.errorText) }
    // An image's own opacity is ignored, so that the ground does not shine through.
    _ = sdl.setTextureBlendMode(fresh, SDLNumber.blendNone)
    (texture, kind) = (fresh, wanted)
    return fresh
  }

  /// SAFETY: each plane has the rows and the stride that the frame's format requires, by the
  /// frame's own rule; the neutral plane is as large as the renderer reads.
  private func copy(
    _ frame: Frame, _ plan: TexturePlan, to texture: SDLFunctions.Pointer
  ) -> Int32 {
    let planes = frame.storage.planes
    let strides = planes.map { Int32(clamping: $0.stride) }
    switch plan.layout {
    case .planar where plan.isGray:
      // 128 is neutral chroma: SDL has no format for luma alone.
      let (width, height) = ((frame.width + 1) / 2, (frame.height + 1) / 2)
      if neutral.count != width * height { neutral = Array(repeating: 128, count: width * height) }
      return neutral.withUnsafeBufferPointer { neutral in
        guard let base = neutral.baseAddress else { return -1 }
        return sdl.updateYUVTexture(
          texture, nil, planes[0].base, strides[0], base, Int32(width), base, Int32(width))
      }
    case .planar:
      return sdl.updateYUVTexture(
        texture, nil, planes[0].base, strides[0], planes[1].base, strides[1], planes[2].base,
        strides[2])
    case .semiPlanar:
      return sdl.updateNVTexture(
        texture, nil, planes[0].base, strides[0], planes[1].base, strides[1])
    case .rgb, .bgra, .rgba:
      return sdl.updateTexture(texture, nil, planes[0].base, strides[0])
    }
  }
}

extension TexturePlan.Layout {
  fileprivate var sdlFormat: UInt32 {
    switch self {
    case .planar: SDLNumber.formatIYUV
    case .semiPlanar: SDLNumber.formatNV12
    case .rgb: SDLNumber.formatRGB24
    case .bgra: SDLNumber.formatARGB8888
    case .rgba: SDLNumber.formatABGR8888
    }
  }
}

extension TexturePlan.Conversion {
  fileprivate var sdlMode: Int32 {
    switch self {
    case .none, .limited601: SDLNumber.modeBT601
    case .limited709: SDLNumber.modeBT709
    case .full601: SDLNumber.modeJPEG
    }
  }
}
