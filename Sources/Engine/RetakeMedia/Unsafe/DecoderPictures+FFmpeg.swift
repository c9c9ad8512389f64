import CFFmpeg
import RetakeBuffers

extension DecoderPictures {
  /// FFmpeg's `get_buffer2`: the decoder requests memory for its next picture. The context's
  /// `opaque` is one of the `PacketMarks`, which outlive the context.
  static let getBuffer:
    @convention(c) (
      UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, Int32
    ) -> Int32 = { context, frame, flags in
      guard let context, let frame, let opaque = context.pointee.opaque else {
        return retake_error_invalid_argument
      }
      // Images of other formats are rearranged, converted or refused after decoding, and no frame
      // refers to them.
      guard PixelFormat(native: AVPixelFormat(frame.pointee.format)) != nil else {
        return avcodec_default_get_buffer2(context, frame, flags)
      }
      // SAFETY: the decoder retains its marks and frees the context before releasing them.
      return PacketMarks.Mark(opaque).pictures.lend(to: frame, of: context)
    }

  private func lend(
    to frame: UnsafeMutablePointer<AVFrame>, of context: UnsafeMutablePointer<AVCodecContext>
  ) -> Int32 {
    var offsets: [Int64] = [0, 0, 0, 0]
    var strides: [Int32] = [0, 0, 0, 0]
    // SAFETY: both arrays have the four entries that the layout fills.
    let size = retake_picture_layout(context, frame, &offsets, &strides)
    guard size > 0 else { return Int32(truncatingIfNeeded: size) }
    let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
    guard let buffer = buffer(size: Int(size), width: width, height: height) else {
      return retake_error_no_memory
    }
    // SAFETY: the layout's planes are inside the buffer, and the frame now owns its reference.
    retake_picture_attach(frame, buffer, &offsets, &strides)
    return 0
  }
}
