import CFFmpeg
import RetakeBuffers
import RetakeCore

/// A frame as the decoder made it, and what the decoder says about it.
package struct DecodedFrame: Sendable {
  package enum PictureType: String, Hashable, Sendable {
    case intra = "I"
    case predicted = "P"
    case bidirectional = "B"
    case other = "-"
  }

  /// Its time stamp is the best-effort presentation time; its id is for the caller to set.
  package var frame: Frame
  /// The index of the packet that the frame comes from, as it was sent.
  package var packetIndex: Int
  package var pts: Int64?
  /// The presentation time, or FFmpeg's guess where there is none.
  package var bestEffortTimestamp: Int64?
  /// In units of the time base; 0 when unknown.
  package var duration: Int64
  package var isKey: Bool
  package var pictureType: PictureType
  /// FFmpeg's flags: bitstream errors, missing references, concealment.
  package var errorFlags: Int
  /// Errors, or made of a packet that the container calls corrupt.
  package var isDamaged: Bool
  /// The size or pixel format is not what the stream's description says.
  package var differsFromStream: Bool

  /// Takes over the picture: the frame's storage frees it.
  init(taking picture: UnsafeMutablePointer<AVFrame>, of stream: MediaStream) {
    // SAFETY: the caller owns the picture alone and gives it up here.
    let decoded = picture.pointee
    pts = decoded.pts.presentationTime
    bestEffortTimestamp = decoded.best_effort_timestamp.presentationTime
    duration = max(0, decoded.pkt_duration)
    packetIndex = Int(decoded.reordered_opaque)
    isKey = decoded.key_frame != 0
    pictureType = PictureType(decoded.pict_type)
    errorFlags = Int(decoded.decode_error_flags)
    isDamaged = decoded.decode_error_flags != 0 || decoded.flags & retake_frame_corrupt != 0
    frame = Frame(taking: picture, of: stream)
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
  /// A frame over the picture's own memory, which is freed with the last reference to it. Range and
  /// matrix are the picture's own where it states them, else the stream's.
  init(taking picture: UnsafeMutablePointer<AVFrame>, of stream: MediaStream) {
    let decoded = picture.pointee
    let ffmpegFormat = AVPixelFormat(decoded.format)
    guard let format = PixelFormat(ffmpeg: ffmpegFormat) else {
      preconditionFailure("the caller has checked the format")
    }
    let isFull = ffmpegFormat.isFullRangeByName || ffmpegFormat.isRGB
    self.init(
      format: format, width: Int(decoded.width), height: Int(decoded.height),
      range: isFull ? .full : ColorRange(ffmpeg: decoded.color_range) ?? stream.range,
      matrix: format.isYUV ? ColorMatrix(ffmpeg: decoded.colorspace) ?? stream.matrix : .identity,
      rotationDegrees: stream.rotationDegrees,
      sampleAspect: stream.sampleAspect,
      storage: FrameStorage(taking: picture, planeCount: format.planeCount))
  }
}

extension FrameStorage {
  /// Storage over a picture's planes. The picture is freed when the storage is.
  convenience init(taking picture: UnsafeMutablePointer<AVFrame>, planeCount: Int) {
    let planes = (0..<Int32(planeCount)).map {
      Plane(
        base: UnsafePointer(FFmpeg.required(retake_plane(picture, $0))),
        stride: Int(retake_stride(picture, $0)))
    }
    // SAFETY: the address crosses into the closure as an integer because pointers are not
    // Sendable; the storage owns the picture and calls the closure once.
    let address = UInt(bitPattern: picture)
    self.init(planes: planes) {
      var picture = UnsafeMutablePointer<AVFrame>(bitPattern: address)
      av_frame_free(&picture)
    }
  }
}
