import RetakeMedia

/// Makes the packet of a raw image: its rows without padding, in the session's format.
enum RawPacket {
  // SAFETY: every read and write below is inside of the two buffers. The caller's check
  // (`RawImage`) and the size of the packet ensure their sizes; the preconditions repeat that
  // check.

  /// - Parameters:
  ///   - data: At least `step * (rows - 1) + rowBytes` bytes.
  ///   - step: Bytes from one row to the next; at least the bytes of a row.
  static func make(
    _ data: ArraySlice<UInt8>, encoding: RawEncoding, width: Int, height: Int, step: Int,
    index: Int,
    time: Int64
  ) throws -> MediaPacket {
    let size = encoding.format.visibleBytes(width: width, height: height)
    let (rows, rowBytes) = (
      encoding.rowCount(height: height), encoding.rowBytes(width: width)
    )
    precondition(
      rows > 0 && step >= rowBytes && data.count >= step * (rows - 1) + rowBytes,
      "the message holds its rows")
    return try MediaPacket(
      stream: 0, index: index, pts: time, dts: time, flags: .key, size: size
    ) { (target: UnsafeMutableRawBufferPointer) in
      data.withUnsafeBytes { source in
        Job(
          source: source, target: target, width: width, height: height, step: step,
          rowBytes: rowBytes
        ).write(encoding)
      }
    }
  }

  private struct Job {
    let source: UnsafeRawBufferPointer
    let target: UnsafeMutableRawBufferPointer
    let width: Int
    let height: Int
    let step: Int
    let rowBytes: Int

    // Not inlined: in a closure that may throw a typed error, Swift 6.3 keeps a length in the
    // error's register and returns it after the copy, as if something had been thrown.
    @inline(never)
    func write(_ encoding: RawEncoding) {
      switch encoding {
      case .mono8, .mono16, .rgb8, .rgba8, .bgra8: copyRows()
      case .mono16be: swapBytes()
      case .bgr8: swapRows()
      case .uyvy: splitPairs(luma: 1)
      case .yuyv: splitPairs(luma: 0)
      case .nv21: splitChroma()
      }
    }

    func copyRows() {
      guard let from = source.baseAddress, let to = target.baseAddress else { return }
      if step == rowBytes {
        to.copyMemory(from: from, byteCount: rowBytes * height)
        return
      }
      for row in 0..<height {
        (to + row * rowBytes).copyMemory(from: from + row * step, byteCount: rowBytes)
      }
    }

    /// Blue, green, red becomes red, green, blue.
    func swapRows() {
      guard let from = source.baseAddress, let to = target.baseAddress else { return }
      for row in 0..<height {
        let input = (from + row * step).assumingMemoryBound(to: UInt8.self)
        let output = (to + row * rowBytes).assumingMemoryBound(to: UInt8.self)
        var place = 0
        while place < rowBytes {
          output[place] = input[place + 2]
          output[place + 1] = input[place + 1]
          output[place + 2] = input[place]
          place += 3
        }
      }
    }

    /// The two bytes of each word change places.
    func swapBytes() {
      guard let from = source.baseAddress, let to = target.baseAddress else { return }
      for row in 0..<height {
        let input = (from + row * step).assumingMemoryBound(to: UInt8.self)
        let output = (to + row * rowBytes).assumingMemoryBound(to: UInt8.self)
        for place in stride(from: 0, to: rowBytes, by: 2) {
          output[place] = input[place + 1]
          output[place + 1] = input[place]
        }
      }
    }

    /// Pairs of pixels become three planes. The width is even.
    func splitPairs(luma: Int) {
      guard let from = source.baseAddress, let to = target.baseAddress else { return }
      let (half, chroma) = (width / 2, 1 - luma)
      let output = to.assumingMemoryBound(to: UInt8.self)
      let (u, v) = (output + width * height, output + width * height + half * height)
      for row in 0..<height {
        let input = (from + row * step).assumingMemoryBound(to: UInt8.self)
        let y = output + row * width
        for pair in 0..<half {
          y[2 * pair] = input[4 * pair + luma]
          y[2 * pair + 1] = input[4 * pair + 2 + luma]
          u[row * half + pair] = input[4 * pair + chroma]
          v[row * half + pair] = input[4 * pair + 2 + chroma]
        }
      }
    }

    /// Interleaved V and U become two planes, U first. Width and height are even.
    func splitChroma() {
      guard let from = source.baseAddress, let to = target.baseAddress else { return }
      let (half, rows) = (width / 2, height / 2)
      let output = to.assumingMemoryBound(to: UInt8.self)
      for row in 0..<height {
        (output + row * width).update(
          from: (from + row * step).assumingMemoryBound(to: UInt8.self), count: width)
      }
      let (u, v) = (output + width * height, output + width * height + half * rows)
      for row in 0..<rows {
        let input = (from + (height + row) * step).assumingMemoryBound(to: UInt8.self)
        for pair in 0..<half {
          v[row * half + pair] = input[2 * pair]
          u[row * half + pair] = input[2 * pair + 1]
        }
      }
    }
  }
}
