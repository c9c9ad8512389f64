import RetakeBuffers
import RetakeMedia

/// Draws an image into new I420 storage, row by row, with camera noise.
struct SceneCanvas {
  var width: Int
  var height: Int

  /// - Throws: `MediaError.noMemory`.
  func draw(
    _ picture: any SceneImage, noise: CameraNoise
  ) throws -> FrameStorage {
    let storage = FrameStorage.makeIfRoom(format: .i420, width: width, height: height) {
      planes, strides in
      for plane in 0..<3 {
        // As long as a stride, because noise is added to blocks of eight bytes.
        var row = [UInt8](repeating: 0, count: strides[plane])
        for y in 0..<PixelFormat.i420.rowCount(plane: plane, height: height) {
          picture.fill(&row, plane: plane, y: y, noise: noise)
          let start = y * strides[plane]
          // SAFETY: rows begin at multiples of the stride, which is a multiple of 64, and the
          // plane has as many rows as are drawn; `row` is as long as a stride.
          let target = UnsafeMutableRawBufferPointer(
            rebasing: planes[plane][start..<start + strides[plane]])
          noise.add(to: row, into: target, key: noise.rowKey(plane: plane, y: y), plane: plane)
        }
      }
    }
    guard let storage else {
      throw MediaError.noMemory(step: "draw an image of \(width)x\(height)", file: nil)
    }
    return storage
  }
}

extension CameraNoise {
  /// Number of levels that an image must not use at either end, so that noise never wraps around.
  static let headroom = 4

  /// Luma gets -4 to 4 with a standard deviation of 1.7, chroma -1 to 1. Eight bytes are added at a
  /// time: no byte carries into the next one, because images keep their headroom.
  fileprivate func add(
    to row: [UInt8], into target: UnsafeMutableRawBufferPointer, key: UInt64, plane: Int
  ) {
    row.withUnsafeBytes { source in
      // SAFETY: both have the length of a stride, a multiple of eight bytes.
      var counter = key
      for offset in stride(from: 0, to: target.count, by: 8) {
        counter &+= Self.step
        let bits = Self.mix(counter)
        // In little-endian order, so that a byte gets the same noise on every machine.
        let level = UInt64(
          littleEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let sum = plane == 0 ? Self.lumaNoise(bits, level) : Self.chromaNoise(bits, level)
        target.storeBytes(of: sum.littleEndian, toByteOffset: offset, as: UInt64.self)
      }
    }
  }

  @inline(__always)
  private static func lumaNoise(_ bits: UInt64, _ level: UInt64) -> UInt64 {
    let two: UInt64 = 0x0303_0303_0303_0303
    let one: UInt64 = 0x0101_0101_0101_0101
    // Two fields of two bits and two of one bit: 0 to 8, and 4 is subtracted below.
    let noise =
      (bits & two) &+ (bits >> 2 & two) &+ (bits >> 4 & one) &+ (bits >> 5 & one)
    return level &+ noise &- 0x0404_0404_0404_0404
  }

  @inline(__always)
  private static func chromaNoise(_ bits: UInt64, _ level: UInt64) -> UInt64 {
    let one: UInt64 = 0x0101_0101_0101_0101
    // Two fields of one bit: 0 to 2, and 1 is subtracted.
    return level &+ (bits & one) &+ (bits >> 1 & one) &- one
  }
}

/// Copies a row out of a plane without padding.
func copyRow(from plane: [UInt8], at start: Int, count: Int, to row: inout [UInt8]) {
  precondition(start >= 0 && start + count <= plane.count && count <= row.count)
  plane.withUnsafeBytes { source in
    row.withUnsafeMutableBytes { target in
      // SAFETY: both ranges are inside by the precondition.
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + count]))
    }
  }
}

/// Fills a row with fractional levels: `offset` + `gain` × `weight`, dithered so that the mean over
/// many samples keeps the fraction.
///
/// - Parameters:
///   - offset: In 1/256 of a level.
///   - gain: In 1/256 of a level, for a weight of 1; at most ±65,536.
///   - weights: In 1/4,096; `row`'s samples begin at `start`.
func fillDithered(
  _ row: inout [UInt8], count: Int, weights: [UInt16], start: Int, offset: Int32, gain: Int32,
  key: UInt64
) {
  precondition(start >= 0 && start + count <= weights.count && count <= row.count)
  weights.withUnsafeBufferPointer { weights in
    row.withUnsafeMutableBufferPointer { row in
      // SAFETY: indices stay below `count`, which both buffers hold by the precondition.
      var counter = key
      var x = 0
      while x < count {
        counter &+= CameraNoise.step
        var bits = CameraNoise.mix(counter)
        for _ in 0..<min(8, count - x) {
          let level = offset &+ (gain &* Int32(weights[start &+ x])) >> 12
          // A random part of a level is added before truncation, which then rounds up as often as
          // the fraction requires.
          let value = (level &+ Int32(truncatingIfNeeded: bits & 0xff)) >> 8
          // The bounds of limited range also leave the noise its headroom.
          row[x] = UInt8(truncatingIfNeeded: max(16, min(235, value)))
          bits >>= 8
          x &+= 1
        }
      }
    }
  }
}
