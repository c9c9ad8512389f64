import RetakeCore

/// The command that makes a file that Retake opens of one whose format it does not open.
enum ContainerAdvice {
  /// Formats with times of their own, whose packets Matroska holds.
  private static let copied: Set = ["dv", "film_cpk", "mpjpeg", "wtv"]
  /// Streams without times, which are counted.
  private static let rawCopied: Set = ["dnxhd", "h261", "h263"]
  private static let rawEncoded: Set = ["avs2", "avs3", "cavsvideo", "dirac", "vc1"]
  /// Other formats with video that FFmpeg decodes.
  private static let encoded: Set = [
    "4xm", "bink", "cdxl", "dxa", "ea", "flic", "gxf", "idcin", "ipmovie", "mm", "mtv", "mv", "nsv",
    "nuv", "psxstr", "rl2", "rm", "roq", "rpl", "segafilm", "smk", "smush", "swf", "thp",
    "tiertexseq",
    "vc1test", "vmd", "wc3movie", "wsvqa", "wtv", "xmv", "yop",
  ]
  /// Formats that only have sound.
  private static let sound: Set = [
    "aac", "ac3", "aiff", "amr", "ape", "au", "caf", "dts", "eac3", "flac", "mp3", "tta", "w64",
    "wav", "wv",
  ]

  /// `still images (PNG)`, `files of format dv`: still images have several demuxers, whose names no
  /// user knows.
  static func name(format: String, file: String) -> String {
    guard isStillImage(format) else { return "files of format \(format)" }
    let fileExtension = file.split(separator: ".").last.map(String.init) ?? ""
    let word = format == "image2" ? fileExtension : String(format.dropLast("_pipe".count))
    return "still images (\(imageNames[word.lowercased()] ?? word.uppercased()))"
  }

  private static let imageNames = [
    "jpg": "JPEG", "jpegls": "JPEG-LS", "j2k": "JPEG 2000", "jp2": "JPEG 2000", "webp": "WebP",
    "jpegxl": "JPEG XL", "tif": "TIFF", "sunrast": "Sun Raster", "qdraw": "QuickDraw",
    "photocd": "Photo CD", "cri": "Cintel RAW",
  ]

  private static func isStillImage(_ format: String) -> Bool {
    format.hasSuffix("_pipe") || format == "image2"
  }

  static func text(format: String, file: String) -> String {
    let name = file.shellWord
    let asFrames = "-fps_mode passthrough -c:v ffv1 OUT.mkv"
    if copied.contains(format) {
      return "Put it into a container first: ffmpeg -f \(format) -i \(name) -c copy OUT.mkv"
    }
    if rawCopied.contains(format) {
      return "Put it into a container first: "
        + "ffmpeg -f \(format) -framerate 25 -i \(name) -c copy OUT.mkv"
    }
    if rawEncoded.contains(format) {
      return "Convert it first: ffmpeg -f \(format) -framerate 25 -i \(name) \(asFrames)"
    }
    if encoded.contains(format) { return "Convert it first: ffmpeg -i \(name) \(asFrames)" }
    if sound.contains(format) { return "It has only sound; name a file with video" }
    if format == "rawvideo" {
      return "Name its format and size: ffmpeg -f rawvideo -pix_fmt yuv420p -s WIDTHxHEIGHT "
        + "-framerate 25 -i \(name) -c:v ffv1 OUT.mkv"
    }
    if isStillImage(format) {
      return "Make a video of the image: ffmpeg -i \(name) -c:v ffv1 OUT.mkv"
        + (format == "webp_pipe"
          ? "; if it is animated, make images of it first: anim_dump -folder DIR \(name)"
          : ["png_pipe", "jpeg_pipe"].contains(format)
            ? "; or read it as it is with a pipeline's source images" : "")
    }
    return "Name a video file, such as MP4 or Matroska, or try: ffmpeg -i \(name) \(asFrames)"
  }
}
