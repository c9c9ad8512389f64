import CFFmpeg
import RetakeCore

/// The containers that are opened. The list is fixed, so that a file is never detected as a format
/// that opens other files or the network.
enum ContainerFormats {
  private static let allowed = [
    "mov", "mp4", "matroska", "webm", "avi", "mpegts", "mpeg", "mpegvideo", "flv", "live_flv",
    "ogg", "h264", "hevc", "m4v", "mjpeg", "ivf", "nut", "yuv4mpegpipe", "asf", "mxf", "obu", "av1",
    "gif", "apng",
  ]

  /// The list in the form of FFmpeg's option.
  static let whitelist = allowed.joined(separator: ",")

  /// Maximum streams of a file. FFmpeg opens a decoder for each video stream, so 900 streams in
  /// 650 KB would need 1.4 GB of memory. A transport stream may contain more: FFmpeg ignores them.
  static let streamsMax = 128
  /// Maximum bytes of an MP4 index after decompression, all of which FFmpeg allocates at once.
  private static let indexBytesMax: Int64 = 64 << 20

  /// Formats whose files only name other files.
  private static let playlists: Set<String> = [
    "hls", "applehttp", "concat", "dash", "imf", "sdp", "webm_dash_manifest",
  ]

  private static let playlistBeginnings = [
    "#EXTM3U", "ffconcat version", "<MPD", "[playlist]", "<smil", "v=0\r", "v=0\n", "<asx",
  ]

  /// Refuses files that FFmpeg must not read: a file that only contains media somewhere inside, and
  /// a still image that FFmpeg reads with numbers that are not in the file.
  static func refuseForeign(_ file: MediaFile) throws {
    let head = try file.bytes(ForeignFile.headBytes)
    if let foreign = ForeignFile(head: head, path: file.path) {
      throw MediaError.foreign(file: file.path, kind: foreign.kind, remedy: foreign.remedy)
    }
    if try MovieBoxes.isUnreadableImage(file) {
      throw MediaError.stillImage(file: file.path, format: "AVIF")
    }
    guard try MovieBoxes.compressedIndexBytes(file) <= indexBytesMax else { throw limit(file) }
  }

  private static func limit(_ file: MediaFile) -> ErrorFacts {
    ErrorFacts(
      "media.open.limit",
      "the file's index asks for more than \(streamsMax) streams, or for more memory than a reader "
        + "allocates", at: file.path,
      advice: "If you trust the file, copy its video alone: "
        + "ffmpeg -i \(file.path.shellWord) -map 0:v:0 -c copy OUT.mkv")
  }

  /// Refuses a file that FFmpeg opened as a format that it does not have.
  static func refuseOpened(_ file: MediaFile, format: String) throws {
    if elementary.contains(format), !hasRawEnding(file.path), try !beginsWithUnit(file) {
      throw MediaError.foreign(
        file: file.path, kind: "a file with \(format) after other bytes",
        remedy: "If it is a raw stream whose beginning is missing, say so with its name: "
          + "mv \(file.path.shellWord) \((file.path + "." + rawEnding(of: format)).shellWord)")
    }
    guard format.hasPrefix("mov,"), file.size <= initializationBytesMax,
      try MovieBoxes.isInitialization(file)
    else { return }
    throw MediaError.initialization(file: file.path)
  }

  /// Formats without times. FFmpeg assumes a rate for them if the stream has no rate.
  static let untimed: Set = ["av1", "h264", "hevc", "mjpeg", "mpegvideo", "obu"]
  /// Streams without a container, whose first packet begins with a start code.
  private static let elementary: Set = ["h264", "hevc", "m4v", "mjpeg", "mpegvideo"]
  /// Names of raw streams: such a file may be a part of a stream, and begin within a packet.
  private static let rawEndings: Set = [
    "264", "265", "26l", "avc", "bit", "bits", "bs", "h264", "h265", "hevc", "jsv", "jvt", "m1v",
    "m2v", "m4v", "mjpeg", "mjpg", "mpv",
  ]
  /// The beginning of a stream, with the tables of all its tracks.
  private static let initializationBytesMax: Int64 = 1 << 20

  private static func rawEnding(of format: String) -> String {
    format == "mpegvideo" ? "m2v" : format
  }

  private static func hasRawEnding(_ path: String) -> Bool {
    rawEndings.contains(path.split(separator: ".").last?.lowercased() ?? "")
  }

  /// Whether a file begins with a start code, after zeros at most, or with an image of JPEG.
  private static func beginsWithUnit(_ file: MediaFile) throws -> Bool {
    let head = try file.bytes(headBytesMax)
    if head.starts(with: [0xFF, 0xD8]) { return true }
    let zeros = head.prefix { $0 == 0 }.count
    return zeros >= 2 && head.count > zeros && head[zeros] == 1
  }

  /// Why a file that FFmpeg could not open, with this error number, is rejected.
  static func refusal(of file: MediaFile, error: Int32) throws -> any Error {
    try error == retake_error_no_memory ? limit(file) : mediaRefusal(of: file, error: error)
  }

