package import RetakeCore

/// The pixels of an image: planes of the same size, such as red, green and blue.
package struct ImagePixels: Hashable, Sendable {
  package var width: Int
  package var height: Int
  /// Row by row, without padding.
  package var planes: [[UInt8]]

  package init(width: Int, height: Int, planes: [[UInt8]]) {
    precondition(planes.allSatisfy { $0.count == width * height }, "a plane is rows x row bytes")
    self.width = width
    self.height = height
    self.planes = planes
  }

  /// The channels of an image as planes; `nil` for a map of numbers.
  package init?(_ array: PixelArray) {
    guard array.element == .uint8, let bytes = array.bytes else { return nil }
    let planes = (0..<array.channels).map { channel in
      stride(from: channel, to: bytes.count, by: array.channels).map { bytes[$0] }
    }
    self.init(width: array.width, height: array.height, planes: planes)
  }
}

extension PixelArray {
  /// An image of these planes; `nil` unless it has 1 to 4 planes.
  package init?(_ pixels: ImagePixels) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(pixels.width * pixels.height * pixels.planes.count)
    for index in 0..<pixels.width * pixels.height {
      for plane in pixels.planes { bytes.append(plane[index]) }
    }
    self.init(
      width: pixels.width, height: pixels.height, channels: pixels.planes.count, element: .uint8,
      bytes: bytes)
  }
}
