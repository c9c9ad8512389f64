import CFFmpeg

/// Where the samples of one of FFmpeg's formats are in its planes.
///
/// The components are luma and chroma, or red, green and blue, and then the opacity.
struct NativeSamples {
  let format: AVPixelFormat
  let count: Int
  /// Bits of the deepest component.
  let bits: Int
  let isRGB: Bool
  let isPalette: Bool
  let chromaShiftAcross: Int
  let chromaShiftDown: Int
  private let descriptor: UnsafePointer<AVPixFmtDescriptor>

  /// - Returns: nil for formats whose samples are not numbers of 1 to 16 bits in memory: floating
  ///   point, a mosaic of one color for each pixel (Bayer), XYZ, and hardware formats; and for
  ///   formats of two pixels in a byte, whose order FFmpeg describes otherwise than it writes it.
  init?(_ format: AVPixelFormat) {
    // SAFETY: the descriptor is a constant of the library.
    guard let descriptor = av_pix_fmt_desc_get(format) else { return nil }
    let isHardware = format.flags & UInt64(AV_PIX_FMT_FLAG_HWACCEL) != 0
    // FFmpeg 5 has no flag for XYZ, and describes it like YUV 4:4:4.
    guard !isHardware, !format.isBayer, !format.isFloat,
      format != AV_PIX_FMT_RGB4, format != AV_PIX_FMT_BGR4,
      !AVPixelFormat.name(format).hasPrefix("xyz"),
      (1...4).contains(descriptor.pointee.nb_components), (1...16).contains(format.bitsPerSample)
    else { return nil }
    self.format = format
    self.descriptor = descriptor
    count = Int(descriptor.pointee.nb_components)
    bits = format.bitsPerSample
    (isRGB, isPalette) = (format.isRGB, format.isPalette)
    chromaShiftAcross = Int(descriptor.pointee.log2_chroma_w)
    chromaShiftDown = Int(descriptor.pointee.log2_chroma_h)
  }

  /// The shift and the bits of red, green and blue of `rgb8`. FFmpeg 5 describes two bits of red
  /// and three of blue, and reads and writes three and two.
  private static let redGreenBlue = [(shift: 5, bits: 3), (shift: 2, bits: 3), (shift: 0, bits: 2)]

  /// The bits of one component.
  func bits(of component: Int) -> Int {
    if format == AV_PIX_FMT_RGB8 { return Self.redGreenBlue[component].bits }
    let components = descriptor.pointee.comp
    return Int(
      [components.0.depth, components.1.depth, components.2.depth, components.3.depth][component])
  }

  /// Reads the samples of a component in one of its rows, expanded to `bits` bits.
  ///
  /// - Parameter row: As long as the component's row; it gets the samples.
  func read(
    _ component: Int, row number: Int, of picture: UnsafePointer<AVFrame>,
    into row: UnsafeMutableBufferPointer<UInt16>, bits target: Int
  ) {
    defer { expand(row, from: bits(of: component), to: target) }
    guard format != AV_PIX_FMT_RGB8 else {
      return readRedGreenBlue(component, row: number, of: picture, into: row)
    }
    // SAFETY: the picture has the planes of the format, and as many rows as the caller asks for.
    var planes = (0..<Int32(4)).map { UnsafePointer(retake_plane(picture, $0)) }
    var strides = (0..<Int32(4)).map { Int32(truncatingIfNeeded: retake_stride(picture, $0)) }
    av_read_image_line2(
      row.baseAddress, &planes, &strides, descriptor, 0, Int32(clamping: number),
      Int32(clamping: component), Int32(clamping: row.count), 0, 2)
    // 0 is white in this format.
    if format == AV_PIX_FMT_MONOWHITE { for x in row.indices { row[x] = 1 - row[x] } }
  }

  private func readRedGreenBlue(
    _ component: Int, row number: Int, of picture: UnsafePointer<AVFrame>,
    into row: UnsafeMutableBufferPointer<UInt16>
  ) {
    // SAFETY: as in `read`; a pixel of this format is one byte.
    guard let plane = retake_plane(picture, 0) else { return }
    let start = plane + number * Int(retake_stride(picture, 0))
    let place = Self.redGreenBlue[component]
    for x in row.indices {
      row[x] = UInt16(start[x] >> UInt8(place.shift)) & (1 << UInt16(place.bits) - 1)
    }
  }

  /// Repeats the bits of a sample below its own, so that 0 and the largest value are kept.
  private func expand(_ row: UnsafeMutableBufferPointer<UInt16>, from bits: Int, to target: Int) {
    guard bits < target else { return }
    for x in row.indices {
      let sample = UInt32(row[x])
      var (value, left) = (UInt32(0), target)
      // Bounded: at most `target` turns, of one bit or more each.
      while left > 0 {
        left -= bits
        value |= left >= 0 ? sample << UInt32(left) : sample >> UInt32(-left)
      }
      row[x] = UInt16(truncatingIfNeeded: value)
    }
  }
}
