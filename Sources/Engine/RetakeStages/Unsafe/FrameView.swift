import RetakeBuffers

extension Frame {
  /// The same image with another format, size, matrix and storage; ID, time and other properties
  /// are kept.
  func described(
    format: PixelFormat, width: Int, height: Int, matrix: ColorMatrix, storage: FrameStorage
  ) -> Frame {
    Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      matrix: matrix, rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect,
      storage: storage)
  }

  /// The result of a stage whose allocation failed; it is never read.
  func withoutPixels(format: PixelFormat, width: Int, height: Int) -> Frame {
    described(
      format: format, width: width, height: height, matrix: matrix,
      storage: .withoutRoom(format: format, width: width, height: height))
  }

  /// The luma plane of a YUV or gray frame as a GRAY8 frame that shares its memory.
  func lumaPlaneView() -> Frame {
    precondition(
      !format.isDeep && (format.isYUV || format == .gray), "the first plane is luma of 8 bits")
    // Without chroma no matrix applies.
    return described(
      format: .gray, width: width, height: height, matrix: .identity,
      storage: storage.view([storage.planes[0]]))
  }

  /// A rectangle of the frame that shares its memory. The origin must be even in a direction with
  /// fewer chroma samples than luma samples.
  func rectangleView(x: Int, y: Int, width: Int, height: Int) -> Frame {
    precondition(x >= 0 && y >= 0 && x + width <= self.width && y + height <= self.height)
    let planes = (0..<format.planeCount).map { plane -> FrameStorage.Plane in
      let whole = storage.planes[plane]
      // SAFETY: the origin is inside the frame, and the rows and bytes of each plane grow
      // monotonically with width and height, so every row of the view is inside the plane.
      let offset =
        format.rowCount(plane: plane, height: y) * whole.stride
        + format.rowBytes(plane: plane, width: x)
      return FrameStorage.Plane(base: whole.base + offset, stride: whole.stride)
    }
    return described(
      format: format, width: width, height: height, matrix: matrix, storage: storage.view(planes))
  }
}

extension FrameStorage {
  /// Storage that shares a part of this one's memory, which lives as long as the view does.
  fileprivate func view(_ planes: [Plane]) -> FrameStorage {
    FrameStorage(planes: planes, isPadded: isPadded) { [self] in withExtendedLifetime(self) {} }
  }
}
