import CFFmpeg
import RetakeBuffers
import RetakeCore

/// Turns the packets of one video stream into frames, in presentation order.
///
/// The decoder writes its pictures into `ImageMemory`, and a frame is a counted reference to them:
/// no pixels are copied. With its settings (bit-exact, simple inverse transform) the decoder
/// returns the same pixels on every run. It may move between threads, but only one thread at a time
/// uses it.
package final class MediaDecoder: @unchecked Sendable {
  // SAFETY: @unchecked because the context is a pointer. It is made here, used by one thread at a
  // time by the rule above, and freed once, in deinit, before the memory that it refers to.
  package let stream: MediaStream
  package let file: String?
  /// FFmpeg's name of the decoder, such as `h264` or `libdav1d`.
  package let name: String
  /// Whether the decoder writes into `memory`; otherwise it has its own buffers.
  package let usesImageMemory: Bool
  private var context: UnsafeMutablePointer<AVCodecContext>?
  /// The memory that it has borrowed.
  package let pictures: DecoderPictures
  private let marks: PacketMarks
  /// Converts formats that a live source may have and a session may not; nil rejects them.
  let scaler: MediaScaler?
  private var shape = SequenceShape()

  /// - Parameters:
  ///   - file: The origin of the packets, for errors.
  ///   - threads: FFmpeg's own threads; pixels do not depend on their number.
  ///   - bytesMax: Maximum memory of the pictures that it holds, see `PixelBudget`.
  ///   - converts: Convert the mosaic of a camera's sensor to colors instead of rejecting it.
  /// - Throws: `MediaError.noDecoder`, `.bitDepth`, `.pixelFormat`, `.decode` or `.noMemory`.
  package init(
    stream: MediaStream, file: String? = nil, threads: Int = 1,
    memory: ImageMemory = ImageMemory(), converts: Bool = false,
    bytesMax: Int = PixelBudget.ofProcess.decoderBytesMax
  ) throws(MediaError) {
    _ = FFmpeg.quiet
    try Self.checkFormat(stream, file: file, converts: converts)
    guard let codec = avcodec_find_decoder(stream.codecID) else {
      // Video of a shop, with FairPlay.
      if stream.fourCharacters == "drmi" { throw .protected(file: file) }
      throw .noDecoder(codec: stream.codecText, file: file)
    }
    self.stream = stream
    self.file = file
    pictures = DecoderPictures(codec: stream.codec, memory: memory, bytesMax: bytesMax)
    marks = PacketMarks(pictures, threads: max(1, threads))
    scaler = converts ? MediaScaler() : nil
    name = String(cString: codec.pointee.name)
    usesImageMemory = codec.pointee.capabilities & retake_codec_direct_rendering != 0
    let context = try FFmpeg.allocated(avcodec_alloc_context3(codec), "open a decoder", file: file)
    self.context = context
    try configure(context, threads: threads)
    let opened = avcodec_open2(context, codec, nil)
    // Only a failure to create threads returns this error, because threads need address space.
    guard opened != retake_error_again else {
      throw .noMemory(step: "begin the threads of a decoder", file: file)
    }
    guard opened >= 0 else { throw failure(opened) }
  }

  deinit {
    avcodec_free_context(&context)
  }

  /// Sends a packet to the decoder; afterwards call `receive` until it returns nil.
  ///
  /// - Throws: `MediaError.decode` when the decoder rejects the packet, `.encrypted` when a key is
  ///   needed, or `.noMemory`; the next packet may succeed. `.pictureMemory` for a stream that
  ///   needs more memory than allowed.
  package func send(_ packet: MediaPacket) throws(MediaError) {
    // Without the key a decoder returns garbage, and does not always report an error.
    guard !packet.isEncrypted else { throw .encrypted(file: file) }
    var reference = av_packet_alloc()
    // SAFETY: the reference shares the payload's counted bytes and is freed here.
    defer { av_packet_free(&reference) }
    let copied = try FFmpeg.allocated(reference, "read a packet", file: file)
    let referenced = av_packet_ref(copied, packet.payload.pointer)
    guard referenced >= 0 else { throw failure(referenced, packet: packet.index) }
    copied.pointee.pts = packet.pts ?? retake_no_pts
    copied.pointee.dts = packet.dts ?? retake_no_pts
    copied.pointee.duration = packet.duration
    // A packet that this process made itself: test images are passed as images, not as bytes.
    let trusted = packet.payload.pointer.pointee.flags & retake_packet_trusted
    copied.pointee.flags = packet.flags.ffmpeg | trusted
    copied.pointee.pos = packet.offset ?? -1
    retake_number_packet(context, copied, Int64(packet.index))
    context?.pointee.opaque = marks.next(for: packet.index)
    let sent = avcodec_send_packet(context, copied)
    precondition(sent != retake_error_again, "receive until nil before sending more")
    try checkMemory()
    guard sent >= 0 else { throw failure(sent, packet: packet.index) }
  }

  /// Number of pictures that the decoder delays now. A decoder that meets pictures out of order
  /// increases its delay, and then returns other pictures than a decoder that had this delay from
  /// the start.
  package var delay: Int { Int(context?.pointee.has_b_frames ?? 0) }

  /// Whether the decoder has to be drained before this packet, because it would forget the pictures
  /// that it holds. Asked once for each packet.
  package func mustDrain(before packet: MediaPacket) -> Bool {
    SequenceShape.mayChange(codec: stream.codec) && shape.changes(at: packet)
  }

  /// The next finished frame; nil when the decoder needs another packet or has ended.
  ///
  /// - Throws: `MediaError.decode`, or `.bitDepth` or `.pixelFormat` for a frame of another format.
  package func receive() throws(MediaError) -> DecodedFrame? {
    guard let picture = try receivePicture() else { return nil }
    let format = AVPixelFormat(picture.pointee.format)
    if PixelFormat(native: format) != nil {
      return DecodedFrame(taking: picture, of: stream, pictures: pictures)
    }
    var foreign: UnsafeMutablePointer<AVFrame>? = picture
    defer { av_frame_free(&foreign) }
    if let repack = FrameRepack(picture) {
      return try DecodedFrame(rearranging: picture, repack, of: stream)
    }
    guard let scaler, let target = format.nearest else { throw format.refusal(file: file) }
    return try DecodedFrame(converting: picture, of: stream, to: target, with: scaler)
  }

  /// The next picture of any format; the caller frees it.
  func receivePicture() throws(MediaError) -> UnsafeMutablePointer<AVFrame>? {
    var picture: UnsafeMutablePointer<AVFrame>? =
      try FFmpeg.allocated(av_frame_alloc(), "decode an image", file: file)
    let received = avcodec_receive_frame(context, picture)
    do throws(MediaError) {
      try checkMemory()
    } catch {
      // SAFETY: there is only this reference to the picture, here and below.
      av_frame_free(&picture)
      throw error
    }
    if received >= 0 { return picture }
    av_frame_free(&picture)
    if received == retake_error_again || received == retake_error_end { return nil }
    throw failure(received)
  }

  /// The lines that the decoder has written to its log since the last call, by packet. With several
  /// threads, a line may come after the pictures of later packets.
  package func takeReports() -> [DecoderReport] { pictures.log.take() }

  /// Tells the decoder that no packet follows; `receive` then returns the delayed frames.
  ///
  /// - Throws: `MediaError.decode`.
  package func drain() throws(MediaError) {
    let sent = avcodec_send_packet(context, nil)
    try checkMemory()
    guard sent >= 0 || sent == retake_error_end else { throw failure(sent) }
  }

  /// Resets the decoder, even after `drain`; the next packet may be from anywhere.
  package func flush() {
    avcodec_flush_buffers(context)
  }

  /// Maximum pixels of one picture; larger pictures are rejected before any memory is allocated.
  private static let pixelsMax: Int64 = 1 << 27

  private func configure(
    _ context: UnsafeMutablePointer<AVCodecContext>, threads: Int
  ) throws(MediaError) {
    var parameters: UnsafeMutablePointer<AVCodecParameters>? = avcodec_parameters_alloc()
    // SAFETY: the library copies the parameters into the context; these are freed here.
    defer { avcodec_parameters_free(&parameters) }
    stream.fill(try FFmpeg.allocated(parameters, "open a decoder", file: file))
    let filled = avcodec_parameters_to_context(context, parameters)
    guard filled >= 0 else { throw failure(filled) }
    context.pointee.flags |= retake_codec_bitexact | retake_codec_unaligned
    context.pointee.idct_algo = FF_IDCT_SIMPLE
    context.pointee.thread_count = Int32(clamping: max(1, threads))
    context.pointee.max_pixels = Self.pixelsMax
    context.pointee.pkt_timebase = AVRational(
      num: stream.timeBase.numerator, den: stream.timeBase.denominator)
    // Checksums that streams have of their own pictures, as HEVC with picture hashes.
    context.pointee.err_recognition |= AV_EF_CRCCHECK
    context.pointee.opaque = marks.first
    retake_number_packets(context)
    if usesImageMemory {
      context.pointee.get_buffer2 = DecoderPictures.getBuffer
      retake_allow_callbacks_on_any_thread(context)
    }
  }

  /// Decoders report a lack of memory in different ways, or not at all.
  private func checkMemory() throws(MediaError) {
    switch pictures.takeRefusal() {
    case nil: return
    case .noMemory: throw .noMemory(step: "decode an image", file: file)
    case .limit(let width, let height, let bytes):
      throw .pictureMemory(
        width: width, height: height, bytes: bytes, bytesMax: pictures.bytesMax, file: file)
    }
  }

  /// Some decoders report an invalid packet when an allocation besides the picture failed.
  private var hasRoomForImage: Bool {
    ImageLimit.isThere(width: stream.width, height: stream.height)
  }

  private func failure(_ number: Int32, packet: Int? = nil) -> MediaError {
    guard hasRoomForImage else { return .noMemory(step: "decode an image", file: file) }
    return MediaError.of(number, "decode an image", file: file) {
      .decode(packet: packet, file: file, cause: $0)
    }
  }

  private static func checkFormat(
    _ stream: MediaStream, file: String?, converts: Bool
  ) throws(MediaError) {
    let (width, height) = (Int64(stream.width), Int64(stream.height))
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= pixelsMax else {
      throw .pictureTooLarge(
        width: stream.width, height: stream.height, pixelsMax: pixelsMax, file: file)
    }
    guard !stream.pixelFormatName.isEmpty else { return }
    let format = av_get_pix_fmt(stream.pixelFormatName)
    guard PixelFormat(ffmpeg: format) != nil || (converts && format.nearest != nil) else {
      throw format.refusal(file: file)
    }
  }
}

