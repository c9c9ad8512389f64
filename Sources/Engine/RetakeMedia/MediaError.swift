import RetakeBuffers
public import RetakeCore

/// An error of a media file, a codec or an image.
///
/// `cause` contains FFmpeg's own message, if there is one.
public enum MediaError: RetakeError, Hashable {
  case missing(file: String)
  /// `kind` describes the content of the folder; `remedy` is the command that reads it.
  case directory(file: String, kind: String? = nil, remedy: String? = nil)
  /// A socket, a device or a named pipe.
  case special(file: String)
  case unreadable(file: String, cause: String)
  case empty(file: String)
  /// A text file that names other files, such as HLS, whatever its name is.
  case playlist(file: String)
  case notMedia(file: String, cause: String)
  /// A file of another kind that may contain media, such as an archive or a bag of ROS 1. `remedy`
  /// is the command that extracts the media.
  case foreign(file: String, kind: String, remedy: String)
  /// A fragment of an MP4 stream without the beginning that describes it.
  case segment(file: String)
  /// The beginning of an MP4 stream without any fragment.
  case initialization(file: String)
  /// A format that FFmpeg supports and Retake does not open.
  case container(file: String, format: String)
  /// An image in a container that videos also use, such as HEIC.
  case stillImage(file: String, format: String)
  /// An MP4 or QuickTime file without its index: an interrupted recording.
  case noIndex(file: String, cause: String)
  case damaged(file: String, cause: String)
  case noVideo(file: String)
  case noAudio(file: String)
  case noTrack(file: String, track: Int, videoTracks: [Int])
  case read(file: String?, cause: String)
  /// The packets cannot be decoded without a key.
  case encrypted(file: String?)
  /// The packets are encrypted, and the key is not available.
  case protected(file: String?)
  case noDecoder(codec: String, file: String?)
  case bitDepth(format: String, bits: Int, file: String?)
  case pixelFormat(format: String, file: String?)
  /// The image has more pixels than the decoder accepts.
  case pictureTooLarge(width: Int, height: Int, pixelsMax: Int64, file: String?)
  /// The decoder rejected this packet, counted from 0 on its track.
  case decode(packet: Int?, file: String?, cause: String)
  case noEncoder(name: String)
  case encoderFormat(encoder: String, format: String, supported: [String])
  /// The encoder accepts only sizes that its chroma divides.
  case encoderSize(encoder: String, format: String, width: Int, height: Int, sides: String)
  case encoderOption(encoder: String, option: String, cause: String)
  case encode(encoder: String, cause: String)
  case muxer(format: String, file: String?, cause: String)
  /// `errorNumber` is the system's error number: 28 for a full disk, 5 for a failing disk.
  case write(file: String?, errorNumber: Int32, cause: String)
  case scale(from: String, to: String, cause: String)
  /// Not a still image that `Frame(image:)` reads, or a damaged image.
  case notImage(file: String?, cause: String)
  /// A stream's protocol that is not on the list.
  case protocolRefused(name: String, allowed: [String])
  /// Not a URL, or a URL without a host.
  case badAddress(address: String)
  /// A test image that FFmpeg's filters cannot draw, or that is not on the list.
  case badTestImage(graph: String, cause: String)
  /// A camera that cannot be opened, or a network address that does not answer.
  case unreachable(address: String, cause: String)
  /// The connection is not trusted: the server's certificate was refused, or the file with the
  /// authorities is missing. `remedy` is the command to type next.
  case certificate(address: String, cause: String, remedy: String)
  /// The host name cannot be resolved.
  case unknownHost(address: String, host: String, cause: String)
  /// The server answered, but not with a stream.
  case notStream(address: String, cause: String)
  /// The server sends a file of known length, not a live stream.
  case notLive(address: String, bytes: Int64)
  /// The server redirects to another address; redirects are not followed.
  case redirected(address: String, to: String)
  /// No answer within the time limit of a call.
  case timedOut(address: String)
  /// The source was connected, and then failed or ended.
  case lost(address: String, cause: String)
  /// An allocation for an image or a packet failed; there may be memory for the next.
  case noMemory(step: String, file: String?)
  /// Decoding needs more memory for images than a decoder may use.
  case pictureMemory(width: Int, height: Int, bytes: Int, bytesMax: Int, file: String?)
  /// FFmpeg's library for cameras and test images is not installed.
  case noDevices(cause: String)

