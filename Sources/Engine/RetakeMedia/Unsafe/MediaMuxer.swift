import CFFmpeg
import RetakeCore

/// Writes packets into a container, through the caller's output.
///
/// Packets are written in the given order. Bytes written before a `flush` survive a crash; call
/// `finish` for a container with an index and a duration. The muxer may move between threads, but
/// only one thread at a time uses it.
package final class MediaMuxer: @unchecked Sendable {
  // SAFETY: @unchecked because the context is a pointer. It is made here, used by one thread at a
  // time by the rule above, and freed once, in deinit, before the output that it writes to.
  package let format: String
  package let file: String?
  private let timeBases: [TimeBase]
  private let output: OutputState
  private var context: UnsafeMutablePointer<AVFormatContext>?

  /// Writes the container's header.
  ///
  /// - Parameters:
  ///   - format: FFmpeg's name: `matroska`, `mp4`, `avi`.
  ///   - file: The name of the output in errors.
  ///   - clusterMilliseconds: Maximum duration of a Matroska cluster.
  ///   - comment: Metadata that identifies the file.
  ///   - options: The container's own options.
  /// - Throws: `MediaError.muxer` or `.write`.
  package init(
    format: String = "matroska", to output: MediaOutput, file: String? = nil,
    streams: [MediaStream], clusterMilliseconds: Int = 500,
    comment: String? = nil, options: [EncoderSettings.Option] = []
  ) throws {
    _ = FFmpeg.quiet
    self.format = format
    self.file = file
    timeBases = streams.map(\.timeBase)
    self.output = OutputState(output)
    let made = avformat_alloc_output_context2(&context, nil, format, nil)
    guard made >= 0, let context else {
      throw MediaError.muxer(format: format, file: file, cause: FFmpeg.text(made))
    }
    context.pointee.pb = self.output.makeContext()
    context.pointee.flags |= retake_format_bitexact | retake_format_custom_io
    if let comment { av_dict_set(&context.pointee.metadata, "comment", comment, 0) }
    for stream in streams { try Self.add(stream, to: context, file: file) }
    try writeHeader(context, clusterMilliseconds: clusterMilliseconds, options: options)
  }

  deinit {
    let writer = context?.pointee.pb
    avformat_free_context(context)
    OutputState.free(writer)
  }

  /// Whether libavformat can write this codec into the container; nil if it does not report that.
  ///
  /// - Parameter format: FFmpeg's name, such as `webm`.
  package static func holds(codec: String, format: String) -> Bool? {
    // SAFETY: formats and descriptors are constants of the library.
    guard let output = av_guess_format(format, nil, nil),
      let id = avcodec_descriptor_get_by_name(codec)?.pointee.id
    else { return nil }
    switch avformat_query_codec(output, id, FF_COMPLIANCE_EXPERIMENTAL) {
    case 0: return false
    case 1: return true
    default: return nil
    }
  }

  /// Number of bytes passed to the output so far; after `flush` that is everything.
  package var bytesWritten: Int64 { output.end }

  /// The position in the output after the last packet, also before it is flushed.
  package var position: Int64 { avio_tell(context?.pointee.pb) }

  /// Adds a packet. Its stream is the index in the muxer's list of streams; its times are in that
  /// stream's time base.
  ///
  /// - Throws: `MediaError.muxer` or `.write`.
  package func write(_ packet: MediaPacket) throws {
    precondition(timeBases.indices.contains(packet.stream), "the muxer has that stream")
    guard let context, let stream = context.pointee.streams[packet.stream] else { return }
    var reference = av_packet_alloc()
    // SAFETY: the reference shares the payload's counted bytes and is freed here.
    defer { av_packet_free(&reference) }
    let copied = try FFmpeg.allocated(reference, "write a packet", file: file)
    try check(av_packet_ref(copied, packet.payload.pointer))
    copied.pointee.stream_index = Int32(clamping: packet.stream)
    copied.pointee.pts = packet.pts ?? retake_no_pts
    copied.pointee.dts = packet.dts ?? retake_no_pts
    copied.pointee.duration = packet.duration
    copied.pointee.flags = packet.flags.ffmpeg
    copied.pointee.pos = -1
    let base = timeBases[packet.stream]
    av_packet_rescale_ts(
      copied, AVRational(num: base.numerator, den: base.denominator), stream.pointee.time_base)
    try check(av_write_frame(context, copied))
  }

  /// Closes the open cluster and passes all bytes to the output, so that the caller can sync them.
  ///
  /// - Throws: `MediaError.muxer` or `.write`.
  package func flush() throws {
    let flushed = av_write_frame(context, nil)
    avio_flush(context?.pointee.pb)
    try check(flushed)
  }

  /// Writes the container's end, and updates its beginning.
  ///
  /// - Throws: `MediaError.muxer` or `.write`.
  package func finish() throws {
    let written = av_write_trailer(context)
    avio_flush(context?.pointee.pb)
    try check(written)
  }

  private func writeHeader(
    _ context: UnsafeMutablePointer<AVFormatContext>, clusterMilliseconds: Int,
    options: [EncoderSettings.Option]
  ) throws {
    let cluster = [(name: "cluster_time_limit", value: "\(clusterMilliseconds)")]
    var dictionary = OptionDictionary(
      (format == "matroska" || format == "webm" ? cluster : [])
        + options.map { ($0.name, $0.value) })
    try check(avformat_write_header(context, &dictionary.pointer))
    if let option = dictionary.leftover {
      throw MediaError.muxer(format: format, file: file, cause: "there is no option \(option)")
    }
  }

  private static func add(
    _ description: MediaStream, to context: UnsafeMutablePointer<AVFormatContext>, file: String?
  ) throws {
    // SAFETY: the stream belongs to the context and is freed with it.
    let stream = FFmpeg.required(avformat_new_stream(context, nil))
    description.fill(FFmpeg.required(stream.pointee.codecpar))
    stream.pointee.codecpar.pointee.codec_tag = description.containerTag
    stream.pointee.sample_aspect_ratio = stream.pointee.codecpar.pointee.sample_aspect_ratio
    // Without this tag browsers ignore the opacity in the packets.
    if description.hasOpacity { av_dict_set(&stream.pointee.metadata, "alpha_mode", "1", 0) }
    stream.pointee.time_base = AVRational(
      num: description.timeBase.numerator, den: description.timeBase.denominator)
    if let rate = description.averageFrameRate {
      stream.pointee.avg_frame_rate = AVRational(num: rate.numerator, den: rate.denominator)
    }
    guard let turn = description.turn else { return }
    // SAFETY: the memory has room for the nine numbers, and the stream owns it. A container without
    // a place for them ignores them.
    try turn.matrix.withUnsafeBytes { matrix in
      let memory = retake_new_stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, matrix.count)
      guard let bytes = matrix.baseAddress else { return }
      UnsafeMutableRawPointer(try FFmpeg.allocated(memory, "write a stream", file: file))
        .copyMemory(from: bytes, byteCount: matrix.count)
    }
  }

  /// After a failed write, any error of FFmpeg is reported as that failure.
  private func check(_ result: Int32) throws {
    if output.errorNumber != 0 {
      throw MediaError.write(
        file: file, errorNumber: output.errorNumber,
        cause: FFmpeg.text(retake_error_from_errno(output.errorNumber)))
    }
    guard result >= 0 else {
      throw MediaError.muxer(format: format, file: file, cause: FFmpeg.text(result))
    }
  }
}

extension MediaStream {
  /// The four characters that identify formats of raw images in containers, and the kinds of
  /// ProRes, of which 4444 has other pixels; 0 for other codecs.
  fileprivate var containerTag: UInt32 {
    switch codecID {
    case AV_CODEC_ID_RAWVIDEO: avcodec_pix_fmt_to_codec_tag(av_get_pix_fmt(pixelFormatName))
    case AV_CODEC_ID_PRORES: codecTag
    default: 0
    }
  }
}
