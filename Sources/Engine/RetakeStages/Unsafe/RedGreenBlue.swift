import RetakeBuffers

/// The positions of red, green and blue in a packed pixel.
struct PackedLayout {
  var step: Int
  var red: Int
  var green: Int
  var blue: Int

  /// `nil` for formats that are not packed red, green and blue.
  init?(_ format: PixelFormat) {
    switch format {
    case .rgb: (step, red, green, blue) = (3, 0, 1, 2)
    case .bgr: (step, red, green, blue) = (3, 2, 1, 0)
    case .rgba: (step, red, green, blue) = (4, 0, 1, 2)
    case .bgra: (step, red, green, blue) = (4, 2, 1, 0)
    default: return nil
    }
  }
}

extension Frame {
  /// The BT.601 luma of packed pixels: (19595 R + 38470 G + 7471 B + 32768) / 65536. The weights
  /// add up to one, so the range is kept.
  func lumaOfPackedPixels(_ layout: PackedLayout) -> Frame {
    let source = storage.planes[0]
    let made = FrameStorage.make(format: .gray, width: width, height: height) { planes, strides in
      guard let target = planes[0].baseAddress else { return }
      for row in 0..<height {
        // SAFETY: a packed row holds `step` bytes a pixel, a gray row one, and both planes have
        // `height` rows.
        let from = source.base + row * source.stride
        let to = (target + row * strides[0]).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width {
          let pixel = from + x * layout.step
          let luma =
            19_595 &* UInt32(pixel[layout.red]) &+ 38_470 &* UInt32(pixel[layout.green])
            &+ 7_471 &* UInt32(pixel[layout.blue]) &+ 32_768
          to[x] = UInt8(truncatingIfNeeded: luma >> 16)
        }
      }
    }
    withExtendedLifetime(storage) {}
    return described(
      format: .gray, width: width, height: height, matrix: .identity, storage: made)
  }
}
