package import Foundation
package import RetakeCompare
package import RetakeCore

/// NumPy's files of arrays (`.npy`, version 1.0): a magic, the length of a header, the header as a
/// literal of Python, then the numbers. numpy.org/doc/stable/reference/generated/numpy.lib.format.html
extension PixelArray {
  private static let magic: [UInt8] = [0x93] + Array("NUMPY".utf8) + [1, 0]
  /// The numbers begin at a multiple of this.
  private static let alignment = 64

  private var descriptor: String {
    switch element {
    case .uint8: "|u1"
    case .uint16: "<u2"
    case .float32: "<f4"
    }
  }

  /// The magic, the length and the header; the same for arrays of one form.
  private var npyHead: [UInt8] {
    var header =
      "{'descr': '\(descriptor)', 'fortran_order': False, 'shape': (\(height), \(width), \(channels)), }"
    let used = Self.magic.count + 2 + header.utf8.count + 1
    header += String(
      repeating: " ", count: (Self.alignment - used % Self.alignment) % Self.alignment)
    header += "\n"
    let length = header.utf8.count
    return Self.magic + [UInt8(length & 0xFF), UInt8(length >> 8)] + header.utf8
  }

  /// The array as a file; `nil` if only its digest is known.
  package var npy: [UInt8]? { bytes.map { npyHead + $0 } }

  /// Reads a file that `npy` wrote; `nil` for any other file.
  package init?(npy file: [UInt8]) {
    let text = String(decoding: file.prefix(Self.alignment * 4), as: UTF8.self)
    guard let shape = text.firstMatch(of: /'shape': \((\d{1,5}), (\d{1,5}), (\d)\)/)?.output,
      let height = Int(shape.1), let width = Int(shape.2), let channels = Int(shape.3)
    else { return nil }
    for element in [Element.uint8, .uint16, .float32] {
      let form = Self(
        width: width, height: height, channels: channels, element: element, digest: .zero)
      guard let head = form?.npyHead, file.starts(with: head) else { continue }
      self.init(
        width: width, height: height, channels: channels, element: element,
        bytes: Array(file[head.count...]))
      return
    }
    return nil
  }
}

extension GoldenFolder {
  func image(_ place: StoredImages.Place, _ pixels: (URL) -> ImagePixels?) -> StoredImages.Kept {
    guard let index = place.index else { return .absent }
    return image(of: place.frame, sink: place.sink, index: index, pixels)
  }

  /// Reads an image that is kept among the observations of a frame.
  ///
  /// - Parameter pixels: Reads a PNG file.
  package func image(
    of frame: FrameID, sink: String, index: Int, _ pixels: (URL) -> ImagePixels?
  ) -> StoredImages.Kept {
    for isPicture in [true, false] {
      let url = file(Self.imageName(frame, sink: sink, index: index, isPicture: isPicture))
      // A link without its file is no absent file.
      guard RegularFile.isTaken(url.path) else { continue }
      let array =
        isPicture
        ? pixels(url).flatMap { PixelArray($0) }
        : (try? contents(of: url)).flatMap { PixelArray(npy: Array($0)) }
      return array.map { .array($0) } ?? .unreadable
    }
    return .absent
  }
}