  package var facts: ErrorFacts {
    switch self {
    case .missing(let file) where file.unicodeScalars.contains("\u{FFFD}"):
      // Arguments are decoded as UTF-8 with this character for other bytes.
      ErrorFacts(
        "media.open.missing", "there is no such file",
        cause: "the path has bytes that are not UTF-8", at: file,
        advice: "Rename the file, so that its name is UTF-8")
    case .missing(let file):
      ErrorFacts(
        "media.open.missing", "there is no such file", at: file, advice: "Check the path")
    case .directory(let file, let kind, let remedy):
      ErrorFacts(
        "media.open.directory", "this is \(kind ?? "a folder"), not a media file", at: file,
        advice: remedy ?? "Name a file inside it")
    case .foreign(let file, let kind, let remedy):
      ErrorFacts(
        "media.open.foreign", "this is \(kind), and not a media file", at: file, advice: remedy)
    case .segment(let file):
      ErrorFacts(
        "media.open.segment",
        "this is a segment of a stream (DASH, HLS, CMAF) without its initialization", at: file,
        advice: "Join it with the initialization and the other segments, in their order: "
          + "cat INIT.mp4 \(file.shellWord) > OUT.mp4")
    case .initialization(let file):
      ErrorFacts(
        "media.open.initialization",
        "this is the initialization of a stream (DASH, HLS, CMAF), which has no frames", at: file,
        advice: "Join it with the stream's segments, in their order: "
          + "cat \(file.shellWord) SEGMENT*.m4s > OUT.mp4")
    case .special(let file):
      ErrorFacts(
        "media.open.special", "this is not a regular file", at: file, advice: Self.nameVideo)
    case .unreadable(let file, let cause):
      ErrorFacts(
        "media.open.unreadable", "the file cannot be opened", cause: cause, at: file,
        advice: "Check its permissions with ls -l")
    case .empty(let file):
      ErrorFacts(
        "media.open.empty", "the file is empty", at: file,
        advice: "Copy it again from where it was recorded")
    case .playlist(let file):
      ErrorFacts(
        "media.open.playlist", "this is a playlist, which only names other files", at: file,
        advice: "Name one of the media files that it lists")
    case .notMedia(let file, let cause):
      ErrorFacts(
        "media.open.notMedia", "this is not a media file", cause: cause, at: file,
        advice: Self.nameVideo)
    case .container(let file, let format):
      ErrorFacts(
        "media.open.container",
        "\(ContainerAdvice.name(format: format, file: file)) are not opened", at: file,
        advice: ContainerAdvice.text(format: format, file: file))
    case .stillImage(let file, let format):
      ErrorFacts(
        "media.open.stillImage", "this is a still image (\(format)), not a video", at: file,
        advice: "Make a video of it first: heif-convert \(file.shellWord) OUT.png "
          + "&& ffmpeg -i OUT.png -c:v ffv1 OUT.mkv")
    case .noIndex(let file, let cause):
      ErrorFacts(
        "media.open.noIndex", "the file was cut short: its index is missing", cause: cause,
        at: file,
        advice: "Repair it with an MP4 of that camera: untrunc INTACT.mp4 \(file.shellWord)")
    case .damaged(let file, let cause):
      ErrorFacts(
        "media.open.damaged", "the file is damaged", cause: cause, at: file,
        advice: Self.copyAgain)
    case .noVideo(let file):
      ErrorFacts(
        "media.demux.noVideo", "the file has no video track", at: file, advice: Self.nameVideo)
    case .noAudio(let file):
      ErrorFacts(
        "media.demux.noAudio", "the file has no audio track", at: file,
        advice: "List its streams: ffprobe -show_streams \(file.shellWord)")
    case .noTrack(let file, let track, let tracks):
      ErrorFacts(
        "media.demux.noTrack", "the file has no video track \(track)", at: file,
        advice: tracks.isEmpty
          ? "It has no video track"
          : "Choose \(tracks.map { "--track \($0)" }.joined(separator: " or "))")
    case .read(let file, let cause):
      ErrorFacts(
        "media.demux.read", "the rest of the file could not be read", cause: cause, at: file,
        advice: Self.copyAgain)
    case .encrypted(let file):
      ErrorFacts(
        "media.decode.encrypted", "the video is encrypted", at: file,
        advice: "Decrypt it first, with its key: "
          + "ffmpeg -decryption_key KEY -i \(file?.shellWord ?? "IN") -c copy OUT.mp4")
    case .protected(let file):
      ErrorFacts(
        "media.decode.protected",
        "the video is protected (FairPlay); only its seller's programs decode it", at: file,
        advice: "Ask for a copy without protection")
    case .noDecoder(let codec, let file):
      ErrorFacts(
        "media.decode.noDecoder", "there is no decoder for \(codec)", at: file,
        advice: "Convert it first with an FFmpeg that reads it: "
          + "ffmpeg -i \(file?.shellWord ?? "IN") -c:v ffv1 OUT.mkv; "
          + "retake doctor lists the decoders of this FFmpeg")
    case .bitDepth(let format, let bits, let file):
      ErrorFacts(
        "media.decode.bitDepth",
        "the pixels are \(format), floating point with \(bits) bits; whole numbers of 8 to 16 are "
          + "supported", at: file, advice: Self.conversion(of: file, format))
    case .pixelFormat(let format, let file):
      ErrorFacts(
        "media.decode.pixelFormat", "pixels of format \(format) are not supported", at: file,
        advice: Self.conversion(of: file, format))
    case .pictureTooLarge(let width, let height, let pixelsMax, let file):
      ErrorFacts(
        "media.decode.tooLarge",
        "an image of \(width)x\(height) has more than \(pixelsMax) pixels, "
          + "the largest size that is decoded",
        at: file, advice: "Make it smaller first: ffmpeg -i IN -vf scale=iw/2:-2 -c:v ffv1 OUT.mkv")
    case .decode(let packet, let file, let cause):
      ErrorFacts(
        "media.decode.refused",
        "the decoder refused \(packet.map { "packet \($0)" } ?? "the stream")", cause: cause,
        at: file,
        advice: file.flatMap { Self.isLive($0) ? nil : $0.shellWord }.map {
          "See why: ffmpeg -v error -i \($0) -f null -; a piece that was cut out of a longer "
            + "recording has to be cut again at a key frame, with ffmpeg -ss"
        })
    case .noEncoder(let name):
      ErrorFacts(
        "media.encode.noEncoder", "this FFmpeg has no encoder \(name)",
        advice: "Run retake doctor, or choose ffv1, mpeg4 or mjpeg")
    case .encoderFormat(let encoder, let format, let supported):
      ErrorFacts(
        "media.encode.format", "\(encoder) cannot encode \(format)",
        advice: "Convert the image to \(supported.joined(separator: ", ")) first")
    case .encoderSize(let encoder, let format, let width, let height, let sides):
      ErrorFacts(
        "media.encode.size",
        "\(encoder) cannot encode \(format) of \(width)x\(height); its \(sides) must be even",
        advice: "Record it with --preset ffv1 or --preset mpeg4, export it with --codec jpeg")
    case .encoderOption(let encoder, let option, let cause):
      ErrorFacts(
        "media.encode.option", "\(encoder) does not accept the option \(option)", cause: cause)
    case .encode(let encoder, let cause):
      ErrorFacts("media.encode.refused", "\(encoder) could not encode the image", cause: cause)
    case .muxer(let format, let file, let cause):
      ErrorFacts(
        "media.mux.refused", "the \(format) file could not be written", cause: cause, at: file)
    case .write(let file, let errorNumber, let cause):
      ErrorFacts(
        "media.mux.write", "the media could not be written", cause: cause, at: file,
        // ENOSPC, on Linux and on Darwin.
        advice: errorNumber == 28
          ? "Free some space on the disk; df -h lists the disks"
          : "Check the disk; dmesg may say more")
    case .scale(let from, let to, let cause):
      ErrorFacts(
        "media.scale.refused", "an image of \(from) cannot be converted to \(to)", cause: cause)
    case .notImage(let file, let cause):
      ErrorFacts(
        "media.image.notImage", "this is not a PNG, JPEG, BMP, TIFF or WebP image", cause: cause,
        at: file,
        advice: "Convert it, for example with: ffmpeg -i FILE picture.png")
    case .protocolRefused(let name, let allowed):
      ErrorFacts(
        "media.live.protocol",
        "streams of protocol '\(name)' are not supported; supported: "
          + allowed.joined(separator: ", "),
        advice: "Name a stream of a supported protocol, a file, or a camera: /dev/video0",
        kind: .usage)
    case .badAddress(let address):
      ErrorFacts(
        "media.live.address", "this is not the URL of a stream", at: address,
        advice: "Write it like \(Self.example(of: address))", kind: .usage)
    case .badTestImage(let graph, let cause):
      ErrorFacts(
        "media.live.testImage", "this test image cannot be drawn", cause: cause,
        at: "lavfi:\(graph)", advice: "Write it like lavfi:testsrc2=size=640x480:rate=30",
        kind: .usage)
    case .unreachable(let address, let cause) where Self.isCamera(address):
      ErrorFacts(
        "media.live.unreachable", "the camera cannot be opened", cause: cause, at: address,
        advice: "List cameras with ls -l /dev/video*, and programs that use them with fuser")
    case .unreachable(let address, let cause):
      ErrorFacts(
        "media.live.unreachable", "the source cannot be reached", cause: cause, at: address,
        advice: Self.checkSource)
    case .certificate(let address, let cause, let remedy):
      ErrorFacts(
        "media.live.unreachable", "the source cannot be reached", cause: cause, at: address,
        advice: remedy)
    case .unknownHost(let address, let host, let cause):
      ErrorFacts(
        "media.live.unknownHost", "there is no host '\(host)'", cause: cause, at: address,
        advice: "Check the host's name, and whether this machine has a name server")
    case .notStream(let address, let cause):
      ErrorFacts(
        "media.live.notStream", "the source answered, but with no stream that can be read",
        cause: cause, at: address,
        advice: "Check the path after the host, the user's name and password, and the source")
    case .notLive(let address, let bytes):
      ErrorFacts(
        "media.live.notLive", "this is a file of \(bytes) bytes, not a live stream", at: address,
        advice: "Download the file, then type: retake import FILE")
    case .redirected(let address, let target):
      ErrorFacts(
        "media.live.redirected", "the source sends us to \(target)", at: address,
        advice: "If you trust that address, use it instead: \(target)")
    case .timedOut(let address):
      ErrorFacts(
        "media.live.timedOut", "the source sent no data for too long", at: address,
        advice: Self.checkSource)
    case .lost(let address, let cause):
      ErrorFacts(
        "media.live.lost", "the source was lost", cause: cause, at: address,
        advice: Self.checkSource)
    case .noMemory(let step, let file):
      ErrorFacts(
        "media.memory", "there was no memory to \(step)", at: file,
        advice: "Allow more memory (ulimit -v), or end other programs", kind: .memory)
    case .pictureMemory(let width, let height, let bytes, let bytesMax, let file):
      ErrorFacts(
        "media.memory.limit",
        "decoding images of \(width)x\(height) needs \(ByteText.of(bytes)) of memory "
          + "or more, and the limit of a decoder is \(ByteText.limit(bytesMax))",
        at: file,
        advice: "If you trust the file, allow more: "
          + "\(PixelBudget.variable)=\(Self.gigabytes(bytes))G",
        kind: .memory)
    case .noDevices(let cause):
      ErrorFacts(
        "media.live.noDevices",
        "FFmpeg's libavdevice is missing, which cameras and test images need", cause: cause,
        advice: "Install it, then try again: apt-get install \(MediaDevices.package)")
    }
  }

