import Foundation
import RetakeBuffers
import RetakeCore

/// The form that all images in one media file of a track share: the codec and, where they are
/// known, the size and the format.
package struct ImageForm: Hashable, Sendable {
  enum Codec: Hashable, Sendable {
    case raw(RawEncoding)
    case mjpeg, png, h264, hevc

    /// FFmpeg's name.
    var name: String {
      switch self {
      case .raw: "rawvideo"
      case .mjpeg: "mjpeg"
      case .png: "png"
      case .h264: "h264"
      case .hevc: "hevc"
      }
    }
  }

  var codec: Codec
  /// In pixels; 0 for video, whose packets do not all say it.
  var width: Int
  var height: Int
  /// Of raw samples of a sensor.
  var mosaic: Mosaic?
  /// The encoding's name if it leaves the order of the channels open.
  var openOrder: String?

  /// The encoding as messages name it.
  var name: String {
    guard case .raw(let raw) = codec else { return codec.name }
    return mosaic.map { "bayer_\($0)" + (raw == .mono8 ? "8" : "16") } ?? openOrder ?? raw.name
  }

  /// As many pixels as a decoder accepts.
  private static let pixelsMax = 1 << 27

  /// - Throws: `BagError.imageEncoding` or `.imageFormat` for images that cannot be a track,
  ///   `.message` for a damaged image.
  package init(_ image: ImageMessage, place: BagPlace) throws {
    switch image.content {
    case .raw(let raw):
      guard let encoding = RawEncoding(named: raw.encoding, isBigEndian: raw.isBigEndian) else {
        throw BagError.imageEncoding(place, encoding: raw.encoding)
      }
      (codec, width, height) = (.raw(encoding), raw.width, raw.height)
      mosaic = RawEncoding.mosaic(of: raw.encoding)
      openOrder = RawEncoding.openOrders.contains(raw.encoding) ? raw.encoding : nil
      try Self.check(raw, encoding, place)
    case .coded(let format, let isVideo, let data):
      codec = try Self.codec(format, isVideo, data, place)
      guard let size = CodedSize(codec, data) else {
        throw BagError.message(place, cause: "the \(codec.name) image has no size")
      }
      (width, height) = (size.width, size.height)
      // image_transport packs raw samples as a gray image: `bayer_rggb8; png compressed `.
      if size.isGray, let raw = format.split(separator: ";").first {
        mosaic = RawEncoding.mosaic(of: raw.trimmingCharacters(in: .whitespaces))
      }
    }
  }

  private static func check(
    _ image: ImageMessage.RawImage, _ raw: RawEncoding, _ place: BagPlace
  ) throws {
    let (width, height, step) = (image.width, image.height, image.step)
    guard width > 0, height > 0, width <= pixelsMax / height else {
      throw BagError.message(place, cause: "an image cannot have \(width)x\(height) pixels")
    }
    guard raw.fits(width: width, height: height) else {
      throw BagError.message(
        place, cause: "an image of \(raw.name) cannot have \(width)x\(height) pixels")
    }
    let (row, rows) = (raw.rowBytes(width: width), raw.rowCount(height: height))
    guard step >= row else {
      throw BagError.message(place, cause: "a row has \(row) bytes, and its step is \(step)")
    }
    // Both are 32 bits in a message, so the product fits.
    guard image.data.count >= step * (rows - 1) + row else {
      throw BagError.message(
        place,
        cause: "\(rows) rows of \(step) bytes are \(step * rows) bytes, and it has "
          + "\(image.data.count)")
    }
  }

  /// By the first bytes: the name of the format is free text in ROS (`rgb8; jpeg compressed bgr8`).
  private static func codec(
    _ format: String, _ isVideo: Bool, _ data: ArraySlice<UInt8>, _ place: BagPlace
  ) throws -> Codec {
    guard !isVideo else {
      // Foxglove names the codec; ffmpeg_image_transport names an encoder, such as libx264 or
      // hevc_nvenc, or the codec and its pixels: h264;yuv420p;bgr8.
      let name = (format.split(separator: ";").first ?? "").lowercased()
      if name.contains("264") { return .h264 }
      if name.contains("265") || name.contains("hevc") { return .hevc }
      throw BagError.imageFormat(place, format: format)
    }
    if data.starts(with: [0xFF, 0xD8, 0xFF]) { return .mjpeg }
    if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
    guard !format.isEmpty else {
      throw BagError.message(
        place,
        cause: LargeFilePointer(data) == nil
          ? "its \(counted(data.count, "byte")) are neither PNG nor JPEG"
          : "it is a pointer of Git LFS, without the image: git lfs pull")
    }
    let text = format.lowercased()
    guard text.contains("jpeg") || text.contains("jpg") || text == "png" else {
      throw BagError.imageFormat(place, format: format)
    }
    throw BagError.message(place, cause: "it says '\(format)', and its bytes are not")
  }

  /// The format of raw images.
  var pixelFormat: PixelFormat? {
    guard case .raw(let encoding) = codec else { return nil }
    return encoding.format
  }
}

