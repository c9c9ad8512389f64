import RetakeBuffers
import RetakeMedia

extension Frame {
  /// Writes the rows of one field, and rows between them that are interpolated.
  func writeDeinterlaced(keeping field: VideoField, to made: inout WritableFrame) {
    for plane in 0..<format.planeCount {
      let rows = FieldRows(self, plane, field)
      made.withPlane(plane) { bytes, stride in
        guard let base = bytes.baseAddress else { return }
        if format.isDeep {
          rows.write(UInt16.self, to: base, stride: stride)
        } else {
          rows.write(UInt8.self, to: base, stride: stride)
        }
      }
    }
    // The pointers above do not keep the storage: Swift may release it after its last use.
    withExtendedLifetime(storage) {}
  }
}

/// The rows of a field in a plane.
private struct FieldRows {
  // SAFETY: `row` returns rows below the plane's count; each has `rowBytes`, a multiple of the
  // sample's size. The plane that is written has the same rows.

  private let base: UnsafeRawPointer
  private let stride: Int
  private let rowBytes: Int
  private let count: Int
  private let greatest: Int
  /// The first row of the field; 0 in a plane with one row.
  private let first: Int

  init(_ frame: Frame, _ plane: Int, _ field: VideoField) {
    let source = frame.storage.planes[plane]
    (base, stride) = (UnsafeRawPointer(source.base), source.stride)
    rowBytes = frame.format.rowBytes(plane: plane, width: frame.width)
    count = frame.format.rowCount(plane: plane, height: frame.height)
    greatest = (1 << frame.format.bitsPerSample) - 1
    first = field == .bottom && count > 1 ? 1 : 0
  }

  func write<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ type: Sample.Type, to target: UnsafeMutableRawPointer, stride: Int
  ) {
    for y in 0..<count {
      let made = target + y * stride
      if (y - first).isMultiple(of: 2) {
        made.copyMemory(from: row(y), byteCount: rowBytes)
      } else {
        interpolate(type, (row(y - 3), row(y - 1), row(y + 1), row(y + 3)), to: made)
      }
    }
  }

  /// A row of the field; beyond an edge the nearest one.
  private func row(_ y: Int) -> UnsafeRawPointer {
    var y = y
    while y < 0 { y += 2 }
    while y >= count { y -= 2 }
    return base + y * stride
  }

  private func interpolate<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ type: Sample.Type,
    _ rows: (UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer),
    to made: UnsafeMutableRawPointer
  ) {
    let greatest = Int32(greatest)
    for place in Swift.stride(from: 0, to: rowBytes, by: MemoryLayout<Sample>.size) {
      func sample(_ row: UnsafeRawPointer) -> Int32 {
        Int32(truncatingIfNeeded: row.loadUnaligned(fromByteOffset: place, as: Sample.self))
      }
      let near = sample(rows.1) &+ sample(rows.2)
      let far = sample(rows.0) &+ sample(rows.3)
      let value = (9 &* near &- far &+ 8) >> 4
      made.storeBytes(
        of: Sample(truncatingIfNeeded: min(max(value, 0), greatest)), toByteOffset: place,
        as: Sample.self)
    }
  }
}
