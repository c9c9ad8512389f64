/// Recognizes the log lines of FFmpeg's decoders that report a picture that differs from the
/// encoded picture.
///
/// Decoders often conceal damage and set no flag; a line of the log is then the only sign. Lines
/// about undamaged files, such as remarks on odd metadata, are not in this list.
enum DecoderLines {
  static func areDamage(_ line: String, codec: String) -> Bool {
    // A damaged stream has several lines for each packet, and Foundation's search is slow.
    let bytes = Array(line.utf8)
    func has(_ phrase: [UInt8]) -> Bool {
      bytes.indices.contains { bytes[$0] == phrase[0] && bytes[$0...].starts(with: phrase) }
    }
    return phrases.contains(where: has) || (openingCodecs.contains(codec) && has(opening))
  }

  /// A picture that refers to others is the first that is decoded. Decoders of MPEG and H.263 write
  /// it, too, where packets show it; a healthy stream of H.261 begins with such a picture.
  private static let opening = Array("first frame is no keyframe".utf8)
  private static let openingCodecs: Set = [
    "h263i", "rv10", "rv20", "rv30", "rv40", "vc1", "wmv3",
  ]

  /// Parts of lines of FFmpeg 5 to 7.
  private static let phrases = [
    // FFV1, PNG, HEVC with picture hashes: checksums of the stream's own.
    "slice CRC mismatch", "CRC mismatch in chunk", "Incorrect MD5", "mismatching checksum",
    // H.264, HEVC.
    "Could not find ref with POC", "error while decoding MB", "corrupted macroblock",
    "Previous slice segment missing", "is outside the valid range",
    // MPEG-1 to 4, H.263, WMV.
    "ac-tex damaged", "dc overflow", "skipped MB in I-frame", "marker does not match f_code",
    "concealing", "Error at MB", "overread", "illegal ac vlc", "illegal dc vlc",
    // JPEG.
    "EOI missing", "error y=", "error count", "error dc", "bad vlc", "overread ",
    // ProRes, DNxHD, DV.
    "ac tex damaged", "lines with errors",
    // GIF, PNG and others with compressed bytes.
    "LZW decode failed", "inflate returned error", "Slice decoding ran out of bits",
    "decode failed", "Inflate error", "inflate error", "invalid block label",
  ].map { Array($0.utf8) }
}
