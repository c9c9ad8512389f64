public import RetakeCore

/// A frame that can still be written to. `finish` makes a `Frame` of it, which cannot.
///
/// It has one owner and cannot be copied. So the compiler refuses code that writes to it after
/// `finish`: "'output' used after consume". If it is not finished, its memory goes back.
///
/// ```swift
/// func process(_ frame: Frame, _ context: StageContext) -> Frame {
///   var output = context.makeFrame(like: frame)
///   output.forEachRow(of: 0) { row, bytes in
///     for x in bytes.indices { bytes[x] = UInt8(truncatingIfNeeded: row &+ x) }
///   }
///   return output.finish()
/// }
/// ```
///
/// Its pixels are undefined until they are written: the memory may contain an earlier frame.
/// `retake verify` fills it with a pattern, and names a stage whose output has bytes that it did
/// not write.
public struct WritableFrame: ~Copyable, Sendable {
  // SAFETY: the memory has the rows of the layout, and no other code reads or writes it as long as
  // this value exists, which is not copyable. The closures get only these rows.

  /// Track and sequence, as in `Frame`.
  public var id = FrameID(track: 0, sequence: 0)
  /// The presentation time, as in `Frame`.
  public var timestamp = Timestamp.zero
  /// The layout of the planes.
  public let format: PixelFormat
  /// Pixels.
  public let width: Int
  /// Pixels.
  public let height: Int
  /// The sample values of black and white.
  public var range: ColorRange
  /// How luma and chroma were computed; `identity` for gray and for RGB.
  public var matrix: ColorMatrix
  /// The clockwise rotation, in degrees, that a viewer applies: 0, 90, 180 or 270.
  public var rotationDegrees = 0
  /// Whether a viewer mirrors the image left to right before it rotates it.
  public var isMirrored = false
  /// Width of a pixel over its height.
  public var sampleAspect = SampleAspect.square
  /// `nil` if there was no memory. Then no pixels are written, and the frame fails.
  private let lease: PixelLease?
  private let layout: PlaneLayout

  /// - Parameter lease: As long as the layout and the padding.
  init(
    _ lease: PixelLease?, format: PixelFormat, width: Int, height: Int, range: ColorRange,
    matrix: ColorMatrix?
  ) {
    requirement(width > 0 && height > 0, "a frame has pixels")
    self.lease = lease
    layout = PlaneLayout(format: format, width: width, height: height)
    (self.format, self.width, self.height, self.range) = (format, width, height, range)
    self.matrix = matrix ?? (format.isYUV ? .assumed(height: height) : .identity)
  }

  /// A frame in the memory of a supply, or of the heap.
  package init(
    in supply: FrameSupply?, format: PixelFormat, width: Int, height: Int, range: ColorRange,
    matrix: ColorMatrix?
  ) {
    let bytes = PlaneLayout(format: format, width: width, height: height).count
    self.init(
      .make(bytes + FrameStorage.padding, from: supply ?? .current), format: format, width: width,
      height: height, range: range, matrix: matrix)
  }

  /// Calls `body` with the number of each visible row of a plane, top down, and its bytes.
  ///
  /// The bytes must not be used after `body` has returned.
  public mutating func forEachRow(
    of plane: Int, _ body: (_ row: Int, _ bytes: UnsafeMutableRawBufferPointer) -> Void
  ) {
    let rowBytes = format.rowBytes(plane: plane, width: width)
    write(plane) { bytes, stride in
      for row in 0..<format.rowCount(plane: plane, height: height) {
        let start = row * stride
        body(row, UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + rowBytes]))
      }
    }
  }

  /// Calls `body` with the bytes of a plane and the distance between its rows, for code that writes
  /// a plane at once. Bytes between the rows may be written, and are not part of the frame.
  ///
  /// The bytes must not be used after `body` has returned. If there was no memory for the frame,
  /// `body` is not called.
  public mutating func withPlane(
    _ plane: Int, _ body: (_ bytes: UnsafeMutableRawBufferPointer, _ stride: Int) -> Void
  ) {
    write(plane, body)
  }

  private func write(
    _ plane: Int, _ body: (_ bytes: UnsafeMutableRawBufferPointer, _ stride: Int) -> Void
  ) {
    guard let lease else { return }
    let stride = layout.strides[plane]
    // SAFETY: see above; the lease is held by this value until the end of the call.
    body(
      UnsafeMutableRawBufferPointer(
        start: lease.base + layout.offsets[plane],
        count: stride * format.rowCount(plane: plane, height: height)), stride)
    withExtendedLifetime(lease) {}
  }

  /// Copies the pixels of a frame of the same format and size; with another frame, the process
  /// ends.
  public mutating func copyPixels(of frame: Frame) {
    requirement(
      frame.format == format && frame.width == width && frame.height == height,
      "pixels are copied from a frame of the same format and size")
    for plane in 0..<format.planeCount {
      write(plane) { bytes, stride in
        var start = 0
        frame.forEachRow(of: plane) { row in
          UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + row.count])
            .copyMemory(from: row)
          start += stride
        }
      }
    }
  }

  /// The finished frame, which no one can write to any more. Its memory goes back to its pool with
  /// the last reference to it.
  ///
  /// If there was no memory for it, the frame that the stage works on fails, with the code
  /// `frame.memory`. Outside of a run, the process ends.
  public consuming func finish() -> Frame {
    Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      matrix: matrix, rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect,
      storage: lease.map { FrameStorage($0, layout) }
        ?? .withoutRoom(format: format, width: width, height: height))
  }
}
