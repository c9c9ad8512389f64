import CFFmpeg
import RetakeBuffers

/// Rearranges a decoder's picture into the planes of one of our formats: interleaved samples are
/// divided, big-endian words are swapped, palettes are looked up. No sample loses a bit.
struct FrameRepack {
  // SAFETY: all rows are inside of new storage with the layout of `format`, and of the picture.
  let format: PixelFormat
  private let samples: NativeSamples
  private let picture: UnsafeMutablePointer<AVFrame>
  private let width: Int
  private let height: Int

  /// - Returns: nil if pictures of this format are not rearranged.
  init?(_ picture: UnsafeMutablePointer<AVFrame>) {
    let native = AVPixelFormat(picture.pointee.format)
    guard let format = PixelFormat(ffmpeg: native), let samples = NativeSamples(native) else {
      return nil
    }
    (self.format, self.samples, self.picture) = (format, samples, picture)
    (width, height) = (Int(picture.pointee.width), Int(picture.pointee.height))
  }

  /// - Throws: `MediaError.noMemory`.
  func storage() throws(MediaError) -> FrameStorage {
    let storage = FrameStorage.makeIfRoom(format: format, width: width, height: height) {
      planes, strides in
      for plane in planes.indices {
        write(plane, to: planes[plane], stride: strides[plane])
      }
    }
    guard let storage else { throw .noMemory(step: "rearrange an image", file: nil) }
    return storage
  }

  private func write(_ plane: Int, to target: UnsafeMutableRawBufferPointer, stride: Int) {
    let rowBytes = format.rowBytes(plane: plane, width: width)
    let parts = components(of: plane)
    let count = rowBytes / (format.isDeep ? 2 : parts.count)
    withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count) { row in
      for number in 0..<format.rowCount(plane: plane, height: height) {
        let out = UnsafeMutableRawBufferPointer(
          rebasing: target[number * stride..<number * stride + rowBytes])
        if samples.isPalette {
          samples.read(0, row: number, of: picture, into: row, bits: 8)
          lookUp(row, into: out)
          continue
        }
        for (offset, part) in parts.enumerated() {
          samples.read(part, row: number, of: picture, into: row, bits: format.bitsPerSample)
          store(row, at: offset, step: parts.count, into: out)
        }
      }
    }
  }

  /// The native components of a plane, in the order of its bytes.
  private func components(of plane: Int) -> [Int] {
    // A gray picture with opacity has two components, and becomes colors.
    let isGray = samples.count <= 2
    switch format.layout {
    case .rgb: return isGray ? [0, 0, 0] : [0, 1, 2]
    case .rgba: return isGray ? [0, 0, 0, 1] : [0, 1, 2, 3]
    case .gbr, .gbra: return isGray ? [[0, 0, 0, 1][plane]] : [[1, 2, 0, 3][plane]]
    // No format is rearranged into these.
    case .bgr, .bgra, .nv12: return []
    default: return [plane]
    }
  }

  private func store(
    _ row: UnsafeMutableBufferPointer<UInt16>, at offset: Int, step: Int,
    into out: UnsafeMutableRawBufferPointer
  ) {
    guard !format.isDeep else {
      let words = out.bindMemory(to: UInt16.self)
      for x in row.indices { words[x] = row[x].littleEndian }
      return
    }
    for x in row.indices { out[x * step + offset] = UInt8(truncatingIfNeeded: row[x]) }
  }

  /// A palette has 256 words in the machine's order: opacity, red, green and blue, highest first.
  private func lookUp(
    _ row: UnsafeMutableBufferPointer<UInt16>, into out: UnsafeMutableRawBufferPointer
  ) {
    guard let palette = retake_plane(picture, 1) else { return }
    for x in row.indices {
      let color = UnsafeRawPointer(palette).loadUnaligned(
        fromByteOffset: 4 * Int(row[x] & 255), as: UInt32.self)
      out[4 * x] = UInt8(truncatingIfNeeded: color >> 16)
      out[4 * x + 1] = UInt8(truncatingIfNeeded: color >> 8)
      out[4 * x + 2] = UInt8(truncatingIfNeeded: color)
      out[4 * x + 3] = UInt8(truncatingIfNeeded: color >> 24)
    }
  }
}
