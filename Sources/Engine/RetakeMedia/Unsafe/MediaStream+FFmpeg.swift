import CFFmpeg
import RetakeBuffers
import RetakeCore

extension MediaStream {
  /// Reads the description from the container and from the first packets.
  init(_ stream: UnsafeMutablePointer<AVStream>, of context: UnsafeMutablePointer<AVFormatContext>)
  {
    // SAFETY: both pointers are valid as long as the demuxer's context; everything is copied.
    let parameters = stream.pointee.codecpar.pointee
    self.init(
      index: Int(stream.pointee.index), kind: Kind(parameters.codec_type),
      codec: String(cString: avcodec_get_name(parameters.codec_id)),
      timeBase: TimeBase(max(1, stream.pointee.time_base.num), max(1, stream.pointee.time_base.den))
    )
    codecTag = parameters.codec_tag
    isEncrypted = fourCharacters == "encv" || Self.hasKeyData(stream)
    profile = Int(parameters.profile)
    profileName = avcodec_profile_name(parameters.codec_id, parameters.profile)
      .map { String(cString: $0) }
    extradata = Array(
      UnsafeBufferPointer(start: parameters.extradata, count: Int(parameters.extradata_size)))
    start = stream.pointee.start_time.presentationTime
    frameCountHint = stream.pointee.nb_frames > 0 ? Int(stream.pointee.nb_frames) : nil
    guard kind == .video else { return }
    isAttachedPicture = stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
    width = Int(parameters.width)
    height = Int(parameters.height)
    bitsPerCodedSample = Int(parameters.bits_per_coded_sample)
    delay = Int(parameters.video_delay)
    averageFrameRate = FrameRate(known: stream.pointee.avg_frame_rate)
    // In a format without times the average is the demuxer's option, or missing (Motion JPEG).
    if ContainerFormats.untimed.contains(String(cString: context.pointee.iformat.pointee.name)) {
      averageFrameRate =
        FrameRate(known: retake_named_rate(stream)) ?? averageFrameRate
        ?? FrameRate(known: stream.pointee.r_frame_rate)
    }
    let aspect = av_guess_sample_aspect_ratio(context, stream, nil)
    sampleAspect = SampleAspect(aspect)
    // As av_guess_sample_aspect_ratio decides: the container's aspect has priority.
    aspectFollowsPictures = stream.pointee.sample_aspect_ratio.num == 0
    displayTurn = Self.turn(of: stream)
    rotationDegrees = displayTurn?.quarterDegrees ?? 0
    isMirrored = displayTurn.map { $0.isMirrored && $0.quarterDegrees != nil } ?? false
    if !Self.fieldCodecs.contains(codec) { firstField = VideoField(parameters.field_order) }
    readColor(parameters)
  }

  private mutating func readColor(_ parameters: AVCodecParameters) {
    let format = AVPixelFormat(parameters.format)
    pixelFormatName = AVPixelFormat.name(format)
    let known = PixelFormat(ffmpeg: format)
    let isFull = format.isFullRangeByName || known?.isRGB ?? format.isRGB
    let said = ColorRange(ffmpeg: parameters.color_range)
    range = isFull ? .full : said ?? .limited
    rangeAssumed = !isFull && said == nil
    if known.map({ !$0.isYUV }) ?? format.isRGB {
      matrix = .identity
    } else {
      let known = ColorMatrix(ffmpeg: parameters.color_space)
      matrix = known ?? .assumed(height: height)
      matrixAssumed = known == nil
    }
    color = ColorLabels(parameters, hasMatrix: known?.isYUV ?? true)
  }

