import CFFmpeg
package import RetakeBuffers
import RetakeCore

/// Turns the frames of one track into packets.
///
/// It may move between threads, but only one thread at a time uses it.
package final class MediaEncoder: @unchecked Sendable {
  // SAFETY: @unchecked because the context is a pointer. It is made here, used by one thread at a
  // time by the rule above, and freed once, in deinit.
  package let settings: EncoderSettings
  private let pixelFormat: AVPixelFormat
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var packetCount = 0
  /// Durations of the frames in the encoder, by presentation time, because the encoder does not
  /// keep them.
  private var durations: [Int64: Int64] = [:]

  /// - Throws: `MediaError.noEncoder`, `.encoderFormat`, `.encoderSize`, `.encoderOption` or
  ///   `.encode`.
  package init(_ settings: EncoderSettings) throws {
    _ = FFmpeg.quiet
    guard let codec = avcodec_find_encoder_by_name(settings.encoder) else {
      throw MediaError.noEncoder(name: settings.encoder)
    }
    self.settings = settings
    pixelFormat = try Self.pixelFormat(settings, codec: codec)
    try Self.checkSize(settings)
    var options = OptionDictionary(Self.options(settings))
    var opened = open(codec, &options)
    if opened < 0, settings.encoder == "ffv1" {
      options = OptionDictionary(Self.unslicedOptions(settings))
      opened = open(codec, &options)
    }
    guard opened >= 0 else {
      throw failure(opened)
    }
    if let option = options.leftover {
      throw MediaError.encoderOption(
        encoder: settings.encoder, option: option, cause: "there is no such option")
    }
  }

  deinit {
    avcodec_free_context(&context)
  }

  private func open(
    _ codec: UnsafePointer<AVCodec>, _ options: inout OptionDictionary
  ) -> Int32 {
    // SAFETY: the context of a failed attempt is freed before the next attempt.
    avcodec_free_context(&context)
    guard let made = avcodec_alloc_context3(codec) else { return retake_error_no_memory }
    context = made
    configure(made)
    return avcodec_open2(made, codec, &options.pointer)
  }

  /// The description that a container and a decoder need.
  package var stream: MediaStream {
    var stream = MediaStream(
      video: "", width: settings.width, height: settings.height,
      pixelFormatName: AVPixelFormat.name(pixelFormat), range: settings.range,
      matrix: settings.matrix, sampleAspect: settings.sampleAspect, timeBase: settings.timeBase)
    guard let context = context?.pointee else { return stream }
    // SAFETY: the context owns its extradata; the bytes are copied.
    stream.codec = String(cString: avcodec_get_name(context.codec_id))
    stream.profile = Int(context.profile)
    stream.profileName = avcodec_profile_name(context.codec_id, context.profile)
      .map { String(cString: $0) }
    stream.extradata = Array(
      UnsafeBufferPointer(start: context.extradata, count: Int(context.extradata_size)))
    stream.delay = Int(context.has_b_frames)
    stream.averageFrameRate = settings.frameRate
    stream.color = settings.color
    return stream
  }

  /// Encodes a frame that is shown from `pts` for `duration` in units of the time base, and returns
  /// the finished packets. `isKey` requests a key frame; ffv1 ignores it and uses its interval.
  ///
  /// - Throws: `MediaError.encoderFormat` for a frame of another size or format, or `.encode`.
  package func encode(
    _ frame: Frame, pts: Int64, duration: Int64 = 0, isKey: Bool = false
  ) throws -> [MediaPacket] {
    guard frame.format == settings.format, frame.width == settings.width,
      frame.height == settings.height
    else {
      throw MediaError.encoderFormat(
        encoder: settings.encoder,
        format: "\(frame.width)x\(frame.height) \(frame.format.rawValue)",
        supported: ["\(settings.width)x\(settings.height) \(settings.format.rawValue)"])
    }
    var picture = av_frame_alloc()
    // SAFETY: the picture borrows the frame's planes, which live until the end of this call; the
    // library copies planes that have no counted buffer.
    defer { av_frame_free(&picture) }
    let borrowed = try FFmpeg.allocated(picture, "encode an image")
    fill(borrowed, with: frame, pts: pts, duration: duration, isKey: isKey)
    let sent = avcodec_send_frame(context, borrowed)
    withExtendedLifetime(frame) {}
    guard sent >= 0 else { throw failure(sent) }
    if duration > 0 { durations[pts] = duration }
    return try finishedPackets()
  }

  /// Returns the delayed packets; afterwards the encoder accepts no more frames.
  ///
  /// - Throws: `MediaError.encode`.
  package func finish() throws -> [MediaPacket] {
    let sent = avcodec_send_frame(context, nil)
    guard sent >= 0 || sent == retake_error_end else {
      throw failure(sent)
    }
    return try finishedPackets()
  }

  private func finishedPackets() throws -> [MediaPacket] {
    var packets: [MediaPacket] = []
    // Ends: each round removes one of the packets that the encoder has finished.
    while true {
      let payload = try PacketPayload()
      let received = avcodec_receive_packet(context, payload.pointer)
      if received == retake_error_again || received == retake_error_end { return packets }
      guard received >= 0 else {
        throw failure(received)
      }
      var packet = MediaPacket(payload, index: packetCount)
      if let duration = packet.pts.flatMap({ durations.removeValue(forKey: $0) }) {
        packet.duration = duration
      }
      packets.append(packet)
      packetCount += 1
    }
  }

  /// The error of the MPEG-4 and MJPEG encoders when they get no buffer for an image.
  private static let noBuffer: Int32 = -1

  private func failure(_ number: Int32) -> MediaError {
    guard number != Self.noBuffer,
      ImageLimit.isThere(width: settings.width, height: settings.height)
    else { return .noMemory(step: "encode an image", file: nil) }
    return MediaError.of(number, "encode an image") {
      .encode(encoder: settings.encoder, cause: $0)
    }
  }

  private func fill(
    _ picture: UnsafeMutablePointer<AVFrame>, with frame: Frame, pts: Int64, duration: Int64,
    isKey: Bool
  ) {
    for (index, plane) in frame.storage.planes.enumerated() {
      retake_set_plane(picture, Int32(index), plane.base, Int64(plane.stride))
    }
    picture.pointee.format = pixelFormat.rawValue
    picture.pointee.width = Int32(clamping: frame.width)
    picture.pointee.height = Int32(clamping: frame.height)
    picture.pointee.color_range = frame.range.ffmpeg
    picture.pointee.colorspace = frame.matrix.ffmpeg
    picture.pointee.pts = pts
    retake_set_duration(picture, duration)
    picture.pointee.pict_type = isKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
    if let quantizer = settings.quantizer {
      picture.pointee.quality = FF_QP2LAMBDA * Int32(clamping: quantizer)
    }
  }
}
