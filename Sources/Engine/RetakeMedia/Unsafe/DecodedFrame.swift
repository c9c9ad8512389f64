import CFFmpeg
package import RetakeBuffers
import RetakeCore

/// A frame as the decoder made it, and the decoder's metadata.
package struct DecodedFrame: Sendable {
  package enum PictureType: String, Hashable, Sendable {
    case intra = "I"
    case predicted = "P"
    case bidirectional = "B"
    case other = "-"
  }

  /// Its timestamp is the best-effort presentation time; the caller sets its ID.
  package var frame: Frame
  /// The index of the packet that the frame comes from, as passed to the decoder.
  package var packetIndex: Int
  package var pts: Int64?
  /// The presentation time, or FFmpeg's guess if the frame has no time.
  package var bestEffortTimestamp: Int64?
  /// In units of the time base; 0 when unknown.
  package var duration: Int64
  package var isKey: Bool
  package var pictureType: PictureType
  /// FFmpeg's flags: bitstream errors, missing references, concealment.
  package var errorFlags: Int
  /// The decoder found errors, or the container marked the packet as corrupt.
  package var isDamaged: Bool
  /// How the image itself says that it is shown, such as by the display orientation of H.264; nil
  /// if the image has no orientation, or is shown as it is.
  package var displayTurn: DisplayTurn?
  /// The field that was exposed first; nil unless the decoder or the container says that the frame
  /// is interlaced.
  package var firstField: VideoField?
  /// The size or pixel format differs from the stream's description.
  package var differsFromStream: Bool

  /// Owns the picture from now on; the frame's storage frees it.
  init(
    taking picture: UnsafeMutablePointer<AVFrame>, of stream: MediaStream,
    pictures: DecoderPictures
  ) {
    // SAFETY: only the caller owns the picture, and it ends its ownership here.
    let frame = Frame(taking: picture, of: stream, pictures: pictures)
    self.init(picture, frame: frame, of: stream)
  }

  /// Rearranges the picture without loss; the caller keeps its ownership.
  ///
  /// - Throws: `MediaError.noMemory`.
  init(
    rearranging picture: UnsafeMutablePointer<AVFrame>, _ repack: FrameRepack,
    of stream: MediaStream
  ) throws(MediaError) {
    // SAFETY: the planes are read before the caller frees the picture.
    let frame = try Frame(rearranging: picture, repack, of: stream)
    self.init(picture, frame: frame, of: stream)
  }

  /// Converts the picture to another format; the caller keeps its ownership.
  ///
  /// - Throws: `MediaError.scale`.
  init(
    converting picture: UnsafeMutablePointer<AVFrame>, of stream: MediaStream,
    to format: PixelFormat, with scaler: MediaScaler
  ) throws(MediaError) {
    // SAFETY: the planes are read before the caller frees the picture.
    let frame = try Frame(converting: picture, of: stream, to: format, with: scaler)
    self.init(picture, frame: frame, of: stream)
  }

  private init(
    _ picture: UnsafeMutablePointer<AVFrame>, frame made: Frame, of stream: MediaStream
  ) {
    // SAFETY: plain numbers are copied out of the picture, which `made` or the caller owns.
    let decoded = picture.pointee
    pts = decoded.pts.presentationTime
    bestEffortTimestamp = decoded.best_effort_timestamp.presentationTime
    duration = max(0, retake_duration(picture))
    packetIndex = Int(retake_packet_number(picture))
    isKey = retake_is_key(picture) != 0
    pictureType = PictureType(decoded.pict_type)
    errorFlags = Int(decoded.decode_error_flags)
    isDamaged = decoded.decode_error_flags != 0 || decoded.flags & retake_frame_corrupt != 0
    displayTurn = DisplayTurn(of: decoded)
    if retake_is_interlaced(picture) != 0 {
      firstField = retake_is_top_field_first(picture) != 0 ? .top : .bottom
    } else {
      firstField = stream.firstField
    }
    frame = made
    frame.timestamp =
      bestEffortTimestamp.flatMap { Timestamp(pts: $0, timeBase: stream.timeBase) } ?? .zero
    let expected = PixelFormat(ffmpegName: stream.pixelFormatName)
    differsFromStream =
      frame.width != stream.width || frame.height != stream.height
      || (expected != nil && frame.format != expected)
  }
}

extension DecodedFrame.PictureType {
  fileprivate init(_ type: AVPictureType) {
    switch type {
    case AV_PICTURE_TYPE_I, AV_PICTURE_TYPE_SI: self = .intra
    case AV_PICTURE_TYPE_P, AV_PICTURE_TYPE_SP: self = .predicted
    case AV_PICTURE_TYPE_B: self = .bidirectional
    default: self = .other
    }
  }
}