/// The size in the bytes of an image, read without decoding it.
struct CodedSize: Hashable {
  var width = 0
  var height = 0
  /// Whether an image has one plane; false for video.
  var isGray = false

  /// nil if an image has no size; 0x0 for video.
  init?(_ codec: ImageForm.Codec, _ data: ArraySlice<UInt8>) {
    switch codec {
    case .raw, .h264, .hevc: return
    case .png:
      // The first chunk, IHDR, begins at byte 16 (W3C PNG, 11.2.1).
      guard data.count >= 24 else { return nil }
      let start = data.startIndex
      width = data[start + 16..<start + 20].reduce(0) { $0 << 8 | Int($1) }
      height = data[start + 20..<start + 24].reduce(0) { $0 << 8 | Int($1) }
      isGray = data.count > 25 && data[start + 25] == 0
    case .mjpeg:
      guard let size = Self.jpeg(data) else { return nil }
      self = size
    }
  }

  private init(width: Int, height: Int, isGray: Bool) {
    (self.width, self.height, self.isGray) = (width, height, isGray)
  }

  /// Walks over the segments up to the start of frame (ITU-T T.81, B.2.2).
  private static func jpeg(_ data: ArraySlice<UInt8>) -> CodedSize? {
    var next = data.startIndex + 2
    while next + 9 <= data.endIndex, data[next] == 0xFF {
      let marker = data[next + 1]
      let isFrame = (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
      if isFrame {
        return CodedSize(
          width: Int(data[next + 7]) << 8 | Int(data[next + 8]),
          height: Int(data[next + 5]) << 8 | Int(data[next + 6]),
          isGray: next + 9 < data.endIndex && data[next + 9] == 1)
      }
      // A fill byte, or a segment with its length.
      next += marker == 0xFF ? 1 : 2 + (Int(data[next + 2]) << 8 | Int(data[next + 3]))
    }
    return nil
  }
}

/// Finds whether a packet of video can be decoded alone.
enum KeyPacket {
  /// Walks over the NAL units after their start codes (ITU-T H.264 and H.265, annex B).
  static func isKey(_ codec: ImageForm.Codec, _ data: ArraySlice<UInt8>) -> Bool {
    guard codec == .h264 || codec == .hevc else { return true }
    var (zeros, place) = (0, data.startIndex)
    while place < data.endIndex - 1 {
      let byte = data[place]
      if byte == 1, zeros >= 2 {
        let type = codec == .h264 ? data[place + 1] & 0x1F : data[place + 1] >> 1 & 0x3F
        // IDR of H.264; IRAP of H.265. The first slice decides.
        if codec == .h264, (1...5).contains(type) { return type == 5 }
        if codec == .hevc, type < 32 { return (16...23).contains(type) }
      }
      zeros = byte == 0 ? zeros + 1 : 0
      place += 1
    }
    return false
  }
}
