import CFFmpeg
package import RetakeBuffers

/// Scales and converts frames, with the same pixels on every run.
///
/// The prepared context is kept for the next frame of the same kind. It may move between threads,
/// but only one thread at a time uses it. Use `MediaScalers` for several threads.
package final class MediaScaler: @unchecked Sendable {
  // SAFETY: @unchecked because the context is not Sendable; only one thread at a time uses it, by
  // the rule above.

  package enum Algorithm: String, Hashable, Sendable, Codable, CaseIterable {
    /// The mean of the covered pixels; for shrinking.
    case area
    case bilinear
  }

  private let algorithm: Algorithm?
  private var context: ScaleContext?

  /// - Parameter algorithm: nil uses area for shrinking, otherwise bilinear.
  package init(algorithm: Algorithm? = nil) {
    self.algorithm = algorithm
  }

  /// Converts the frame to another size, in pixels, or pixel format; without either it returns an
  /// equal copy.
  ///
  /// Range and matrix are kept; RGB is always full range. The pixel aspect changes so that the
  /// image keeps its shape. Rotation, ID and timestamp are kept. A deep frame is first reduced to 8
  /// bits (`reducedToEightBits`), so the result has 8 bits; only deep gray can also become deep
  /// 4:2:0 of the same size, with its samples as they are.
  /// - Throws: `MediaError.scale` if FFmpeg does not support the conversion or `format` is deep, or
  ///   `.noMemory`.
  package func scale(
    _ original: Frame, width: Int? = nil, height: Int? = nil, format: PixelFormat? = nil
  ) throws(MediaError) -> Frame {
    let width = width ?? original.width
    let height = height ?? original.height
    let format = format ?? original.format.eightBits
    precondition(width > 0 && height > 0, "a frame has pixels")
    if original.isDeepGray(of: format), (width, height) == (original.width, original.height) {
      return try original.withNeutralChroma(format)
    }
    guard !format.isDeep else {
      throw .scale(
        from: original.format.ffmpegName, to: format.ffmpegName,
        cause: "frames are made with 8 bits a sample only")
    }
    let frame = try original.reducedToEightBits()
    let isWhole = width == frame.width && height == frame.height && format == frame.format
    if original.format.isDeep, isWhole { return frame }
    // Vector code reads full groups of pixels, also past the last pixel of a row.
    let isSuitable =
      frame.storage.isPadded
      && frame.storage.planes.allSatisfy {
        UInt(bitPattern: $0.base) % 32 == 0 && $0.stride % 32 == 0
      }
    let source = isSuitable ? frame : try frame.copiedToAlignedStorage()
    let range: ColorRange = format.isRGB ? .full : frame.range
    let storage = try scale(
      source.storage.planes,
      from: ScalePlan.Side(
        width: frame.width, height: frame.height, format: frame.format.ffmpeg, range: frame.range,
        matrix: frame.matrix),
      to: format, width: width, height: height, range: range,
      matrix: frame.matrix == .identity && format.isYUV ? .assumed(height: height) : frame.matrix)
    withExtendedLifetime(source) {}
    var result = Frame(
      id: frame.id, timestamp: frame.timestamp, format: format, width: width, height: height,
      range: range, matrix: Self.matrix(of: format, from: frame, height: height),
      rotationDegrees: frame.rotationDegrees, isMirrored: frame.isMirrored, storage: storage)
    result.sampleAspect = frame.sampleAspect.scaled(
      from: (frame.width, frame.height), to: (width, height))
    return result
  }

  private static func matrix(of format: PixelFormat, from frame: Frame, height: Int) -> ColorMatrix
  {
    guard format.isYUV else { return .identity }
    return frame.matrix == .identity ? .assumed(height: height) : frame.matrix
  }

  /// Converts any FFmpeg format to a supported one, in storage with rows padded to 32 pixels.
  func scale(
    _ planes: [FrameStorage.Plane], from source: ScalePlan.Side, to format: PixelFormat,
    width: Int, height: Int, range: ColorRange, matrix: ColorMatrix
  ) throws(MediaError) -> FrameStorage {
    let shrinks = width < source.width || height < source.height
    let plan = ScalePlan(
      source: source,
      destination: ScalePlan.Side(
        width: width, height: height, format: format.ffmpeg, range: range, matrix: matrix),
      algorithm: algorithm ?? (shrinks ? .area : .bilinear))
    let context = try prepared(plan)
    let paddedWidth = (width + 31) / 32 * 32
    // SAFETY: the storage is new, and wider than the image, because vector code writes full groups
    // of pixels.
    let storage = try FrameStorage.makeIfRoom(format: format, width: paddedWidth, height: height) {
      (targets: [UnsafeMutableRawBufferPointer], strides: [Int]) throws(MediaError) in
      try context.run(from: planes, to: targets, strides: strides)
    }
    guard let storage else { throw .noMemory(step: "scale an image", file: nil) }
    return storage
  }

  private func prepared(_ plan: ScalePlan) throws(MediaError) -> ScaleContext {
    if let context, context.plan == plan { return context }
    let fresh = try ScaleContext(plan)
    context = fresh
    return fresh
  }
}

extension Frame {
  /// Whether the format has this frame's samples as its luma, with more than 8 bits.
  fileprivate func isDeepGray(of other: PixelFormat) -> Bool {
    format.layout == .gray && format.isDeep && other.layout == .i420
      && other.bitsPerSample == format.bitsPerSample
  }

  /// The same picture as deep luma and chroma without color.
  fileprivate func withNeutralChroma(_ target: PixelFormat) throws(MediaError) -> Frame {
    let neutral = UInt16(1) << UInt16(target.bitsPerSample - 1)
    let storage = FrameStorage.makeIfRoom(format: target, width: width, height: height) {
      targets, strides in
      var row = 0
      forEachRow(of: 0) { bytes in
        // SAFETY: the target's luma has as many rows of the same length.
        UnsafeMutableRawBufferPointer(rebasing: targets[0][(row * strides[0])...])
          .copyMemory(from: bytes)
        row += 1
      }
      for plane in 1...2 {
        for place in stride(from: 0, to: targets[plane].count - 1, by: 2) {
          targets[plane].storeBytes(of: neutral.littleEndian, toByteOffset: place, as: UInt16.self)
        }
      }
    }
    guard let storage else { throw .noMemory(step: "convert an image", file: nil) }
    return Frame(
      id: id, timestamp: timestamp, format: target, width: width, height: height, range: range,
      matrix: .assumed(height: height), rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect, storage: storage)
  }

  /// An equal frame whose rows have the alignment that vector code needs.
  fileprivate func copiedToAlignedStorage() throws(MediaError) -> Frame {
    let paddedWidth = (width + 31) / 32 * 32
    let storage = FrameStorage.makeIfRoom(format: format, width: paddedWidth, height: height) {
      targets, strides in
      for plane in 0..<format.planeCount {
        var row = 0
        forEachRow(of: plane) { bytes in
          // SAFETY: the target has as many rows, and each is at least as long.
          UnsafeMutableRawBufferPointer(rebasing: targets[plane][(row * strides[plane])...])
            .copyMemory(from: bytes)
          row += 1
        }
      }
    }
    guard let storage else { throw .noMemory(step: "scale an image", file: nil) }
    return Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      matrix: matrix, rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect,
      storage: storage)
  }
}
