import RetakeBuffers

/// Exact sums over the samples of a plane.
struct PlaneSums: Hashable {
  var count: UInt64 = 0
  var sum: UInt64 = 0
  var squares: UInt64 = 0
  var smallest: UInt8 = 255
  var largest: UInt8 = 0
}

extension Frame {
  /// Sums over the first plane of a GRAY8 frame.
  func luminanceSums() -> PlaneSums {
    precondition(format == .gray, "one sample a pixel")
    var sums = PlaneSums(count: UInt64(width * height))
    forEachRow(of: 0) { row in
      guard let base = row.baseAddress else { return }
      // SAFETY: `row` is one visible row; a row's squares fit 32 bits up to 66,051 samples.
      let samples = base.assumingMemoryBound(to: UInt8.self)
      var (sum, squares): (UInt32, UInt32) = (0, 0)
      var (smallest, largest): (UInt8, UInt8) = (255, 0)
      for x in 0..<row.count {
        let value = samples[x]
        sum &+= UInt32(value)
        squares &+= UInt32(value) &* UInt32(value)
        smallest = min(smallest, value)
        largest = max(largest, value)
      }
      // The sums of a frame do not fit into the 32 bits of a row's sums.
      sums.sum += UInt64(sum)
      sums.squares += UInt64(squares)
      sums.smallest = min(sums.smallest, smallest)
      sums.largest = max(sums.largest, largest)
    }
    return sums
  }

  /// The sum of every `step`-th byte of a plane from `first` on, over a rectangle of samples.
  func sampleSum(
    plane: Int, columns: Range<Int>, rows: Range<Int>, step: Int = 1, first: Int = 0
  ) -> Int {
    let source = storage.planes[plane]
    var total = 0
    for row in rows {
      // SAFETY: the caller's columns and rows are inside the plane, `step` bytes a sample.
      let samples = source.base + row * source.stride + first
      var sum: UInt32 = 0
      for x in columns { sum &+= UInt32(samples[x &* step]) }
      total += Int(sum)
    }
    // `source` does not keep the storage: Swift may release it after its last use.
    withExtendedLifetime(storage) {}
    return total
  }
}
