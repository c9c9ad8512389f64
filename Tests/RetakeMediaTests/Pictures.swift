import RetakeBuffers

/// Images that need no file: a fixed pattern of noise and gradients.
enum Pictures {
  static func noise(
    _ format: PixelFormat, width: Int, height: Int, range: ColorRange = .full, seed: UInt32 = 1
  ) -> Frame {
    var state = seed
    let planes = (0..<format.planeCount).map { plane in
      let row = format.rowBytes(plane: plane, width: width)
      return (0..<row * format.rowCount(plane: plane, height: height)).map { index -> UInt8 in
        state = state &* 1_664_525 &+ 1_013_904_223
        return UInt8(truncatingIfNeeded: Int(state >> 28) + index % row + index / row)
      }
    }
    return Frame(format: format, width: width, height: height, range: range, planes: planes)
  }
}

extension Frame {
  var allBytes: [UInt8] { (0..<format.planeCount).flatMap { bytes(of: $0) } }
}
