import RetakeBuffers
import RetakeMedia

extension Frame {
  /// A copy in which each sample of an area is the mean of its cell, rounded to the nearest: in each
  /// plane, and for each of the interleaved components. It uses only integers.
  ///
  /// - Throws: `MediaError.noMemory`.
  func averaged(in areas: [RedactedArea]) throws -> Frame {
    guard !areas.isEmpty else { return self }
    let storage = FrameStorage.makeIfRoom(format: format, width: width, height: height) {
      planes, strides in
      for plane in planes.indices {
        let bytes = planes[plane]
        var start = 0
        forEachRow(of: plane) { row in
          // SAFETY: the new plane has as many rows, each at least as long as the visible one.
          UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: row)
          start += strides[plane]
        }
        let cells = PlaneCells(bytes: bytes, stride: strides[plane], format: format, plane: plane)
        // Large cells last, so that each cell of an area is uniform where areas overlap.
        for area in areas.sorted(by: { $0.cell < $1.cell }) { cells.average(area) }
      }
    }
    guard let storage else {
      throw MediaError.noMemory(step: "redact an image of \(width)x\(height)", file: nil)
    }
    return Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      matrix: matrix, rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect, storage: storage)
  }
}

/// One plane of a frame that is not shared yet.
private struct PlaneCells {
  // SAFETY: the plane has the rows and the columns of the format, `stride` bytes apart, and areas
  // are inside of the frame (`RedactedArea.init`).
  let bytes: UnsafeMutableRawBufferPointer
  let stride: Int
  let format: PixelFormat
  let plane: Int

  func average(_ area: RedactedArea) {
    let (right, bottom) = (area.x + area.width, area.y + area.height)
    for top in Swift.stride(from: area.y, to: bottom, by: area.cell) {
      let rows =
        format.rowCount(
          plane: plane, height: top)..<format.rowCount(
          plane: plane, height: min(top + area.cell, bottom))
      for left in Swift.stride(from: area.x, to: right, by: area.cell) {
        let columns =
          format.rowBytes(
            plane: plane, width: left)..<format.rowBytes(
            plane: plane, width: min(left + area.cell, right))
        average(rows, columns)
      }
    }
  }

  /// - Parameter columns: The bytes in each row.
  private func average(_ rows: Range<Int>, _ columns: Range<Int>) {
    let sample = format.isDeep ? 2 : 1
    let step = format.rowBytes(plane: plane, width: 1)
    for component in Swift.stride(from: 0, to: step, by: sample) {
      let places = Swift.stride(
        from: columns.lowerBound + component, to: columns.upperBound, by: step)
      var (sum, count) = (0, 0)
      for row in rows {
        for place in places {
          sum += load(row * stride + place)
          count += 1
        }
      }
      guard count > 0 else { continue }
      // Doubled, so that half a unit can be added without leaving the integers.
      let mean = (2 * sum + count) / (2 * count)
      for row in rows {
        for place in places { store(mean, at: row * stride + place) }
      }
    }
  }

  private func load(_ place: Int) -> Int {
    guard format.isDeep else { return Int(bytes[place]) }
    return Int(bytes[place]) | Int(bytes[place + 1]) << 8
  }

  private func store(_ value: Int, at place: Int) {
    bytes[place] = UInt8(truncatingIfNeeded: value)
    if format.isDeep { bytes[place + 1] = UInt8(truncatingIfNeeded: value >> 8) }
  }
}
