import RetakeBuffers

extension Frame {
  /// Writes the colors of a mosaic into the planes of RGB24 or GBRP.
  func writeColors(of pattern: Mosaic, to made: inout WritableFrame) {
    if format.isDeep {
      // The planes are green, blue and red.
      for (plane, color) in [MosaicColors<UInt16>.Color.green, .blue, .red].enumerated() {
        made.withPlane(plane) { bytes, stride in
          MosaicColors<UInt16>(self, pattern).write([color], to: bytes, stride: stride)
        }
      }
    } else {
      made.withPlane(0) { bytes, stride in
        MosaicColors<UInt8>(self, pattern).write([.red, .green, .blue], to: bytes, stride: stride)
      }
    }
    // The pointers above do not keep the storage: Swift may release it after its last use.
    withExtendedLifetime(storage) {}
  }
}

/// The colors of each pixel of a mosaic.
private struct MosaicColors<Sample: FixedWidthInteger & UnsignedInteger> {
  // SAFETY: columns are below the width and rows below the height of the first plane, which has
  // these samples; `mirrored` keeps neighbors inside. The planes that are written have the size of
  // the frame, with as many samples per pixel as there are colors.

  enum Color { case red, green, blue }

  private let base: UnsafeRawPointer
  private let stride: Int
  private let width: Int
  private let height: Int
  private let red: (column: Int, row: Int)

  init(_ frame: Frame, _ pattern: Mosaic) {
    let plane = frame.storage.planes[0]
    (base, stride) = (UnsafeRawPointer(plane.base), plane.stride)
    (width, height, red) = (frame.width, frame.height, pattern.red)
  }

  func write(_ colors: [Color], to bytes: UnsafeMutableRawBufferPointer, stride: Int) {
    for y in 0..<height {
      let rows = (mirrored(y - 1, height), y, mirrored(y + 1, height))
      let isRedRow = y & 1 == red.row
      for x in 0..<width {
        let columns = (mirrored(x - 1, width), x, mirrored(x + 1, width))
        let isRedColumn = x & 1 == red.column
        for (place, color) in colors.enumerated() {
          let value = self.value(color, columns, rows, isRedColumn, isRedRow)
          bytes.storeBytes(
            of: value, toByteOffset: y * stride + (x * colors.count + place) * Self.bytes,
            as: Sample.self)
        }
      }
    }
  }

  private static var bytes: Int { MemoryLayout<Sample>.size }

  /// Mirrored at the edge pixel, which keeps the color of a sample.
  private func mirrored(_ place: Int, _ count: Int) -> Int {
    // A frame may have a single row or column, whose neighbor is itself.
    place < 0 ? min(1, count - 1) : place < count ? place : max(0, count - 2)
  }

  private func sample(_ x: Int, _ y: Int) -> Int {
    Int(base.loadUnaligned(fromByteOffset: y * stride + x * Self.bytes, as: Sample.self))
  }

  private func value(
    _ color: Color, _ x: (Int, Int, Int), _ y: (Int, Int, Int), _ isRedColumn: Bool,
    _ isRedRow: Bool
  ) -> Sample {
    let isGreen = isRedColumn != isRedRow
    switch color {
    case .green where isGreen: return Sample(sample(x.1, y.1))
    case .green:
      return mean(sample(x.1, y.0), sample(x.1, y.2), sample(x.0, y.1), sample(x.2, y.1))
    case .red, .blue:
      let isInRow = isRedRow == (color == .red)
      let isInColumn = isRedColumn == (color == .red)
      switch (isInRow, isInColumn) {
      case (true, true): return Sample(sample(x.1, y.1))
      case (true, false): return mean(sample(x.0, y.1), sample(x.2, y.1))
      case (false, true): return mean(sample(x.1, y.0), sample(x.1, y.2))
      case (false, false):
        return mean(sample(x.0, y.0), sample(x.2, y.0), sample(x.0, y.2), sample(x.2, y.2))
      }
    }
  }

  private func mean(_ a: Int, _ b: Int) -> Sample { Sample((a + b + 1) / 2) }

  private func mean(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Sample {
    Sample((a + b + c + d + 2) / 4)
  }
}
