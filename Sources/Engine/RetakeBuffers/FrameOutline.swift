package import RetakeCore

/// Everything about a frame except its pixels, and the digest of the pixels.
package struct FrameOutline: Hashable, Sendable {
  package var id: FrameID
  package var timestamp: Timestamp
  package var format: PixelFormat
  package var width: Int
  package var height: Int
  package var range: ColorRange
  package var matrix: ColorMatrix
  package var rotationDegrees: Int
  package var isMirrored: Bool
  package var sampleAspect: SampleAspect
  /// Digest of format, size, colors and pixels, like `Frame.digest`.
  package var digest: Digest128

  package init(_ frame: Frame) {
    id = frame.id
    timestamp = frame.timestamp
    format = frame.format
    width = frame.width
    height = frame.height
    range = frame.range
    matrix = frame.matrix
    rotationDegrees = frame.rotationDegrees
    isMirrored = frame.isMirrored
    sampleAspect = frame.sampleAspect
    digest = frame.digest
  }

  /// The frame, with the memory that contains its pixels.
  package func frame(_ storage: FrameStorage) -> Frame {
    Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      matrix: matrix, rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect,
      storage: storage)
  }
}

extension FrameOutline {
  package func write(to writer: inout ByteWriter) {
    // The order of docs/formats/cache.md and of `init(reading:)`; all three change together.
    writer.append(id.track)
    writer.append(id.sequence)
    writer.append(Int(timestamp.nanoseconds))
    writer.append(format.rawValue)
    writer.append(width)
    writer.append(height)
    writer.append(range.rawValue)
    writer.append(matrix.rawValue)
    // A full circle more: entries of before the mirror keep their form.
    writer.append(rotationDegrees + (isMirrored ? 360 : 0))
    writer.append(Int(sampleAspect.numerator))
    writer.append(Int(sampleAspect.denominator))
    writer.append(digest)
  }

  package init(reading reader: inout ByteReader) throws {
    id = FrameID(track: try reader.integer(), sequence: try reader.integer())
    timestamp = Timestamp(nanoseconds: Int64(try reader.integer()))
    guard let format = PixelFormat(rawValue: try reader.text()) else { throw ByteReader.Mismatch() }
    self.format = format
    (width, height) = (try reader.integer(), try reader.integer())
    // A cache's file may have any bytes. Sides are bounded before memory is computed from them.
    let sides = 1...FrameOutline.sideMax
    guard sides.contains(width), sides.contains(height),
      let range = ColorRange(rawValue: try reader.text()),
      let matrix = ColorMatrix(rawValue: try reader.text())
    else { throw ByteReader.Mismatch() }
    (self.range, self.matrix) = (range, matrix)
    let rotation = try reader.integer()
    isMirrored = rotation >= 360
    rotationDegrees = isMirrored ? rotation - 360 : rotation
    sampleAspect = SampleAspect(
      Int32(truncatingIfNeeded: try reader.integer()),
      Int32(truncatingIfNeeded: try reader.integer()))
    digest = try reader.digest()
  }

  /// The longest side of a stored frame, in pixels.
  private static let sideMax = 1 << 16
}
