import RetakeCore

/// An error of a media file, a codec or an image.
///
/// `cause` contains FFmpeg's own message, if there is one.
public enum MediaError: CodedError, Hashable {
  case missing(file: String)
  case directory(file: String)
  /// A socket, a device or a named pipe.
  case special(file: String)
  case unreadable(file: String, cause: String)
  case empty(file: String)
  /// A text file that names other files, such as HLS, whatever its name is.
  case playlist(file: String)
  case notMedia(file: String, cause: String)
  /// A format that FFmpeg supports and Retake does not open.
  case container(file: String, format: String)
  /// An image in a container that videos also use, such as HEIC.
  case stillImage(file: String, format: String)
  /// An MP4 or QuickTime file without its index: an interrupted recording.
  case noIndex(file: String, cause: String)
  case damaged(file: String, cause: String)
  case noVideo(file: String)
  case noTrack(file: String, track: Int, videoTracks: [Int])
  case read(file: String?, cause: String)
  /// The packets cannot be decoded without a key.
  case encrypted(file: String?)
  case noDecoder(codec: String, file: String?)
  case bitDepth(format: String, bits: Int, file: String?)
  case pixelFormat(format: String, file: String?)
  /// The image has more pixels than the decoder accepts.
  case pictureTooLarge(width: Int, height: Int, pixelsMax: Int64, file: String?)
  /// The decoder rejected this packet, counted from 0 on its track.
  case decode(packet: Int?, file: String?, cause: String)
  case noEncoder(name: String)
  case encoderFormat(encoder: String, format: String, supported: [String])
  case encoderOption(encoder: String, option: String, cause: String)
  case encode(encoder: String, cause: String)
  case muxer(format: String, file: String?, cause: String)
  /// The system's error number gives the reason: 28 is a full disk, 5 a failing one.
  case write(file: String?, errorNumber: Int32, cause: String)
  case scale(from: String, to: String, cause: String)
  case notImage(file: String?, cause: String)
  /// A stream's protocol that is not on the list.
  case protocolRefused(name: String, allowed: [String])
  /// Not a URL, or one without a host.
  case badAddress(address: String)
  /// A test image that FFmpeg's filters cannot draw, or that is not on the list.
  case badTestPicture(graph: String, cause: String)
  /// A camera that cannot be opened, or a network address that does not answer.
  case unreachable(address: String, cause: String)
  /// The host name cannot be resolved.
  case unknownHost(address: String, host: String, cause: String)
  /// The server answered, but not with a stream.
  case notStream(address: String, cause: String)
  /// The server redirects to another address; redirects are not followed.
  case redirected(address: String, to: String)
  /// No answer within the time limit of a call.
  case timedOut(address: String)
  /// The source was connected, and then failed or ended.
  case lost(address: String, cause: String)
  /// An allocation for an image or a packet failed; there may be memory for the next one.
  case noMemory(step: String, file: String?)
  /// Decoding needs more memory for images than a decoder may use.
  case pictureMemory(width: Int, height: Int, bytes: Int, bytesMax: Int, file: String?)
  /// FFmpeg's library for cameras and test images is not installed.
  case noDevices(cause: String)