  private static func hasKeyData(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
    // SAFETY: the side data and the dictionary belong to the stream; no reference to them is kept.
    var size = 0
    return retake_stream_side_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, &size) != nil
      || av_dict_get(stream.pointee.metadata, "enc_key_id", nil, 0) != nil
  }

  private static func turn(of stream: UnsafeMutablePointer<AVStream>) -> DisplayTurn? {
    var size = 0
    // SAFETY: the side data belongs to the stream; a display matrix is nine 32-bit numbers.
    guard let bytes = retake_stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size),
      size >= 36
    else { return nil }
    return DisplayTurn(matrix: bytes)
  }

  /// Converts the description back to FFmpeg's form.
  func fill(_ parameters: UnsafeMutablePointer<AVCodecParameters>) {
    // SAFETY: `parameters` is new; its extradata comes from the library's allocator, with the
    // padding that bit readers need, and is freed with the parameters.
    parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    parameters.pointee.codec_id = codecID
    parameters.pointee.codec_tag = codecTag
    parameters.pointee.profile = Int32(clamping: profile)
    parameters.pointee.width = Int32(clamping: width)
    parameters.pointee.height = Int32(clamping: height)
    parameters.pointee.format = av_get_pix_fmt(pixelFormatName).rawValue
    parameters.pointee.bits_per_coded_sample = Int32(clamping: bitsPerCodedSample)
    parameters.pointee.video_delay = Int32(clamping: delay)
    parameters.pointee.sample_aspect_ratio = AVRational(
      num: sampleAspect.numerator, den: sampleAspect.denominator)
    if !rangeAssumed { parameters.pointee.color_range = range.ffmpeg }
    if !matrixAssumed { parameters.pointee.color_space = matrix.ffmpeg }
    if let transfer = color.ffmpegTransfer { parameters.pointee.color_trc = transfer }
    if let primaries = color.ffmpegPrimaries { parameters.pointee.color_primaries = primaries }
    guard !extradata.isEmpty,
      let memory = av_mallocz(extradata.count + Int(retake_input_padding))
    else { return }
    memory.copyMemory(from: extradata, byteCount: extradata.count)
    parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
    parameters.pointee.extradata_size = Int32(clamping: extradata.count)
  }

  var codecID: AVCodecID {
    avcodec_descriptor_get_by_name(codec)?.pointee.id ?? AV_CODEC_ID_NONE
  }
}

extension ColorLabels {
  /// - Parameter hasMatrix: Whether the format has luma and chroma.
  fileprivate init(_ parameters: AVCodecParameters, hasMatrix: Bool) {
    // SAFETY: the library returns constant strings, or nil for unknown numbers.
    func name(_ text: UnsafePointer<CChar>?) -> String? {
      guard let text = text.map({ String(cString: $0) }) else { return nil }
      return ["unknown", "reserved"].contains(text) ? nil : text
    }
    self.init(
      transfer: name(av_color_transfer_name(parameters.color_trc)),
      primaries: name(av_color_primaries_name(parameters.color_primaries)))
    let space = parameters.color_space
    guard hasMatrix, ColorMatrix(ffmpeg: space) == nil else { return }
    otherMatrix = name(av_color_space_name(space))
  }

  // SAFETY: the library reads a string that Swift lends for the call; it returns a negative number
  // for a name that it does not know.
  var ffmpegTransfer: AVColorTransferCharacteristic? {
    transfer.flatMap { UInt32(exactly: av_color_transfer_from_name($0)) }
      .map { AVColorTransferCharacteristic($0) }
  }

  var ffmpegPrimaries: AVColorPrimaries? {
    primaries.flatMap { UInt32(exactly: av_color_primaries_from_name($0)) }
      .map { AVColorPrimaries($0) }
  }
}

extension MediaStream.Kind {
  init(_ type: AVMediaType) {
    switch type {
    case AVMEDIA_TYPE_VIDEO: self = .video
    case AVMEDIA_TYPE_AUDIO: self = .audio
    case AVMEDIA_TYPE_DATA: self = .data
    case AVMEDIA_TYPE_SUBTITLE: self = .subtitle
    default: self = .other
    }
  }
}

extension MediaStream {
  /// The aspect of a picture of this stream.
  func aspect(of picture: AVFrame) -> SampleAspect {
    let own = picture.sample_aspect_ratio
    return aspectFollowsPictures && own.num > 0 && own.den > 0 ? SampleAspect(own) : sampleAspect
  }
}

extension FrameRate {
  /// `nil` for a rate that FFmpeg does not know.
  init?(known rate: AVRational) {
    guard rate.num > 0, rate.den > 0 else { return nil }
    self.init(rate.num, rate.den)
  }
}

extension SampleAspect {
  /// An unknown aspect is square.
  init(_ aspect: AVRational) {
    let isKnown = aspect.num > 0 && aspect.den > 0
    self = isKnown ? SampleAspect(aspect.num, aspect.den) : .square
  }
}

extension Int64 {
  /// FFmpeg uses the smallest number for a missing time.
  var presentationTime: Int64? { self == retake_no_pts ? nil : self }
}

extension VideoField {
  /// The first field of interlaced images; nil for other images.
  ///
  /// FFmpeg's muxers and its decoder of raw video take the first letter, as Apple's TN2162 and
  /// Matroska do for these numbers, and not the second, as the comments of the header do.
  fileprivate init?(_ order: AVFieldOrder) {
    switch order {
    case AV_FIELD_TT, AV_FIELD_TB: self = .top
    case AV_FIELD_BB, AV_FIELD_BT: self = .bottom
    default: return nil
    }
  }
}
