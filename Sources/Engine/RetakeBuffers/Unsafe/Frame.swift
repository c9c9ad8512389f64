public import RetakeCore

/// One image: its properties, and a reference to its pixels. Copying a `Frame` copies no pixels.
///
/// A stage that reads pixels only with `forEachRow(of:_:)` or `bytes(of:)` returns the same result
/// on every machine, because both leave out the undefined bytes between the rows.
///
/// ```swift
/// let frame = Frame(format: .gray, width: 2, height: 2, planes: [[0, 64, 128, 255]])
/// var bright = 0
/// frame.forEachRow(of: 0) { row in bright += row.count { $0 > 100 } }
/// print(bright, frame.digest)  // 2 pixels are bright
/// ```
public struct Frame: Sendable {
  /// Track and sequence. It is not part of the digest.
  public var id: FrameID
  /// The presentation time. A reader counts it on the session's time line; a stage or a sink gets
  /// it counted from the origin of the run.
  public var timestamp: Timestamp
  /// The layout of the planes, and the bits of a sample.
  public var format: PixelFormat
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  /// The sample values of black and white.
  public var range: ColorRange
  /// How luma and chroma were computed; `identity` for gray and for RGB.
  public var matrix: ColorMatrix
  /// The clockwise rotation, in degrees, that a viewer applies: 0, 90, 180 or 270. It is metadata
  /// only, until a stage applies it.
  public var rotationDegrees: Int
  /// Whether a viewer mirrors the image left to right before it rotates it. It is metadata only,
  /// like the rotation.
  public var isMirrored: Bool
  /// Width of a pixel over its height.
  public var sampleAspect: SampleAspect
  /// The pixels. Several frames may share them, and no one may write to them.
  public let storage: FrameStorage

  /// A frame with existing pixels, which are not copied. If `matrix` is `nil`, a YUV format gets
  /// BT.601 below 720 lines and otherwise BT.709, and gray and RGB get `identity`.
  ///
  /// Ends the process unless width and height are positive and the storage has as many planes as
  /// the format.
  public init(
    id: FrameID = FrameID(track: 0, sequence: 0), timestamp: Timestamp = .zero,
    format: PixelFormat, width: Int, height: Int, range: ColorRange = .limited,
    matrix: ColorMatrix? = nil, rotationDegrees: Int = 0, isMirrored: Bool = false,
    sampleAspect: SampleAspect = .square, storage: FrameStorage
  ) {
    requirement(width > 0 && height > 0, "a frame has pixels")
    requirement(storage.planes.count == format.planeCount, "the storage has the format's planes")
    self.id = id
    self.timestamp = timestamp
    self.format = format
    self.width = width
    self.height = height
    self.range = range
    self.matrix = matrix ?? (format.isYUV ? .assumed(height: height) : .identity)
    self.rotationDegrees = rotationDegrees
    self.isMirrored = isMirrored
    self.sampleAspect = sampleAspect
    self.storage = storage
  }

  package var visibleBytes: Int { format.visibleBytes(width: width, height: height) }

  /// A frame with the given pixels, each plane as visible rows without padding.
  ///
  /// The simplest way to inject a frame in a test.
  public init(
    id: FrameID = FrameID(track: 0, sequence: 0), timestamp: Timestamp = .zero,
    format: PixelFormat, width: Int, height: Int, range: ColorRange = .full, planes: [[UInt8]]
  ) {
    requirement(planes.count == format.planeCount, "one array a plane")
    let storage = FrameStorage.make(format: format, width: width, height: height) {
      writable, strides in
      for plane in 0..<format.planeCount {
        let rowBytes = format.rowBytes(plane: plane, width: width)
        let rows = format.rowCount(plane: plane, height: height)
        requirement(planes[plane].count == rowBytes * rows, "a plane is rows x row bytes")
        planes[plane].withUnsafeBytes { source in
          for row in 0..<rows {
            // SAFETY: both ranges are inside their buffers because of the requirement above.
            writable[plane].baseAddress?.advanced(by: row * strides[plane]).copyMemory(
              from: source.baseAddress!.advanced(by: row * rowBytes), byteCount: rowBytes)
          }
        }
      }
    }
    self.init(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      storage: storage)
  }

  /// Calls `body` with each visible row of a plane, top down.
  @inlinable
  public func forEachRow(of plane: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
    let rowBytes = format.rowBytes(plane: plane, width: width)
    let base = storage.planes[plane].base
    let stride = storage.planes[plane].stride
    for row in 0..<format.rowCount(plane: plane, height: height) {
      // SAFETY: the storage holds `rowCount` rows of at least `rowBytes`, `stride` apart.
      body(UnsafeRawBufferPointer(start: base + row * stride, count: rowBytes))
    }
    withExtendedLifetime(storage) {}
  }

  /// The visible bytes of a plane, rows joined without padding. Copies: for tests and encoders.
  public func bytes(of plane: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(
      format.rowBytes(plane: plane, width: width) * format.rowCount(plane: plane, height: height))
    forEachRow(of: plane) { result.append(contentsOf: $0) }
    return result
  }

  /// XXH3-128 over only the visible bytes of all planes: the frame table's pixel hash.
  package var pixelDigest: Digest128 {
    var hasher = DigestHasher()
    appendPixels(to: &hasher)
    return hasher.finish()
  }

  /// XXH3-128 of the bytes that `digest(into:)` appends. It is computed once for all frames that
  /// share the pixels.
  public var digest: Digest128 {
    let form = FrameStorage.Form(
      format: format, width: width, height: height, range: range, matrix: matrix)
    if let known = storage.knownDigest(of: form) { return known }
    var hasher = DigestHasher()
    digest(into: &hasher)
    let digest = hasher.finish()
    // Two threads may compute it at the same time, and both find the same.
    storage.know(digest, of: form)
    return digest
  }

  /// Sets this frame's digest. The caller knows that the pixels have this digest.
  package func know(_ digest: Digest128) {
    let form = FrameStorage.Form(
      format: format, width: width, height: height, range: range, matrix: matrix)
    storage.know(digest, of: form)
  }

  /// Format, width, height, range, matrix, then the visible rows: a frame as a stage's result.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(format.rawValue)
    hasher.append(Int64(width))
    hasher.append(Int64(height))
    hasher.append(range.rawValue)
    hasher.append(matrix.rawValue)
    appendPixels(to: &hasher)
  }

  /// Appends the visible bytes. A plane without gaps between its rows is appended at once.
  private func appendPixels(to hasher: inout DigestHasher) {
    for (plane, memory) in storage.planes.enumerated() {
      let rowBytes = format.rowBytes(plane: plane, width: width)
      guard memory.stride == rowBytes else {
        forEachRow(of: plane) { hasher.append($0) }
        continue
      }
      // SAFETY: the storage holds `rowCount` rows of `rowBytes` without a gap.
      hasher.append(
        UnsafeRawBufferPointer(
          start: memory.base, count: rowBytes * format.rowCount(plane: plane, height: height)))
    }
    withExtendedLifetime(storage) {}
  }
}
