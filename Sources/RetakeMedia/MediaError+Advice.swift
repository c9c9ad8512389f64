import RetakeBuffers
import RetakeCore

extension MediaError {
  public var cause: String? {
    switch self {
    case .unreadable(_, let cause), .notMedia(_, let cause), .noIndex(_, let cause),
      .damaged(_, let cause), .read(_, let cause), .decode(_, _, let cause),
      .encoderOption(_, _, let cause), .encode(_, let cause), .muxer(_, _, let cause),
      .write(_, _, let cause), .scale(_, _, let cause), .notImage(_, let cause),
      .badTestPicture(_, let cause), .unreachable(_, let cause), .lost(_, let cause),
      .unknownHost(_, _, let cause), .notStream(_, let cause),
      .noDevices(let cause):
      cause
    case .missing, .directory, .special, .empty, .playlist, .container, .noVideo, .noTrack,
      .stillImage, .encrypted, .noDecoder, .bitDepth, .pixelFormat, .pictureTooLarge, .noEncoder,
      .encoderFormat,
      .protocolRefused, .badAddress, .redirected, .timedOut,
      .noMemory, .pictureMemory:
      nil
    }
  }

  public var place: Place? { file.map { Place(file: $0) } }

  private var file: String? {
    switch self {
    case .missing(let file), .directory(let file), .special(let file), .unreadable(let file, _),
      .empty(let file), .playlist(let file), .notMedia(let file, _), .container(let file, _),
      .noIndex(let file, _), .damaged(let file, _), .noVideo(let file), .stillImage(let file, _),
      .noTrack(let file, _, _):
      file
    case .read(let file, _), .encrypted(let file), .noDecoder(_, let file),
      .bitDepth(_, _, let file),
      .pixelFormat(_, let file), .pictureTooLarge(_, _, _, let file), .decode(_, let file, _),
      .muxer(_, let file, _),
      .write(let file, _, _), .notImage(let file, _), .noMemory(_, let file),
      .pictureMemory(_, _, _, _, let file):
      file
    case .badAddress(let address), .unreachable(let address, _), .redirected(let address, _),
      .timedOut(let address), .lost(let address, _), .unknownHost(let address, _, _),
      .notStream(let address, _):
      address
    case .badTestPicture(let graph, _): "lavfi:\(graph)"
    case .noEncoder, .encoderFormat, .encoderOption, .encode, .scale, .protocolRefused, .noDevices:
      nil
    }
  }

  public var advice: String? {
    switch self {
    case .missing: "Check the path"
    case .directory: "Name a file inside it"
    case .container(let file, "mjpeg"):
      "Put it into a container first: "
        + "ffmpeg -f mjpeg -framerate 25 -i \(file.shellWord) -c copy OUT.mkv"
    case .special, .notMedia, .container, .noVideo: "Name a video file, such as MP4 or Matroska"
    case .unreadable: "Check its permissions with ls -l"
    case .empty: "Copy it again from where it was recorded"
    case .playlist: "Name one of the media files that it lists"
    case .noIndex(let file, _):
      "Repair it with an MP4 of that camera: untrunc WHOLE.mp4 \(file.shellWord)"
    case .damaged, .read: "Copy it again from its source, or see ffprobe on it for details"
    case .noTrack(_, _, let tracks):
      tracks.isEmpty
        ? "It has none" : "Use --track with \(tracks.map(String.init).joined(separator: " or "))"
    case .stillImage(let file, _):
      "Make a video of it first: heif-convert \(file.shellWord) OUT.png "
        + "&& ffmpeg -i OUT.png -c:v ffv1 OUT.mkv"
    case .encrypted(let file):
      "Decrypt it first, with its key: "
        + "ffmpeg -decryption_key KEY -i \(file?.shellWord ?? "IN") -c copy OUT.mp4"
    case .noDecoder(_, let file):
      "Convert it first with an FFmpeg that reads it: "
        + "ffmpeg -i \(file?.shellWord ?? "IN") -c:v ffv1 OUT.mkv; "
        + "retake doctor says what this one has"
    // A live source cannot be converted like a file, so its settings come first.
    case .bitDepth(_, _, let file?) where Self.isLive(file),
      .pixelFormat(_, let file?) where Self.isLive(file):
      "Set the source to 8 bits and YUV 4:2:0, or record it converted and import that: "
        + "ffmpeg -i \(file.shellWord) -pix_fmt yuv420p -c:v ffv1 OUT.mkv && retake import OUT.mkv"
    case .bitDepth, .pixelFormat:
      "Convert it first: ffmpeg -i IN -pix_fmt yuv420p -c:v ffv1 OUT.mkv"
    case .pictureTooLarge:
      "Make it smaller first: ffmpeg -i IN -vf scale=iw/2:-2 -c:v ffv1 OUT.mkv"
    case .noEncoder: "Run retake doctor, or choose ffv1, mpeg4 or mjpeg"
    case .encoderFormat(_, _, let supported):
      "Convert the picture to \(supported.joined(separator: ", ")) first"
    // ENOSPC, on Linux and on Darwin.
    case .write(_, let errorNumber, _) where errorNumber == 28: "Free some space on the disk"
    case .write: "Check the disk; dmesg may say more"
    case .notImage: "Name a PNG or JPEG file"
    case .protocolRefused: "Name the stream by one of them, or a file, or a camera: /dev/video0"
    case .badAddress: "Write it like rtsp://HOST:PORT/PATH or http://HOST/PATH"
    case .badTestPicture: "Write it like lavfi:testsrc2=size=640x480:rate=30"
    case .unreachable(let address, _) where Self.isCamera(address):
      "See which cameras there are with ls -l /dev/video*, and who uses them with fuser"
    case .unreachable, .timedOut, .lost: "Check the address, the network and the source itself"
    case .unknownHost: "Check the host's name, and whether this machine has a name server"
    case .notStream: "Check the path behind the host, the user's name and password, and the source"
    case .noMemory: "Give it more memory (ulimit -v), or end other programs"
    case .pictureMemory(_, _, let bytes, _, _):
      "If you trust the file, allow more: \(PixelBudget.variable)=\(Self.gigabytes(bytes))G"
    case .redirected(_, let target): "If you trust that place, name it yourself: \(target)"
    case .noDevices: "Install it, then try again: apt-get install libavdevice59"
    case .decode(_, let file?, _) where !Self.isLive(file):
      "See why: ffmpeg -v error -i \(file.shellWord) -f null -; a piece that was cut out of a longer "
        + "recording has to be cut again at a key frame, with ffmpeg -ss"
    case .decode, .encoderOption, .encode, .muxer, .scale: nil
    }
  }

  /// Rounded up.
  static func megabytes(_ bytes: Int) -> Int { (bytes + 1 << 20 - 1) >> 20 }

  /// A budget that allows a decoder twice these bytes, because it may need more than it requested.
  private static func gigabytes(_ bytes: Int) -> Int {
    let wanted = 4 * bytes
    return max(1, (wanted + 1 << 30 - 1) >> 30)
  }

  private static func isLive(_ address: String) -> Bool {
    address.contains("://") || isCamera(address)
  }

  static func isCamera(_ address: String) -> Bool { address.hasPrefix("v4l2:") }
}
