/// Depth as the plugin compressed_depth_image_transport publishes it: 12 bytes of its parameters,
/// then a PNG or the bytes of RVL.
///
/// Only depth in millimeters (`16UC1`) is exact. Depth in floating point is stored as its rounded
/// inverse there, so it has no exact pixels.
struct CompressedDepth {
  let content: ImageMessage.Content

  private static let parameterBytes = 12
  /// As many pixels as a decoder accepts.
  private static let pixelsMax = 1 << 27

  /// - Returns: nil for a format that is not one of the plugin's, or not exact.
  /// - Throws: `MessageProblem`.
  init?(_ format: String, _ data: ArraySlice<UInt8>) throws {
    let words = format.split { $0 == ";" || $0 == " " }
    guard words.contains("compressedDepth"), words.first == "16UC1" || words.first == "mono16"
    else { return nil }
    let image = data.dropFirst(Self.parameterBytes)
    guard words.last == "rvl" else {
      content = .coded(format: "png", isVideo: false, data: image)
      return
    }
    content = .raw(try Self.image(image))
  }

  /// The image behind its width and height.
  private static func image(_ bytes: ArraySlice<UInt8>) throws -> ImageMessage.RawImage {
    var reader = BagByteReader(bytes)
    guard let width = try? Int(reader.integer(UInt32.self)),
      let height = try? Int(reader.integer(UInt32.self)),
      width > 0, height > 0, height <= pixelsMax / width
    else { throw MessageProblem(offset: 0, cause: "an RVL image without a size") }
    var nibbles = Nibbles(reader.rest)
    var samples: [UInt8] = []
    samples.reserveCapacity(2 * width * height)
    var (left, value) = (width * height, UInt16(0))
    // Ends: each round reads at least one nibble.
    while left > 0 {
      let zeros = try nibbles.number(most: left)
      samples.append(contentsOf: repeatElement(0, count: 2 * zeros))
      left -= zeros
      let others = try nibbles.number(most: left)
      for _ in 0..<others {
        let step = UInt32(try nibbles.number(most: .max))
        // Zigzag: even numbers are positive, odd numbers negative.
        value &+= UInt16(truncatingIfNeeded: step >> 1 ^ (0 &- (step & 1)))
        samples.append(UInt8(truncatingIfNeeded: value))
        samples.append(UInt8(truncatingIfNeeded: value >> 8))
      }
      left -= others
    }
    return ImageMessage.RawImage(
      width: width, height: height, encoding: "16UC1", step: 2 * width, data: samples[...])
  }

  /// Numbers of three bits at a time, the lowest first; the highest bit of a nibble says that more
  /// follow. Words of 32 bits are little-endian, their nibbles from the highest to the lowest
  /// (Wilson, "Fast Lossless Depth Image Compression", 2017).
  private struct Nibbles {
    private let bytes: ArraySlice<UInt8>
    private var count = 0

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    private mutating func next() throws -> UInt8 {
      // Byte 3 of a word has its first two nibbles.
      let place = bytes.startIndex + count / 8 * 4 + 3 - count % 8 / 2
      guard place < bytes.endIndex else {
        throw MessageProblem(offset: place - bytes.startIndex, cause: "RVL ends before its image")
      }
      defer { count += 1 }
      return count.isMultiple(of: 2) ? bytes[place] >> 4 : bytes[place] & 0xF
    }

    mutating func number(most: Int) throws -> Int {
      var (value, shift) = (0, 0)
      while true {
        let nibble = try next()
        value |= Int(nibble & 7) << shift
        if nibble < 8 { break }
        shift += 3
        // Eleven groups hold 32 bits.
        guard shift <= 30 else {
          throw MessageProblem(offset: count / 2, cause: "an RVL number has more than 32 bits")
        }
      }
      guard value <= most else {
        throw MessageProblem(
          offset: count / 2, cause: "RVL has \(value) pixels, and \(most) are left")
      }
      return value
    }
  }
}