/// Whether there is memory for a codec's picture and its additional data.
enum ImageLimit {
  /// More than a codec allocates at once for anything but pictures and their additional data.
  private static let probeBytesMin = 16 << 20
  /// Maximum pixels in a row or a column; larger pictures are not decoded or encoded.
  private static let sideMax = 1 << 27

  static func isThere(width: Int, height: Int) -> Bool {
    let (width, height) = (max(0, width), max(0, height))
    guard width <= sideMax, height <= sideMax else { return true }
    let bytes = probeBytesMin + 2 * PixelFormat.i420.visibleBytes(width: width, height: height)
    // SAFETY: only this function uses the block and frees it; it writes no bytes to it.
    guard let block = retake_allocate(Int64(bytes)) else { return false }
    retake_free(block, Int64(bytes))
    return true
  }
}

extension MediaDecoder {
  /// Sends a packet, or drains with nil, and returns all frames that are finished.
  ///
  /// - Throws: The errors of `send`, `drain` and `receive`.
  package func decode(_ packet: MediaPacket?) throws(MediaError) -> [DecodedFrame] {
    var frames: [DecodedFrame] = []
    if let packet, mustDrain(before: packet) {
      try drain()
      while let frame = try receive() { frames.append(frame) }
      flush()
    }
    if let packet { try send(packet) } else { try drain() }
    while let frame = try receive() { frames.append(frame) }
    return frames
  }
}
