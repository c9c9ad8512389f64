import CFFmpeg

/// Versions and codecs that the loaded libraries report.
enum LibraryVersions {
  static var all: [(name: String, version: String)] {
    // SAFETY: the library returns a constant string.
    [
      ("ffmpeg", String(cString: av_version_info())),
      ("libavcodec", text(avcodec_version())), ("libavformat", text(avformat_version())),
      ("libavutil", text(avutil_version())), ("libswscale", text(swscale_version())),
    ]
  }

  static func hasEncoder(_ name: String) -> Bool { avcodec_find_encoder_by_name(name) != nil }

  static func hasDecoder(_ codec: String) -> Bool {
    guard let descriptor = avcodec_descriptor_get_by_name(codec) else { return false }
    return avcodec_find_decoder(descriptor.pointee.id) != nil
  }

  private static func text(_ version: UInt32) -> String {
    "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
  }
}