  private static let nameVideo = "Name a video file, such as MP4 or Matroska"
  private static let copyAgain = "Copy it again from its source, or see ffprobe on it for details"
  /// The form of an address with this scheme.
  private static func example(of address: String) -> String {
    switch address.prefix(while: { $0 != ":" }) {
    case "http": "http://HOST/PATH"
    case "https": "https://HOST/PATH"
    case "rtsp": "rtsp://HOST/PATH"
    case "rtsps": "rtsps://HOST/PATH"
    case "rtp": "rtp://HOST:PORT"
    case "udp": "udp://HOST:PORT"
    default: "rtsp://HOST/PATH or https://HOST/PATH"
    }
  }

  private static let checkSource = "Check the address, the network and the source itself"

  private static func conversion(of file: String?, _ format: String) -> String {
    let name = file?.shellWord ?? "IN"
    // A live source cannot be converted like a file, so its settings come first.
    let start =
      file.map(isLive) ?? false
      ? "Set the source to another format, or record it and import that: " : ""
    // The samples remain as they are, and are only called by another name.
    if let numbers = plainName(of: format) {
      return start + "Keep its numbers without loss: "
        + "ffmpeg -i \(name) -f rawvideo - | ffmpeg -f rawvideo -pix_fmt \(numbers) "
        + "-s WIDTHxHEIGHT -r RATE -i - -c:v ffv1 OUT.mkv"
    }
    if ["rgb4", "bgr4"].contains(format) {
      return start + "Convert the original again, to a format with at least a byte for each "
        + "pixel: ffmpeg -i SOURCE -pix_fmt rgb24 -c:v ffv1 OUT.mkv"
    }
    let target = format.hasPrefix("gray") ? "gray16le" : "gbrp16le"
    guard format.contains("f32") else {
      return start + "Convert it with an FFmpeg that reads it: "
        + "ffmpeg -i \(name) -c:v ffv1 OUT.mkv"
    }
    return start + "Convert it to 16 bits: "
      + "ffmpeg -i \(name) -pix_fmt \(target) -c:v ffv1 OUT.mkv"
  }

