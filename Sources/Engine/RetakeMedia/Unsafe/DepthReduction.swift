package import RetakeBuffers

extension Frame {
  /// The frame with 8 bits a sample, in the format `eightBits`: (sample + half) >> (bits - 8), at
  /// most 255. A frame that has 8 bits is returned as it is.
  ///
  /// - Throws: `MediaError.noMemory`.
  package func reducedToEightBits() throws(MediaError) -> Frame {
    guard format.isDeep else { return self }
    let target = format.eightBits
    let storage = FrameStorage.makeIfRoom(format: target, width: width, height: height) {
      planes, strides in
      for plane in 0..<format.planeCount {
        let place = BytePlace(of: plane, in: format)
        reduce(
          plane, to: planes[place.plane], stride: strides[place.plane], from: place.offset,
          step: place.step)
      }
    }
    return try described(target, range: range, matrix: matrix, storage)
  }

  /// The frame as RGB24 in full range, its colors mapped from HDR to the colors of an 8-bit
  /// display. Chroma samples hold for all pixels that they cover, and are not interpolated.
  ///
  /// - Throws: `MediaError.noMemory`.
  package func toneMapped(_ mapper: ToneMapper) throws(MediaError) -> Frame {
    let signals = SignalRow(self)
    let storage = FrameStorage.makeIfRoom(format: .rgb, width: width, height: height) {
      planes, strides in
      for row in 0..<height {
        // SAFETY: a row of RGB24 has three bytes for each pixel.
        let target = UnsafeMutableRawBufferPointer(
          rebasing: planes[0][row * strides[0]..<row * strides[0] + 3 * width])
        signals.eachPixel(of: row) { x, red, green, blue in
          (target[3 * x], target[3 * x + 1], target[3 * x + 2]) = mapper.map(red, green, blue)
        }
      }
    }
    return try described(.rgb, range: .full, matrix: .identity, storage)
  }

  private func described(
    _ format: PixelFormat, range: ColorRange, matrix: ColorMatrix, _ storage: FrameStorage?
  ) throws(MediaError) -> Frame {
    guard let storage else { throw .noMemory(step: "reduce an image to 8 bits", file: nil) }
    return Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      matrix: matrix, rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect,
      storage: storage)
  }

  private func reduce(
    _ plane: Int, to target: UnsafeMutableRawBufferPointer, stride: Int, from offset: Int,
    step: Int
  ) {
    let shift = UInt32(format.bitsPerSample - 8)
    let half = UInt32(1) << (shift - 1)
    var start = offset
    forEachRow(of: plane) { row in
      let words = row.bindMemory(to: UInt16.self)
      // SAFETY: a row of the target has `step` bytes for each sample of the plane.
      for x in words.indices {
        let sample = (UInt32(UInt16(littleEndian: words[x])) + half) >> shift
        target[start + x * step] = UInt8(truncatingIfNeeded: min(255, sample))
      }
      start += stride
    }
  }
}

/// Where the samples of a deep plane are in the format with 8 bits.
private struct BytePlace {
  var plane: Int
  var offset: Int
  var step: Int

  init(of plane: Int, in format: PixelFormat) {
    switch format.layout {
    // Green, blue, red and opacity in planes; red, green, blue and opacity in pixels.
    case .gbr: (self.plane, offset, step) = (0, [1, 2, 0][plane], 3)
    case .gbra: (self.plane, offset, step) = (0, [1, 2, 0, 3][plane], 4)
    default: (self.plane, offset, step) = (plane, 0, 1)
    }
  }
}

/// Reads the colors of a frame's pixels as signals of 0 to `ToneMapper.signalMax`.
private struct SignalRow {
  let frame: Frame
  private let factors: LumaChroma
  private let largest: Int64
  private let middle: Int64
  private let black: Int64

  init(_ frame: Frame) {
    self.frame = frame
    let scale = Int64(1) << Int64(frame.format.bitsPerSample - 8)
    factors = LumaChroma(matrix: frame.matrix, range: frame.range)
    // In limited range the factors bring luma to 0...255, in full range to the largest sample.
    largest = frame.range == .limited && !frame.format.isRGB ? 255 * scale : 256 * scale - 1
    (middle, black) = (128 * scale, Int64(factors.black) * scale)
  }

  func eachPixel(of row: Int, _ body: (Int, Int64, Int64, Int64) -> Void) {
    switch frame.format.layout {
    case .gray:
      for x in 0..<frame.width {
        let luma = signal(lumaOf(sample(0, x, row)))
        body(x, luma, luma, luma)
      }
    case .gbr, .gbra:
      for x in 0..<frame.width {
        body(
          x, signal(sample(2, x, row) << 16), signal(sample(0, x, row) << 16),
          signal(sample(1, x, row) << 16))
      }
    default: eachYUV(of: row, body)
    }
  }

  private func eachYUV(of row: Int, _ body: (Int, Int64, Int64, Int64) -> Void) {
    let (across, down) = frame.format.chromaStep
    for x in 0..<frame.width {
      let luma = lumaOf(sample(0, x, row))
      let u = sample(1, x / across, row / down) - middle
      let v = sample(2, x / across, row / down) - middle
      body(
        x, signal(luma + Int64(factors.redFromV) * v),
        signal(luma - Int64(factors.greenFromU) * u - Int64(factors.greenFromV) * v),
        signal(luma + Int64(factors.blueFromU) * u))
    }
  }

  private func lumaOf(_ sample: Int64) -> Int64 { (sample - black) * Int64(factors.luma) }

  /// From units of 1/65536 of a sample.
  private func signal(_ value: Int64) -> Int64 {
    let clamped = max(0, min(largest << 16, value))
    return (clamped + largest / 2) / largest
  }

  private func sample(_ plane: Int, _ x: Int, _ row: Int) -> Int64 {
    let memory = frame.storage.planes[plane]
    // SAFETY: `x` and `row` are below the plane's samples in a row and its rows.
    return Int64(
      UInt16(
        littleEndian: UnsafeRawPointer(memory.base + row * memory.stride).loadUnaligned(
          fromByteOffset: 2 * x, as: UInt16.self)))
  }
}
