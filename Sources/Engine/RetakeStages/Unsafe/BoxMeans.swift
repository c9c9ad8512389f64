import RetakeBuffers
import RetakeMedia

extension Frame {
  /// Scales with the mean of the samples that a new one covers, rounded to the nearest. If the
  /// image grows, samples are repeated. It uses only integers.
  func boxMeans(width: Int, height: Int) -> Frame {
    let made = FrameStorage.make(format: format, width: width, height: height) { planes, strides in
      for plane in 0..<format.planeCount {
        let step = format.sampleStep(plane: plane)
        let columns = Self.spans(
          from: format.rowBytes(plane: plane, width: self.width) / step,
          to: format.rowBytes(plane: plane, width: width) / step)
        let rows = Self.spans(
          from: format.rowCount(plane: plane, height: self.height),
          to: format.rowCount(plane: plane, height: height))
        for (y, covered) in rows.enumerated() {
          for (x, span) in columns.enumerated() {
            for component in 0..<step {
              // SAFETY: the plane has as many rows as there are spans of rows, `strides` apart,
              // and each row has `step` bytes for each span of columns.
              planes[plane][y * strides[plane] + x * step + component] = mean(
                plane: plane, columns: span, rows: covered, step: step, component: component)
            }
          }
        }
      }
    }
    var scaled = described(
      format: format, width: width, height: height, matrix: matrix, storage: made)
    scaled.sampleAspect = sampleAspect.scaled(
      from: (self.width, self.height), to: (width, height))
    return scaled
  }

  /// The old samples that each new one covers: at least one.
  private static func spans(from old: Int, to new: Int) -> [Range<Int>] {
    (0..<new).map { index in
      // From the index and not added up, so that the last span ends exactly at the side.
      let start = index * old / new
      return start..<max(start + 1, (index + 1) * old / new)
    }
  }

  private func mean(
    plane: Int, columns: Range<Int>, rows: Range<Int>, step: Int, component: Int
  ) -> UInt8 {
    let sum = sampleSum(plane: plane, columns: columns, rows: rows, step: step, first: component)
    let count = columns.count * rows.count
    // Doubled, so that half a unit can be added without leaving the integers.
    return UInt8((2 * sum + count) / (2 * count))
  }
}

extension PixelFormat {
  /// Distance in bytes between samples of a component, in a row of a plane.
  fileprivate func sampleStep(plane: Int) -> Int {
    switch self {
    case .nv12: plane == 0 ? 1 : 2
    case .rgb, .bgr: 3
    case .rgba, .bgra: 4
    // Planes of single samples.
    default: 1
    }
  }
}