extension Frame {
  /// A frame that uses the picture's own memory, which is freed with the last reference to it.
  /// Range and matrix come from the picture if it specifies them, otherwise from the stream.
  ///
  /// - Parameter pictures: Notified when the frame no longer uses the picture.
  init(
    taking picture: UnsafeMutablePointer<AVFrame>, of stream: MediaStream,
    pictures: DecoderPictures
  ) {
    guard let format = PixelFormat(native: AVPixelFormat(picture.pointee.format)) else {
      preconditionFailure("the caller has checked the format")
    }
    self.init(
      picture.pointee, of: stream, format: format,
      storage: FrameStorage(
        taking: picture, planeCount: format.planeCount, pictures: pictures))
  }

  /// A copy of the picture with the same samples, in planes of one of our formats.
  ///
  /// - Throws: `MediaError.noMemory`.
  init(
    rearranging picture: UnsafeMutablePointer<AVFrame>, _ repack: FrameRepack,
    of stream: MediaStream
  ) throws(MediaError) {
    self.init(
      picture.pointee, of: stream, format: repack.format, storage: try repack.storage())
  }

  private init(
    _ decoded: AVFrame, of stream: MediaStream, format: PixelFormat, storage: FrameStorage
  ) {
    // FFmpeg's yuvj formats are full range by their name, even if the field is not set.
    let isFull = AVPixelFormat(decoded.format).isFullRangeByName || format.isRGB
    self.init(
      format: format, width: Int(decoded.width), height: Int(decoded.height),
      range: isFull ? .full : ColorRange(ffmpeg: decoded.color_range) ?? stream.range,
      matrix: format.isYUV ? ColorMatrix(ffmpeg: decoded.colorspace) ?? stream.matrix : .identity,
      rotationDegrees: stream.rotationDegrees, isMirrored: stream.isMirrored,
      sampleAspect: stream.aspect(of: decoded),
      storage: storage)
  }
}

extension Frame {
  /// A copy of the picture in a supported format.
  init(
    converting picture: UnsafeMutablePointer<AVFrame>, of stream: MediaStream,
    to format: PixelFormat, with scaler: MediaScaler
  ) throws(MediaError) {
    let decoded = picture.pointee
    let source = AVPixelFormat(decoded.format)
    let (width, height) = (Int(decoded.width), Int(decoded.height))
    let range: ColorRange =
      source.isRGB ? .full : ColorRange(ffmpeg: decoded.color_range) ?? stream.range
    let matrix = ColorMatrix(ffmpeg: decoded.colorspace) ?? stream.matrix
    let planes = (0..<Int32(4)).compactMap { index in
      retake_plane(picture, index).map {
        FrameStorage.Plane(base: UnsafePointer($0), stride: Int(retake_stride(picture, index)))
      }
    }
    let storage = try scaler.scale(
      planes,
      from: ScalePlan.Side(
        width: width, height: height, format: source, range: range, matrix: matrix),
      to: format, width: width, height: height, range: range, matrix: matrix)
    self.init(
      format: format, width: width, height: height, range: range,
      matrix: format.isYUV ? matrix : .identity, rotationDegrees: stream.rotationDegrees,
      isMirrored: stream.isMirrored,
      sampleAspect: stream.aspect(of: decoded), storage: storage)
  }
}

extension AVPixelFormat {
  /// The format that a camera's mosaic is converted to; nil for all others.
  var nearest: PixelFormat? {
    switch self {
    case AV_PIX_FMT_BAYER_RGGB8, AV_PIX_FMT_BAYER_GRBG8, AV_PIX_FMT_BAYER_GBRG8,
      AV_PIX_FMT_BAYER_BGGR8:
      .rgb
    default: nil
    }
  }
}

extension FrameStorage {
  /// Storage over a picture's planes. The picture is freed when the storage is.
  convenience init(
    taking picture: UnsafeMutablePointer<AVFrame>, planeCount: Int, pictures: DecoderPictures
  ) {
    let planes = (0..<Int32(planeCount)).map {
      Plane(
        base: UnsafePointer(FFmpeg.required(retake_plane(picture, $0))),
        stride: Int(retake_stride(picture, $0)))
    }
    // SAFETY: the address crosses into the closure as an integer because pointers are not
    // Sendable; the storage owns the picture and calls the closure once.
    let address = UInt(bitPattern: picture)
    let key = picture.pointee.loanKey
    if let key { pictures.beginReading(key) }
    self.init(planes: planes) {
      if let key { pictures.endReading(key) }
      var picture = UnsafeMutablePointer<AVFrame>(bitPattern: address)
      av_frame_free(&picture)
    }
  }
}