  /// The gray or RGB format that stores its samples in the same way as a mosaic (Bayer) or XYZ
  /// format.
  private static func plainName(of format: String) -> String? {
    let suffix = String(format.suffix(2))
    if format.hasPrefix("xyz12") { return "rgb48\(suffix)" }
    guard format.hasPrefix("bayer_") else { return nil }
    return format.hasSuffix("8") ? "gray" : "gray16\(suffix)"
  }

  /// A budget that allows a decoder twice these bytes, because it may need more than it requested.
  private static func gigabytes(_ bytes: Int) -> Int {
    let wanted = 4 * bytes
    return max(1, (wanted + 1 << 30 - 1) >> 30)
  }

  private static func isLive(_ address: String) -> Bool {
    address.contains("://") || isCamera(address)
  }

  static func isCamera(_ address: String) -> Bool { address.hasPrefix("v4l2:") }

  /// A stable, dotted name of the case, with the module first: `"media.demux.noTrack"`.
  public var code: String { facts.code }
  /// One sentence in the user's terms, without the place and without advice.
  public var message: String { facts.message }
  /// FFmpeg's or the system's message; `nil` if they reported no message.
  public var cause: String? { facts.cause }
  /// Where the problem is; `nil` if the error has no place.
  public var place: Place? { facts.place }
  /// The next step for the user, with an exact command if there is one.
  public var advice: String? { facts.advice }
}
