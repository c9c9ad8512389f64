import RetakeBuffers

/// How pixels are written in an image message (sensor_msgs, image_encodings.hpp), and the format in
/// which a session stores them. Every step between the two is without loss.
enum RawEncoding: String, CaseIterable, Sendable {
  case mono8, rgb8, bgr8, rgba8, bgra8
  /// Y in every second byte, from the second on.
  case uyvy
  /// Y in every second byte, from the first on.
  case yuyv
  /// Y, then interleaved V and U of half the size.
  case nv21
  /// One word of 16 bits for a pixel; of depth cameras, millimeters.
  case mono16
  /// Its bytes in the other order.
  case mono16be

  /// By the names that messages use.
  /// - Parameter isBigEndian: The order of the bytes in samples of more than one.
  init?(named name: String, isBigEndian: Bool) {
    switch name {
    case "8UC1", "mono8": self = .mono8
    case "16UC1", "mono16": self = isBigEndian ? .mono16be : .mono16
    // The samples of a mosaic are those of gray; `ImageForm` has its pattern.
    case _ where Self.mosaic(of: name) != nil:
      self = name.hasSuffix("8") ? .mono8 : isBigEndian ? .mono16be : .mono16
    case "yuv422", "uyvy": self = .uyvy
    case "yuv422_yuy2", "yuyv": self = .yuyv
    case _ where Self.openOrders.contains(name): self = name == "8UC3" ? .bgr8 : .bgra8
    case "mono16be": return nil
    default: self.init(rawValue: name)
    }
  }

  /// Names that leave the order of their channels open. OpenCV, whose names they are, has blue
  /// first, and so have RViz and Foxglove.
  static let openOrders: Set<String> = ["8UC3", "8UC4"]

  /// Why a type of OpenCV, such as `32FC1`, cannot be kept; nil for other names.
  static func problem(of name: String) -> String? {
    guard let type = name.prefixMatch(of: /(8|16|32|64)([USF])C[0-9]+/) else { return nil }
    switch type.2 {
    case "F": return "its samples are floating-point numbers, \(kept)"
    case "S": return "its samples have a sign, \(kept)"
    default: return nil
    }
  }

  private static let kept =
    "and a session keeps 8 or 16 bits without a sign; depth is exact as 16UC1, in millimeters"

  /// The pattern of `bayer_rggb8` or `bayer_gbrg16`.
  static func mosaic(of name: String) -> Mosaic? {
    guard name.hasPrefix("bayer_"), name.hasSuffix("8") || name.hasSuffix("16") else { return nil }
    let end = name.hasSuffix("8") ? 1 : 2
    return Mosaic(rawValue: String(name.dropFirst("bayer_".count).dropLast(end)))
  }

  /// For messages to the user; the order of the bytes is not a part of it.
  var name: String { self == .mono16be ? Self.mono16.rawValue : rawValue }

  /// For messages to the user.
  static let names =
    "mono8, 8UC1, mono16, 16UC1, rgb8, bgr8, 8UC3, rgba8, bgra8, 8UC4, yuv422, uyvy, yuv422_yuy2, "
    + "yuyv, nv21 and the mosaics bayer_rggb8, bayer_bggr8, bayer_gbrg8 and bayer_grbg8, also of 16 bits"

  var format: PixelFormat {
    switch self {
    case .mono8: .gray
    case .mono16, .mono16be: .gray(bits: 16)
    case .rgb8, .bgr8: .rgb
    case .rgba8: .rgba
    case .bgra8: .bgra
    case .uyvy, .yuyv: .i422
    case .nv21: .i420
    }
  }

  /// Bytes of one row in the message, without padding.
  func rowBytes(width: Int) -> Int {
    switch self {
    case .mono8, .nv21: width
    case .rgb8, .bgr8: 3 * width
    case .rgba8, .bgra8: 4 * width
    case .uyvy, .yuyv, .mono16, .mono16be: 2 * width
    }
  }

  /// Rows in the message.
  func rowCount(height: Int) -> Int { self == .nv21 ? height + height / 2 : height }

  /// Whether the size fits the encoding: pairs of pixels share their color.
  func fits(width: Int, height: Int) -> Bool {
    switch self {
    case .uyvy, .yuyv: width.isMultiple(of: 2)
    case .nv21: width.isMultiple(of: 2) && height.isMultiple(of: 2)
    default: true
    }
  }
}
