import RetakeBuffers

extension Frame {
  /// The sum of the absolute differences of horizontally adjacent samples of a GRAY8 frame.
  func neighborDifferences() -> Int {
    precondition(format == .gray, "one sample a pixel")
    var total = 0
    forEachRow(of: 0) { row in
      // SAFETY: `row` is one visible row, which lives as long as this call.
      let samples = row.bindMemory(to: UInt8.self)
      for x in samples.indices.dropFirst() {
        total += abs(Int(samples[x]) - Int(samples[x - 1]))
      }
    }
    return total
  }
}