  public var code: String {
    switch self {
    case .missing: "media.open.missing"
    case .directory: "media.open.directory"
    case .special: "media.open.special"
    case .unreadable: "media.open.unreadable"
    case .empty: "media.open.empty"
    case .playlist: "media.open.playlist"
    case .notMedia: "media.open.notMedia"
    case .container: "media.open.container"
    case .stillImage: "media.open.stillImage"
    case .noIndex: "media.open.noIndex"
    case .damaged: "media.open.damaged"
    case .noVideo: "media.demux.noVideo"
    case .noTrack: "media.demux.noTrack"
    case .read: "media.demux.read"
    case .encrypted: "media.decode.encrypted"
    case .noDecoder: "media.decode.noDecoder"
    case .bitDepth: "media.decode.bitDepth"
    case .pixelFormat: "media.decode.pixelFormat"
    case .pictureTooLarge: "media.decode.tooLarge"
    case .decode: "media.decode.refused"
    case .noEncoder: "media.encode.noEncoder"
    case .encoderFormat: "media.encode.format"
    case .encoderOption: "media.encode.option"
    case .encode: "media.encode.refused"
    case .muxer: "media.mux.refused"
    case .write: "media.mux.write"
    case .scale: "media.scale.refused"
    case .notImage: "media.image.notImage"
    case .protocolRefused: "media.live.protocol"
    case .badAddress: "media.live.address"
    case .badTestPicture: "media.live.testPicture"
    case .unreachable: "media.live.unreachable"
    case .unknownHost: "media.live.unknownHost"
    case .notStream: "media.live.notStream"
    case .noMemory: "media.memory"
    case .pictureMemory: "media.memory.limit"
    case .redirected: "media.live.redirected"
    case .timedOut: "media.live.timedOut"
    case .lost: "media.live.lost"
    case .noDevices: "media.live.noDevices"
    }
  }

  public var message: String {
    switch self {
    case .missing: "there is no such file"
    case .directory: "this is a folder, not a media file"
    case .special: "this is not a regular file"
    case .unreadable: "the file cannot be opened"
    case .empty: "the file is empty"
    case .playlist: "this is a playlist, which only names other files"
    case .notMedia: "this is not a media file"
    case .container(_, let format): "files of format \(format) are not opened"
    case .stillImage(_, let format): "this is a still image (\(format)), not a video"
    case .noIndex: "the file was cut short: its index is missing"
    case .damaged: "the file is damaged"
    case .noVideo: "the file has no video track"
    case .noTrack(_, let track, _): "the file has no video track \(track)"
    case .read: "the file could not be read on"
    case .encrypted: "the video is encrypted"
    case .noDecoder(let codec, _): "there is no decoder for \(codec)"
    case .bitDepth(let format, let bits, _):
      "the pixels are \(format), \(bits) bits a sample; 8 are supported"
    case .pictureTooLarge(let width, let height, let pixelsMax, _):
      "a picture of \(width)x\(height) has more than \(pixelsMax) pixels, the most that is decoded"
    case .pixelFormat(let format, _): "pixels of format \(format) are not supported"
    case .decode(let packet, _, _):
      "the decoder refused \(packet.map { "packet \($0)" } ?? "the stream")"
    case .noEncoder(let name): "this FFmpeg has no encoder \(name)"
    case .encoderFormat(let encoder, let format, _): "\(encoder) cannot encode \(format)"
    case .encoderOption(let encoder, let option, _): "\(encoder) does not take the option \(option)"
    case .encode(let encoder, _): "\(encoder) could not encode the picture"
    case .muxer(let format, _, _): "the \(format) file could not be written"
    case .write: "the media could not be written"
    case .scale(let from, let to, _): "a picture of \(from) cannot be made \(to)"
    case .notImage: "this is not a PNG or JPEG picture"
    case .protocolRefused(let name, let allowed):
      "streams of protocol '\(name)' are not opened; these are: \(allowed.joined(separator: ", "))"
    case .badAddress: "this is not the URL of a stream"
    case .badTestPicture: "this test picture is not drawn"
    case .unreachable(let address, _):
      Self.isCamera(address) ? "the camera cannot be opened" : "the source cannot be reached"
    case .unknownHost(_, let host, _): "there is no host '\(host)'"
    case .notStream: "the source answered, but with no stream that can be read"
    case .noMemory(let step, _): "there was no memory to \(step)"
    case .pictureMemory(let width, let height, let bytes, let bytesMax, _):
      "decoding pictures of \(width)x\(height) takes \(Self.megabytes(bytes)) MB of memory or more, "
        + "and a decoder may have \(bytesMax >> 20)"
    case .redirected(_, let target): "the source sends us to \(target)"
    case .timedOut: "the source said nothing for too long"
    case .lost: "the source was lost"
    case .noDevices: "FFmpeg's libavdevice is missing, which cameras and test pictures need"
    }
  }
}
