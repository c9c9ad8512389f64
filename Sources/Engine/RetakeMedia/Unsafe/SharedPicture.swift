package import RetakeBuffers

/// A picture in memory that two processes share: its properties, and the places of its planes.
///
/// Another process may have written `text` and the pixels, so neither is trusted.
package struct SharedPicture: Hashable, Sendable {
  private var format: PixelFormat
  private var width: Int
  private var height: Int
  private var range: ColorRange
  private var matrix: ColorMatrix
  private var rotationDegrees: Int
  private var isMirrored: Bool
  private var sampleAspect: SampleAspect
  private var planes: [FrameArena.Place]

  /// Maximum pixels of a picture, and of one of its sides.
  private static let pixelsMax = 1 << 27
  /// Code that reads vectors or words needs no more in a plane of another process.
  private static let alignment = 16
  /// The words of `text` before the places.
  private static let wordsBefore = 9

  /// - Parameter planes: From the first byte of the memory.
  package init(_ frame: Frame, planes: [FrameArena.Place]) {
    (format, width, height) = (frame.format, frame.width, frame.height)
    (range, matrix) = (frame.range, frame.matrix)
    (rotationDegrees, isMirrored) = (frame.rotationDegrees, frame.isMirrored)
    sampleAspect = frame.sampleAspect
    self.planes = planes
  }

  /// Copies the frame's rows to the beginning of the memory; `nil` if the memory is too small.
  package init?(copying frame: Frame, to address: UInt, byteCount: Int) {
    let layout = PlaneLayout(format: frame.format, width: frame.width, height: frame.height)
    guard layout.count <= byteCount else { return nil }
    let places = zip(layout.offsets, layout.strides).map {
      FrameArena.Place(offset: $0, stride: $1)
    }
    for (plane, place) in places.enumerated() {
      var row = address + UInt(place.offset)
      frame.forEachRow(of: plane) { bytes in
        guard let source = bytes.baseAddress else { return }
        // SAFETY: the row is inside the layout, and the layout inside the memory.
        UnsafeMutableRawPointer(bitPattern: row)?.copyMemory(
          from: source, byteCount: bytes.count)
        row += UInt(place.stride)
      }
    }
    self.init(frame, planes: places)
  }

  /// One line of words.
  package var text: String {
    let words =
      [
        format.rawValue, "\(width)", "\(height)", range.rawValue, matrix.rawValue,
        "\(rotationDegrees)", isMirrored ? "1" : "0", "\(sampleAspect.numerator)",
        "\(sampleAspect.denominator)",
      ] + planes.flatMap { ["\($0.offset)", "\($0.stride)"] }
    return words.joined(separator: " ")
  }

  /// - Returns: `nil` unless the text is a picture.
  package init?(text: Substring) {
    let words = text.split(separator: " ")
    let numbers = words.dropFirst(Self.wordsBefore).compactMap { Int($0) }
    guard words.count >= Self.wordsBefore, words.count - Self.wordsBefore == numbers.count,
      let format = PixelFormat(rawValue: String(words[0])), let width = Int(words[1]),
      let height = Int(words[2]), let range = ColorRange(rawValue: String(words[3])),
      let matrix = ColorMatrix(rawValue: String(words[4])), let rotation = Int(words[5]),
      [0, 90, 180, 270].contains(rotation), let numerator = Int32(words[7]),
      let denominator = Int32(words[8]), numbers.count == 2 * format.planeCount
    else { return nil }
    (self.format, self.width, self.height) = (format, width, height)
    (self.range, self.matrix) = (range, matrix)
    (rotationDegrees, isMirrored) = (rotation, words[6] == "1")
    sampleAspect = SampleAspect(numerator, denominator)
    planes = stride(from: 0, to: numbers.count, by: 2).map {
      FrameArena.Place(offset: numbers[$0], stride: numbers[$0 + 1])
    }
  }

  /// The picture in its place, without a copy.
  ///
  /// - Parameters:
  ///   - address: Of the first of `byteCount` bytes, valid until the release.
  ///   - release: Called once, with the release of the frame.
  /// - Returns: `nil` if the planes are not aligned, or not inside the memory with the bytes that
  ///   vector code reads after a row.
  package func frame(
    at address: UInt, byteCount: Int, release: @escaping @Sendable () -> Void
  ) -> Frame? {
    guard fits(in: byteCount - FrameStorage.padding),
      planes.allSatisfy({ ($0.offset | $0.stride) % Self.alignment == 0 })
    else { return nil }
    // SAFETY: `fits` is true for the planes.
    let found = planes.compactMap { place in
      UnsafePointer<UInt8>(bitPattern: address + UInt(place.offset)).map {
        FrameStorage.Plane(base: $0, stride: place.stride)
      }
    }
    guard found.count == format.planeCount else { return nil }
    return frame(FrameStorage(planes: found, release: release))
  }

  private func frame(_ storage: FrameStorage) -> Frame {
    Frame(
      format: format, width: width, height: height, range: range, matrix: matrix,
      rotationDegrees: rotationDegrees, isMirrored: isMirrored, sampleAspect: sampleAspect,
      storage: storage)
  }

  /// A copy in other memory.
  fileprivate func frame(
    at address: UInt, in memory: ImageMemory
  ) throws(MediaError) -> Frame {
    let layout = PlaneLayout(format: format, width: width, height: height)
    let storage = memory.storage(layout) { block in
      for (plane, place) in planes.enumerated() {
        let rowBytes = format.rowBytes(plane: plane, width: width)
        for row in 0..<format.rowCount(plane: plane, height: height) {
          // SAFETY: `fits` was true, and the block has the rows of the layout.
          let source = address + UInt(place.offset + row * place.stride)
          guard let bytes = UnsafeRawPointer(bitPattern: source) else { continue }
          (block + layout.offsets[plane] + row * layout.strides[plane]).copyMemory(
            from: bytes, byteCount: rowBytes)
        }
      }
    }
    guard let storage else { throw .noMemory(step: "copy an image", file: nil) }
    return frame(storage)
  }

  /// Whether all planes are inside memory of that many bytes.
  fileprivate func fits(in byteCount: Int) -> Bool {
    let sides = 1...Self.pixelsMax
    guard sides.contains(width), sides.contains(height),
      width.multipliedReportingOverflow(by: height).partialValue <= Self.pixelsMax
    else { return false }
    return planes.enumerated().allSatisfy { plane, place in
      let rowBytes = format.rowBytes(plane: plane, width: width)
      let rows = format.rowCount(plane: plane, height: height)
      guard (0...byteCount).contains(place.offset),
        (rowBytes...max(rowBytes, byteCount)).contains(place.stride)
      else { return false }
      // Both factors are bounded, so neither overflows.
      return place.stride * (rows - 1) + rowBytes <= byteCount - place.offset
    }
  }
}

extension ImageMemory {
  /// A copy of a picture in shared memory, which another process may change at any time.
  ///
  /// - Parameter address: Of the first of `byteCount` bytes.
  /// - Returns: `nil` if the picture is not inside the memory.
  /// - Throws: `MediaError.noMemory`.
  package func frame(
    copying picture: SharedPicture, at address: UInt, byteCount: Int
  ) throws(MediaError) -> Frame? {
    guard picture.fits(in: byteCount) else { return nil }
    return try picture.frame(at: address, in: self)
  }
}
