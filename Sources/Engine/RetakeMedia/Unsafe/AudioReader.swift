import CFFmpeg
package import RetakeCore

/// Decodes an audio stream: to one channel of floating-point samples, the mean of all channels, or
/// to integers of all channels.
package final class AudioReader: @unchecked Sendable {
  // SAFETY: @unchecked because of the pointers. They are made here, used by one thread at a time,
  // and freed once, in deinit.
  private let demuxer: MediaDemuxer
  private let stream: MediaStream
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var frame: UnsafeMutablePointer<AVFrame>?
  private var isDrained = false

  /// A part of the stream.
  package struct Piece {
    /// The time of the first sample on the file's time line; nil if the file does not say it.
    package var start: Timestamp?
    /// Samples a second.
    package var rate: Int
    package var samples: [Float]
  }

  /// A part of the stream as integers.
  package struct Levels {
    /// The time of the first sample on the file's time line; nil if the file does not say it.
    package var start: Timestamp?
    /// Samples a second.
    package var rate: Int
    package var channels: Int
    /// All channels of the first instant, then all channels of the second, and so on.
    package var samples: [Int16]

    /// For sound from elsewhere.
    package init(start: Timestamp?, rate: Int, channels: Int, samples: [Int16]) {
      (self.start, self.rate) = (start, rate)
      (self.channels, self.samples) = (channels, samples)
    }
  }

  /// The kind of decoder that is used.
  package enum Precision: Sendable {
    /// The usual decoder, which may compute in floating point, a little differently on each
    /// processor.
    case usual
    /// A decoder that computes with integers, if FFmpeg has it: the same samples on every machine.
    case integers

    /// The integer decoder of each codec whose usual decoder computes in floating point.
    fileprivate static let integerDecoders: [AVCodecID: String] = [
      AV_CODEC_ID_AAC: "aac_fixed", AV_CODEC_ID_AC3: "ac3_fixed", AV_CODEC_ID_MP1: "mp1",
      AV_CODEC_ID_MP2: "mp2", AV_CODEC_ID_MP3: "mp3",
    ]
  }

  /// Packets that may be damaged, one after another, before the stream counts as unreadable.
  private static let damagedMax = 64
  /// More channels than any microphone array of a camera has.
  private static let channelsMax = 64
  private var damaged = 0
  /// How many packets could not be decoded so far.
  package private(set) var damagedCount = 0

  /// - Parameter stream: The index of an audio stream; nil for the first audio stream.
  /// - Throws: `MediaError.noAudio`, and the errors of a file that cannot be opened.
  package init(
    path: String, stream index: Int? = nil, precision: Precision = .usual
  ) throws {
    demuxer = try MediaDemuxer(path: path)
    let streams = demuxer.streams.filter { $0.kind == .audio }
    guard let stream = index.map({ index in streams.first { $0.index == index } }) ?? streams.first
    else { throw MediaError.noAudio(file: path) }
    self.stream = stream
    demuxer.select([stream.index])
    // SAFETY: the stream belongs to the demuxer's context, which lives as long as this object; the
    // decoder copies its parameters.
    guard let parameters = demuxer.context?.pointee.streams[stream.index]?.pointee.codecpar,
      let codec = Self.decoder(parameters.pointee.codec_id, precision)
    else { throw MediaError.noDecoder(codec: stream.codecText, file: path) }
    context = try FFmpeg.allocated(avcodec_alloc_context3(codec), "open a decoder", file: path)
    frame = try FFmpeg.allocated(av_frame_alloc(), "decode audio", file: path)
    guard avcodec_parameters_to_context(context, parameters) >= 0,
      avcodec_open2(context, codec, nil) >= 0
    else { throw MediaError.noDecoder(codec: stream.codecText, file: path) }
  }

  private static func decoder(
    _ id: AVCodecID, _ precision: Precision
  ) -> UnsafePointer<AVCodec>? {
    if precision == .integers, let name = Precision.integerDecoders[id],
      let codec = avcodec_find_decoder_by_name(name)
    {
      return codec
    }
    return avcodec_find_decoder(id)
  }

  deinit {
    av_frame_free(&frame)
    avcodec_free_context(&context)
  }

  /// The next part; nil at the end. Damaged packets are skipped.
  package func next() throws -> Piece? { try next { piece() } }

  /// The next part as integers; nil at the end. Damaged packets are skipped.
  package func nextLevels() throws -> Levels? { try next { levels() } }

  private func next<Part>(_ part: () -> Part?) throws -> Part? {
    // Ends: each round consumes a packet or a frame of a finite file.
    while true {
      let received = avcodec_receive_frame(context, frame)
      if received >= 0 {
        damaged = 0
        if let part = part() { return part }
        continue
      }
      if received == retake_error_end { return nil }
      guard received == retake_error_again else {
        try countDamage(received)
        continue
      }
      try feed()
    }
  }

  private func feed() throws {
    while !isDrained {
      guard let packet = try demuxer.nextPacket() else {
        isDrained = true
        avcodec_send_packet(context, nil)
        return
      }
      guard packet.stream == stream.index else { continue }
      // SAFETY: the packet belongs to the payload, which lives until the call returns; the decoder
      // makes its own reference.
      let sent = avcodec_send_packet(context, packet.payload.pointer)
      withExtendedLifetime(packet) {}
      guard sent >= 0 else {
        try countDamage(sent)
        continue
      }
      return
    }
  }

  private func countDamage(_ error: Int32) throws {
    damaged += 1
    damagedCount += 1
    guard damaged <= Self.damagedMax else {
      throw MediaError.read(file: demuxer.path, cause: FFmpeg.text(error))
    }
  }

  /// The properties of the decoded frame.
  private struct Shape {
    var frame: UnsafeMutablePointer<AVFrame>
    var start: Timestamp?
    var count: Int
    var rate: Int
    var channels: Int
  }

  private func shape() -> Shape? {
    guard let frame else { return nil }
    let (count, rate) = (Int(frame.pointee.nb_samples), Int(frame.pointee.sample_rate))
    let channels = Int(frame.pointee.ch_layout.nb_channels)
    guard count > 0, rate > 0, (1...Self.channelsMax).contains(channels) else { return nil }
    let pts = frame.pointee.best_effort_timestamp.presentationTime
    return Shape(
      frame: frame, start: pts.flatMap { Timestamp(pts: $0, timeBase: stream.timeBase) },
      count: count, rate: rate, channels: channels)
  }

  private func piece() -> Piece? {
    guard let shape = shape() else { return nil }
    return Piece(start: shape.start, rate: shape.rate, samples: mono(shape))
  }

  private func levels() -> Levels? {
    guard let shape = shape() else { return nil }
    let channels = shape.channels
    var samples = [Int16](repeating: 0, count: shape.count * channels)
    eachChannel(of: shape) { channel, plane, first, step, format in
      for index in 0..<shape.count {
        samples[index * channels + channel] = Self.level(plane, at: first + index * step, format)
      }
    }
    return Levels(start: shape.start, rate: shape.rate, channels: channels, samples: samples)
  }

  /// For each channel the plane that has its samples, the place of the first sample, the distance
  /// to the next, and the format of a sample.
  private func eachChannel(
    of shape: Shape, _ body: (Int, UnsafeRawPointer, Int, Int, AVSampleFormat) -> Void
  ) {
    let format = AVSampleFormat(rawValue: shape.frame.pointee.format)
    let isPlanar = av_sample_fmt_is_planar(format) != 0
    let packed = av_get_packed_sample_fmt(format)
    for channel in 0..<shape.channels {
      // SAFETY: a decoded frame has one plane of `count` samples for each channel, or one plane of
      // `count` samples of all channels in turn.
      guard let plane = shape.frame.pointee.extended_data[isPlanar ? channel : 0] else { continue }
      let (first, step) = isPlanar ? (0, 1) : (channel, shape.channels)
      body(channel, UnsafeRawPointer(plane), first, step, packed)
    }
  }

  /// A sample in 16 bits: of wider integers the upper bits, of floating-point numbers the nearest
  /// integer, an even one of two.
  private static func level(
    _ plane: UnsafeRawPointer, at index: Int, _ format: AVSampleFormat
  ) -> Int16 {
    switch format {
    case AV_SAMPLE_FMT_U8:
      (Int16(plane.load(fromByteOffset: index, as: UInt8.self)) - 128) << 8
    case AV_SAMPLE_FMT_S16: plane.load(fromByteOffset: 2 * index, as: Int16.self)
    case AV_SAMPLE_FMT_S32:
      Int16(plane.load(fromByteOffset: 4 * index, as: Int32.self) >> 16)
    case AV_SAMPLE_FMT_FLT:
      nearest(Double(plane.load(fromByteOffset: 4 * index, as: Float.self)))
    case AV_SAMPLE_FMT_DBL: nearest(plane.load(fromByteOffset: 8 * index, as: Double.self))
    default: 0
    }
  }

  private static func nearest(_ value: Double) -> Int16 {
    guard !value.isNaN else { return 0 }
    return Int16(max(-32_768, min(32_767, (value * 32_768).rounded(.toNearestOrEven))))
  }

  private func mono(_ shape: Shape) -> [Float] {
    var sums = [Float](repeating: 0, count: shape.count)
    eachChannel(of: shape) { _, plane, first, step, format in
      for index in 0..<shape.count {
        sums[index] += Self.value(plane, at: first + index * step, format)
      }
    }
    return shape.channels == 1 ? sums : sums.map { $0 / Float(shape.channels) }
  }

  private static func value(
    _ plane: UnsafeRawPointer, at index: Int, _ format: AVSampleFormat
  ) -> Float {
    switch format {
    case AV_SAMPLE_FMT_U8:
      (Float(plane.load(fromByteOffset: index, as: UInt8.self)) - 128) / 128
    case AV_SAMPLE_FMT_S16:
      Float(plane.load(fromByteOffset: 2 * index, as: Int16.self)) / 32_768
    case AV_SAMPLE_FMT_S32:
      Float(plane.load(fromByteOffset: 4 * index, as: Int32.self)) / 2_147_483_648
    case AV_SAMPLE_FMT_FLT: plane.load(fromByteOffset: 4 * index, as: Float.self)
    case AV_SAMPLE_FMT_DBL: Float(plane.load(fromByteOffset: 8 * index, as: Double.self))
    default: 0
    }
  }
}
