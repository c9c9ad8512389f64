/// An image, or a map of numbers such as depth, disparity or optical flow, that a stage computed.
public struct PixelArray: Hashable, Sendable {
  /// The type of each number.
  public enum Element: String, Hashable, Sendable {
    case uint8 = "u8"
    case uint16 = "u16"
    case float32 = "f32"

    /// Bytes of a number.
    package var size: Int {
      switch self {
      case .uint8: 1
      case .uint16: 2
      case .float32: 4
      }
    }

    /// The number at an index, of little-endian bytes.
    package func number(_ bytes: [UInt8], _ index: Int) -> Double {
      switch self {
      case .uint8: return Double(bytes[index])
      case .uint16: return Double(UInt16(bytes[2 * index]) | UInt16(bytes[2 * index + 1]) << 8)
      case .float32:
        let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[4 * index + $1]) << (8 * $1) }
        return Double(Float(bitPattern: bits))
      }
    }
  }

  /// The most columns and the most rows.
  package static let sideMax = 65_536
  /// The most numbers of a pixel.
  package static let channelsMax = 4

  /// Columns.
  public let width: Int
  /// Rows.
  public let height: Int
  /// Numbers of each pixel, 1 to 4. Three are red, green and blue if the array is an image.
  public let channels: Int
  public let element: Element
  /// The numbers, little-endian: row by row, the channels of a pixel in turns. `nil` if only the
  /// digest is known, as of an array in a golden.
  public let bytes: [UInt8]?
  /// Of the size, the type and the bytes.
  package let digest: Digest128

  /// - Returns: `nil` unless the bytes fit the size, the sides are 1 to 65,536, and the channels
  ///   1 to 4.
  public init?(width: Int, height: Int, channels: Int, element: Element, bytes: [UInt8]) {
    guard Self.isSize(width, height, channels),
      bytes.count == width * height * channels * element.size
    else { return nil }
    var hasher = DigestHasher()
    hasher.append(element.rawValue)
    for number in [width, height, channels] { hasher.append(Int64(number)) }
    hasher.append(bytes)
    self.init(width, height, channels, element, bytes, hasher.finish())
  }

  /// An array of 32-bit floats, row by row.
  ///
  /// - Returns: `nil` as above.
  public init?(width: Int, height: Int, channels: Int = 1, _ numbers: [Float]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(numbers.count * 4)
    for number in numbers {
      for shift in stride(from: 0, to: 32, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> shift))
      }
    }
    self.init(width: width, height: height, channels: channels, element: .float32, bytes: bytes)
  }

  /// An array without its numbers. `nil` unless the size is valid.
  package init?(width: Int, height: Int, channels: Int, element: Element, digest: Digest128) {
    guard Self.isSize(width, height, channels) else { return nil }
    self.init(width, height, channels, element, nil, digest)
  }

  private init(
    _ width: Int, _ height: Int, _ channels: Int, _ element: Element, _ bytes: [UInt8]?,
    _ digest: Digest128
  ) {
    (self.width, self.height, self.channels) = (width, height, channels)
    (self.element, self.bytes, self.digest) = (element, bytes, digest)
  }

  private static func isSize(_ width: Int, _ height: Int, _ channels: Int) -> Bool {
    let sides = 1...sideMax
    return sides.contains(width) && sides.contains(height) && (1...channelsMax).contains(channels)
  }

  /// By the digest, which covers all of the content.
  public static func == (left: PixelArray, right: PixelArray) -> Bool {
    left.digest == right.digest
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

  /// Whether it is stored as PNG: 8 bits, gray, RGB or RGBA.
  package var isPicture: Bool { element == .uint8 && channels != 2 }

  /// For example `640x480x1 f32`.
  package var form: String { "\(width)x\(height)x\(channels) \(element.rawValue)" }

  /// The array without its numbers.
  package var print: PixelArray { PixelArray(width, height, channels, element, nil, digest) }
}
