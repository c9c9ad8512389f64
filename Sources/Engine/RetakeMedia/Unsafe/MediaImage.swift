import CFFmpeg
package import RetakeBuffers
import RetakeCore

/// Reads still images, and writes PNG images.
package enum MediaImage {
  /// The frame as the bytes of a PNG file, identical for equal frames. Gray, RGB24 and RGBA are
  /// kept; other formats are converted to RGB24, and deep samples to 8 bits.
  ///
  /// - Throws: `MediaError.scale` or `.encode`.
  package static func png(_ frame: Frame) throws -> [UInt8] {
    let eight = try frame.reducedToEightBits()
    let isKept = [PixelFormat.gray, .rgb, .rgba].contains(eight.format)
    let picture =
      isKept
      ? eight : try MediaScaler().scale(eight, format: eight.format == .bgra ? .rgba : .rgb)
    var settings = EncoderSettings(encoder: "png", for: picture, timeBase: TimeBase(1, 1))
    settings.headersInContainer = false
    settings.options = [.init("pred", "mixed")]
    let encoder = try MediaEncoder(settings)
    let packets = try encoder.encode(picture, pts: 0) + (try encoder.finish())
    guard let packet = packets.first else {
      throw MediaError.encode(encoder: "png", cause: "it returned no packet")
    }
    return packet.bytes
  }

  /// A PNG, JPEG, BMP, TIFF or WebP file as a frame; full range, unless the file says otherwise.
  ///
  /// Gray, RGB24, RGBA and JPEG's planar formats are kept; palettes and other 8-bit layouts are
  /// converted to RGB24, RGBA, gray or I444. Images of 16 bits are gray, GBRP16 or GBRAP16.
  /// - Throws: `MediaError` when the file cannot be read or is not an image.
  package static func read(file path: String) throws -> Frame {
    let file = try MediaFile(path: path)
    guard file.size <= fileBytesMax else {
      throw MediaError.notImage(
        file: path, cause: "it has more than \(ByteText.limit(fileBytesMax))")
    }
    return try decode(try file.bytes(Int(file.size)), file: path)
  }

  /// Like `read(file:)`, for bytes in memory.
  ///
  /// - Parameter file: A name for errors.
  /// - Throws: `MediaError` when the bytes are not an image.
  package static func decode(_ bytes: [UInt8], file: String? = nil) throws -> Frame {
    guard let codec = codec(of: bytes) else {
      throw MediaError.notImage(
        file: file, cause: bytes.isEmpty ? "it is empty" : "it does not begin like such a file")
    }
    let stream = MediaStream(
      video: codec, width: 0, height: 0, pixelFormatName: "", range: .full, matrix: .bt601,
      timeBase: TimeBase(1, 1))
    let decoder = try MediaDecoder(stream: stream, file: file)
    do {
      try decoder.send(try MediaPacket(index: 0, pts: 0, dts: 0, bytes: bytes))
      if let frame = try receive(decoder) { return frame }
      try decoder.drain()
      if let frame = try receive(decoder) { return frame }
    } catch MediaError.decode(_, _, let cause) {
      throw MediaError.notImage(file: file, cause: cause)
    }
    throw MediaError.notImage(file: file, cause: "it was cut short")
  }

  private static let fileBytesMax: Int64 = 256 << 20

  private static func codec(of bytes: [UInt8]) -> String? {
    if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
      return "webp"
    }
    return signatures.first { bytes.starts(with: $0.bytes) }?.codec
  }

  /// The first bytes of each kind of file; the two of TIFF are its orders of bytes.
  private static let signatures: [(bytes: [UInt8], codec: String)] = [
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "png"), ([0xFF, 0xD8, 0xFF], "mjpeg"),
    ([0x42, 0x4D], "bmp"), ([0x49, 0x49, 0x2A, 0], "tiff"), ([0x4D, 0x4D, 0, 0x2A], "tiff"),
  ]

  private static func receive(_ decoder: MediaDecoder) throws -> Frame? {
    guard let picture = try decoder.receivePicture() else { return nil }
    let isDamaged =
      picture.pointee.decode_error_flags != 0
      || picture.pointee.flags & retake_frame_corrupt != 0
    var frame = try supported(picture, decoder: decoder)
    frame.timestamp = .zero
    guard !isDamaged else { throw MediaError.notImage(file: decoder.file, cause: "it is damaged") }
    return frame
  }

  /// Owns the picture from now on, and converts it if necessary.
  private static func supported(
    _ picture: UnsafeMutablePointer<AVFrame>, decoder: MediaDecoder
  ) throws -> Frame {
    // SAFETY: this function owns the picture; side data of nine 32-bit numbers belongs to it.
    let turn = DisplayTurn(of: picture.pointee).flatMap { $0.quarterDegrees == nil ? nil : $0 }
    let (rotation, isMirrored) = (turn?.quarterDegrees ?? 0, turn?.isMirrored ?? false)
    let source = AVPixelFormat(picture.pointee.format)
    if let native = PixelFormat(native: source), native.isBasic || native.isDeep {
      var frame = Frame(taking: picture, of: decoder.stream, pictures: decoder.pictures)
      (frame.rotationDegrees, frame.isMirrored) = (rotation, isMirrored)
      return frame
    }
    var owned: UnsafeMutablePointer<AVFrame>? = picture
    defer { av_frame_free(&owned) }
    guard let format = convertible(source, picture: picture) else {
      guard let repack = FrameRepack(picture) else { throw source.refusal(file: decoder.file) }
      var frame = try Frame(rearranging: picture, repack, of: decoder.stream)
      (frame.rotationDegrees, frame.isMirrored) = (rotation, isMirrored)
      return frame
    }
    let (width, height) = (Int(picture.pointee.width), Int(picture.pointee.height))
    let planes = (0..<Int32(4)).compactMap { index in
      retake_plane(picture, index).map {
        FrameStorage.Plane(base: UnsafePointer($0), stride: Int(retake_stride(picture, index)))
      }
    }
    let side = ScalePlan.Side(
      width: width, height: height, format: source, range: .full, matrix: .bt601)
    let storage = try MediaScaler().scale(
      planes, from: side, to: format, width: width, height: height, range: .full, matrix: .bt601)
    return Frame(
      format: format, width: width, height: height, range: .full,
      matrix: format.isYUV ? .bt601 : .identity, rotationDegrees: rotation, isMirrored: isMirrored,
      storage: storage)
  }

  /// The format that an unusual layout is converted to; nil if it is not supported.
  private static func convertible(
    _ format: AVPixelFormat, picture: UnsafeMutablePointer<AVFrame>
  ) -> PixelFormat? {
    switch format {
    case AV_PIX_FMT_PAL8: return hasTransparency(picture) ? .rgba : .rgb
    case AV_PIX_FMT_GBRP, AV_PIX_FMT_BGR24, AV_PIX_FMT_BGR0, AV_PIX_FMT_RGB0: return .rgb
    case AV_PIX_FMT_YA8, AV_PIX_FMT_GBRAP, AV_PIX_FMT_ARGB, AV_PIX_FMT_ABGR: return .rgba
    case AV_PIX_FMT_MONOBLACK, AV_PIX_FMT_MONOWHITE: return .gray
    case AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUV440P, AV_PIX_FMT_YUVJ411P, AV_PIX_FMT_YUV411P:
      return .i444
    default: return nil
    }
  }

  /// A palette is 256 colors of 32 bits, alpha in the highest byte.
  private static func hasTransparency(_ picture: UnsafeMutablePointer<AVFrame>) -> Bool {
    guard let palette = retake_plane(picture, 1) else { return false }
    // SAFETY: FFmpeg's palettes always have 1,024 bytes.
    return UnsafeRawBufferPointer(start: palette, count: 1024).bindMemory(to: UInt32.self)
      .contains { $0 >> 24 != 0xFF }
  }
}
