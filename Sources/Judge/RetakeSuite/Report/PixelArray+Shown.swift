import RetakeBuffers
import RetakeCore

extension PixelArray {
  /// The array as an image for people. In a map, black and white are the least and the largest number
  /// of `other`, several channels are shown by their Euclidean norm, and NaN is red.
  ///
  /// - Returns: `nil` if the numbers are not known.
  func shown(like other: PixelArray) -> Frame? {
    guard !isPicture else { return picture }
    guard let own = norms, let norms = other.norms else { return nil }
    let finite = norms.filter(\.isFinite)
    let (least, largest) = (finite.min() ?? 0, finite.max() ?? 0)
    let scale = largest > least ? 255 / (largest - least) : 0
    let bytes = own.flatMap { norm -> [UInt8] in
      guard !norm.isNaN else { return [255, 0, 0] }
      let level = UInt8(min(max((norm - least) * scale, 0), 255).rounded())
      return [level, level, level]
    }
    return frame(.rgb, bytes)
  }

  /// An image of 8 bits in gray, RGB or RGBA; `nil` for a map.
  var picture: Frame? {
    guard isPicture, let bytes else { return nil }
    return frame(channels == 1 ? .gray : channels == 3 ? .rgb : .rgba, bytes)
  }

  private func frame(_ format: PixelFormat, _ bytes: [UInt8]) -> Frame {
    Frame(
      id: FrameID(track: 0, sequence: 0), timestamp: .zero, format: format, width: width,
      height: height, range: .full, planes: [bytes])
  }

  private var norms: [Double]? {
    guard let bytes else { return nil }
    return (0..<width * height).map { pixel in
      let numbers = (0..<channels).map { element.number(bytes, pixel * channels + $0) }
      guard numbers.count > 1 else { return numbers[0] }
      return numbers.reduce(0) { $0 + $1 * $1 }.squareRoot()
    }
  }
}
