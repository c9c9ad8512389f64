package import RetakeBuffers
package import RetakeCore

/// A container's description of one stream; everything that is needed to make a decoder later.
package struct MediaStream: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case video, audio, data, subtitle, other
  }

  /// The container's own index.
  package var index: Int
  package var kind: Kind
  /// FFmpeg's name, such as `h264`; `none` if FFmpeg does not know the codec.
  package var codec: String
  /// The container's four-character code of the codec, first character in the lowest byte; 0 if it
  /// has no code.
  package var codecTag: UInt32 = 0
  /// Whether the container marks packets as encrypted; some at the beginning may not be.
  package var isEncrypted = false
  /// Whether this is a still image that belongs to the file, such as a cover, and not a video.
  package var isAttachedPicture = false
  /// FFmpeg's number; -99 when unknown.
  package var profile: Int = -99
  package var profileName: String?
  package var extradata: [UInt8] = []
  /// In pixels; 0 unless it is video.
  package var width = 0
  package var height = 0
  /// FFmpeg's name, such as `yuvj420p`; empty when unknown.
  package var pixelFormatName = ""
  package var bitsPerCodedSample = 0
  package var range: ColorRange = .limited
  /// Whether the range is not specified and was assumed.
  package var rangeAssumed = false
  package var matrix: ColorMatrix = .identity
  /// Whether the matrix is not specified and was assumed.
  package var matrixAssumed = false
  /// The stream's color labels except range and matrix.
  package var color = ColorLabels()
  /// Clockwise rotation of the image for display, in degrees: 0, 90, 180 or 270.
  package var rotationDegrees = 0
  /// Whether a viewer mirrors the image left to right before it rotates it.
  package var isMirrored = false
  /// How the container says that the images are shown; nil if as they are. Only quarter turns are
  /// in `rotationDegrees`.
  package var displayTurn: DisplayTurn?
  /// The field that was exposed first, if the container says that the images are interlaced and the
  /// codec cannot say it.
  package var firstField: VideoField?
  /// How viewers show the images, in quarter turns; nil if as they are stored.
  package var turn: DisplayTurn? {
    guard rotationDegrees != 0 || isMirrored else { return nil }
    return DisplayTurn(isMirrored: isMirrored, degrees: Double(rotationDegrees))
  }

  package var sampleAspect: SampleAspect = .square
  /// Whether the container does not state the aspect, so that pictures may change it later on.
  package var aspectFollowsPictures = false
  /// Whether packets of VP8 or VP9 carry opacity; a muxer of Matroska says it in the header.
  package var hasOpacity = false
  package var timeBase: TimeBase
  /// In units of the time base.
  package var start: Int64?
  /// The number that the container claims; the exact number is known after reading all of it.
  package var frameCountHint: Int?
  /// Where the times of the frames come from.
  package enum Timing: Hashable, Sendable {
    /// The container has times.
    case container
    /// The stream has no times, and names its rate.
    case rateInStream
    /// The stream has neither, and FFmpeg assumes 25 frames per second.
    case rateAssumed
  }

  package var timing = Timing.container
  /// Frames per second, on average.
  package var averageFrameRate: FrameRate?
  /// Number of frames that the decoder delays to reorder them.
  package var delay = 0

  package init(index: Int, kind: Kind, codec: String, timeBase: TimeBase) {
    self.index = index
    self.kind = kind
    self.codec = codec
    self.timeBase = timeBase
  }

  /// A video stream from a stored description.
  package init(
    index: Int = 0, video codec: String, extradata: [UInt8] = [], width: Int, height: Int,
    pixelFormatName: String, range: ColorRange, matrix: ColorMatrix, rotationDegrees: Int = 0,
    sampleAspect: SampleAspect = .square, timeBase: TimeBase, delay: Int = 0, profile: Int = -99
  ) {
    self.init(index: index, kind: .video, codec: "", timeBase: timeBase)
    self.extradata = extradata
    self.width = width
    self.height = height
    self.pixelFormatName = pixelFormatName
    self.range = range
    self.matrix = matrix
    self.rotationDegrees = rotationDegrees
    self.sampleAspect = sampleAspect
    self.delay = delay
    self.profile = profile
    storedCodec = codec
  }

  /// The codec's name and, if decoding depends on them, the tag and the bits per sample: `h264`,
  /// `mpeg4+44495658`, `rawvideo+0+24`.
  package var storedCodec: String {
    get {
      // The form of `segment_track.codec` in docs/formats/session.md.
      if Self.tagless.contains(codec) || (codecTag == 0 && bitsPerCodedSample == 0) { return codec }
      let tag = "\(codec)+\(String(codecTag, radix: 16))"
      return bitsPerCodedSample == 0 ? tag : "\(tag)+\(bitsPerCodedSample)"
    }
    set {
      let parts = newValue.split(separator: "+")
      codec = parts.first.map(String.init) ?? newValue
      codecTag = parts.count > 1 ? UInt32(parts[1], radix: 16) ?? 0 : 0
      bitsPerCodedSample = parts.count > 2 ? Int(parts[2]) ?? 0 : 0
    }
  }

  /// The codec for messages: the four-character code if FFmpeg does not know the codec.
  package var codecText: String {
    guard codec == "none" else { return codec }
    guard let fourCharacters else { return "a codec that this FFmpeg does not know" }
    return Self.unknownCodecs[fourCharacters].map { "\($0) ('\(fourCharacters)')" }
      ?? "'\(fourCharacters)'"
  }

  /// The tag as a string; nil for no tag, or one with unprintable characters.
  package var fourCharacters: String? {
    let bytes = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: codecTag >> $0) }
    guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Names of codecs that this build of FFmpeg may not know, by the container's four-character
  /// code.
  private static let unknownCodecs = [
    "apv1": "APV", "dav1": "Dolby Vision AV1", "evc1": "EVC", "lvc1": "LCEVC",
    "vvc1": "VVC (H.266)", "vvi1": "VVC (H.266)",
  ]

  /// Whether packets of a codec (as stored) may contain images that other packets show, possibly
  /// much later and more than once.
  package static func mayHidePictures(_ storedCodec: String) -> Bool {
    let name = storedCodec.split(separator: "+").first.map(String.init) ?? storedCodec
    return hidingCodecs.contains(name)
  }

  /// Whether the picture of this packet and all later pictures do not refer to earlier pictures.
  /// False for codecs whose refreshes only `StreamEvidence` finds, and for codecs that keep tables,
  /// as Motion JPEG does.
  package func restarts(at packet: MediaPacket) -> Bool {
    guard packet.flags.contains(.key) else { return false }
    // RFC 6386, 9.1; VP9 bitstream, 6.2: the frame's type, which a container may state wrongly.
    let first = packet.withBytes { $0.first } ?? 0
    switch codec {
    case "vp8": return first & 1 == 0
    case "vp9": return first & 0xFC == 0x80 || first & 0xFC == 0xA0 || first & 0xFC == 0x90
    default: return Self.forgetfulCodecs.contains(codec)
    }
  }

  /// A key packet of them begins with all that its picture needs.
  private static let forgetfulCodecs: Set<String> = [
    "dnxhd", "ffv1", "huffyuv", "png", "prores", "rawvideo",
  ]

  /// Codecs whose images say themselves whether they are interlaced.
  static let fieldCodecs: Set<String> = [
    "dnxhd", "dvvideo", "h264", "hevc", "mjpeg", "mpeg1video", "mpeg2video", "mpeg4", "prores",
    "vc1", "wmv3",
  ]

  private static let hidingCodecs: Set<String> = ["vp8", "vp9", "av1"]

  /// Codecs that are decoded without the tag and the bits per sample.
  private static let tagless: Set<String> = [
    "h264", "hevc", "mpeg1video", "mpeg2video", "vp8", "vp9", "av1", "ffv1", "png", "theora",
  ]
}
