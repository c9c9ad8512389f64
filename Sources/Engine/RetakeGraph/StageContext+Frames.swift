public import RetakeBuffers

/// The memory of the frames that a stage makes.
extension StageContext {
  /// A frame to write to, in memory of the pool of the stage's node. A node without a pool has a
  /// part of the run's memory. Either memory is used again when no stage and no sink refers to the
  /// frame any more, so a frame costs no new memory.
  ///
  /// Its pixels are undefined: they may be the pixels of an earlier frame, so write all of them.
  ///
  /// ```swift
  /// struct Negative: PureStage {
  ///   static let kind = "negative"
  ///   static let inputFormats: [PixelFormat] = [.gray]
  ///
  ///   func process(_ frame: Frame, _ context: StageContext) -> Frame {
  ///     var output = context.makeFrame(like: frame)
  ///     output.copyPixels(of: frame)
  ///     output.forEachRow(of: 0) { _, bytes in
  ///       for x in bytes.indices { bytes[x] = 255 - bytes[x] }
  ///     }
  ///     return output.finish()
  ///   }
  /// }
  /// ```
  ///
  /// No frame is refused: whether the pool has a buffer was decided before the body began. If the
  /// machine has no memory, the frame fails.
  ///
  /// - Parameters:
  ///   - width: Pixels.
  ///   - height: Pixels.
  ///   - matrix: `nil` means BT.601 for a YUV format below 720 lines, and otherwise BT.709.
  public func makeFrame(
    format: PixelFormat, width: Int, height: Int, range: ColorRange = .limited,
    matrix: ColorMatrix? = nil
  ) -> WritableFrame {
    var made = WritableFrame(
      in: supply, format: format, width: width, height: height, range: range, matrix: matrix)
    (made.id, made.timestamp) = (frame, timestamp)
    return made
  }

  /// A frame to write to, with the format, size and properties of another one. Its pixels are
  /// undefined, not a copy of the other frame's pixels.
  public func makeFrame(like other: Frame) -> WritableFrame {
    var made = makeFrame(
      format: other.format, width: other.width, height: other.height, range: other.range,
      matrix: other.matrix)
    (made.id, made.timestamp) = (other.id, other.timestamp)
    (made.rotationDegrees, made.isMirrored) = (other.rotationDegrees, other.isMirrored)
    made.sampleAspect = other.sampleAspect
    return made
  }

  /// Where the frames of this call get their memory; `nil` in a test.
  package var supply: FrameSupply? { run?.memory.flatMap { $0.supply(of: node) } }
}