  private static func mediaRefusal(of file: MediaFile, error: Int32) throws -> any Error {
    let path = file.path
    let head = try file.bytes(headBytesMax)
    let cause = FFmpeg.text(error)
    if isPlaylistText(head) { return MediaError.playlist(file: path) }
    guard let format = probe(path: path, head: head) else {
      // FFmpeg is not sure of these by their bytes alone.
      let ending = path.split(separator: ".").last?.lowercased() ?? ""
      return namedFormats.contains(ending)
        ? MediaError.container(file: path, format: ending) : .notMedia(file: path, cause: cause)
    }
    let names = format.split(separator: ",").map(String.init)
    if names.contains(where: playlists.contains) { return MediaError.playlist(file: path) }
    if !names.contains(where: allowed.contains) {
      return noMedia.contains(format)
        ? MediaError.notMedia(file: path, cause: FFmpeg.text(retake_error_invalid_data))
        : .container(file: path, format: format)
    }
    // Before the index is looked for, which a still image does not have.
    if names.contains("mov"), let image = try MovieBoxes.stillImage(file) {
      return MediaError.stillImage(file: path, format: image)
    }
    if names.contains("mov"), let missing = try missingIndex(file, cause: cause) { return missing }
    // FFmpeg opens no file whose keys it would need at once.
    if names.contains("mov"), try SampleDescriptions(of: file).isEncrypted {
      return MediaError.encrypted(file: path)
    }
    return MediaError.damaged(file: path, cause: cause)
  }

  /// Why an MP4 or QuickTime file has no complete index; nil if it has one.
  private static func missingIndex(_ file: MediaFile, cause: String) throws -> (any Error)? {
    let index = try MovieBoxes.index(of: file)
    guard index != .complete else { return nil }
    if try MovieBoxes.isSegment(file) { return MediaError.segment(file: file.path) }
    return damagedIndex(file, index) ?? MediaError.noIndex(file: file.path, cause: cause)
  }

  /// Refuses a file that ends within its index, which FFmpeg may open with a part of its tracks.
  static func refuseCutIndex(_ path: String) throws {
    let file = try MediaFile(path: path)
    let index = try MovieBoxes.index(of: file)
    if case .cut = index, let refusal = damagedIndex(file, index) { throw refusal }
  }

  private static func damagedIndex(_ file: MediaFile, _ index: MovieBoxes.Index) -> ErrorFacts? {
    let (message, cause): (String, String)
    switch index {
    case .complete, .absent: return nil
    case .cut(let bytes):
      (message, cause) = ("the file was cut short in its index", "\(bytes) bytes are missing")
    case .hidden(let offset):
      message = "the file is damaged: its index cannot be found"
      cause = "the box at byte \(offset) is not readable"
    }
    return ErrorFacts(
      "media.open.damagedIndex", message, cause: cause, at: file.path,
      advice: "Copy it again from its source, or repair it with an MP4 of that camera: "
        + "untrunc INTACT.mp4 \(file.path.shellWord)")
  }

  /// Raw streams that are called by the name of their format.
  private static let namedFormats: Set = ["dnxhd", "h261", "h263", "vc1"]
  /// Formats that FFmpeg detects in plain text, captions and any other bytes.
  private static let noMedia: Set = [
    "ass", "jacosub", "libgme", "libmodplug", "libopenmpt", "lrc", "microdvd", "mpl2", "mpsub",
    "pjs", "realtext", "sami", "scc", "srt", "stl", "subviewer", "subviewer1", "tedcaptions", "tty",
    "vplayer", "webvtt",
  ]

  /// Number of bytes that are examined to find the reason.
  private static let headBytesMax = 16_384

  static func isPlaylistText(_ head: [UInt8]) -> Bool {
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let skipped = head.starts(with: byteOrderMark) ? head.dropFirst(3) : head[...]
    let beginning = skipped.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    if playlistBeginnings.contains(where: { beginning.starts(with: $0.utf8) }) { return true }
    let isXML = beginning.starts(with: "<?xml".utf8)
    return isXML && String(decoding: beginning.prefix(1024), as: UTF8.self).contains("<MPD")
  }

  /// The format of a file that FFmpeg would detect as another one; nil for all others.
  static func known(_ file: MediaFile) throws -> String? {
    try isMotionJPEG(file) ? "mjpeg" : nil
  }

  /// Whether the file is only a sequence of JPEG images, which FFmpeg detects as a single image.
  private static func isMotionJPEG(_ file: MediaFile) throws -> Bool {
    let begin: [UInt8] = [0xFF, 0xD8, 0xFF]
    guard try file.bytes(begin.count) == begin else { return false }
    let ending = file.path.split(separator: ".").last?.lowercased() ?? ""
    // A photograph may have a second one behind it (Multi-Picture Format).
    guard !["jpeg", "jpg"].contains(ending) else { return false }
    guard !motionJPEGEndings.contains(ending) else { return true }
    // The end of an image, followed by the beginning of another one.
    var word: UInt32 = 0
    for byte in try file.bytes(pictureBytesMax) {
      word = word << 8 | UInt32(byte)
      if word == 0xFFD9_FFD8 { return true }
    }
    return false
  }

  private static let motionJPEGEndings: Set = ["mjpeg", "mjpg"]
  /// More than the first image of a video has.
  private static let pictureBytesMax = 8 << 20

  /// The format that FFmpeg detects; nil if its confidence is too low.
  private static func probe(path: String, head: [UInt8]) -> String? {
    var padded = head + [UInt8](repeating: 0, count: Int(retake_probe_padding))
    // SAFETY: the buffer holds the padding that probing wants and outlives the call; the format
    // found is a constant of the library.
    return padded.withUnsafeMutableBufferPointer { buffer in
      path.withCString { name in
        var data = AVProbeData(
          filename: name, buf: buffer.baseAddress, buf_size: Int32(head.count), mime_type: nil)
        // AVPROBE_SCORE_RETRY: below it libavformat itself is not sure and would read more.
        var score: Int32 = AVPROBE_SCORE_MAX / 4
        let format = av_probe_input_format2(&data, 1, &score)
        return format.map { String(cString: $0.pointee.name) }
      }
    }
  }
}
