import RetakeCore

/// How a file of stored detections is written.
package enum StoredFormat: String, Hashable, Sendable, Codable, CaseIterable {
  /// By the first bytes of the file.
  case automatic
  /// MOTChallenge text: `frame,id,x,y,width,height,confidence` and more columns.
  case mot
  /// COCO results, or COCO annotations.
  case coco
  /// JSON lines of Retake.
  case lines
  /// The results files of a golden or of a run.
  case golden

  /// The first keys of a JSON object.
  private static let keysOfLines = [
    "pts", "sequence", "sinks", "summary", "timeNanoseconds", "track",
  ]
  private static let keysOfCOCO = ["annotations", "categories", "images", "info", "licenses"]

  /// The format of a file; `nil` if the first bytes are of no known format.
  package static func of(_ bytes: [UInt8]) -> StoredFormat? {
    guard let first = bytes.first(where: { !$0.isWhiteSpace }) else { return nil }
    switch first {
    case UInt8(ascii: "#"): return bytes.starts(with: "#retake ".utf8) ? .golden : nil
    case UInt8(ascii: "["): return .coco
    case UInt8(ascii: "{"):
      // The key is within the first bytes, because only white space comes before it.
      let key = bytes.drop { $0 != UInt8(ascii: "\"") }.dropFirst().prefix(32)
        .prefix { $0 != UInt8(ascii: "\"") }
      let name = String(decoding: key, as: UTF8.self)
      if keysOfLines.contains(name) { return .lines }
      return keysOfCOCO.contains(name) ? .coco : nil
    case 0x30...0x39: return bytes.prefix { $0 != 0x0a }.contains(UInt8(ascii: ",")) ? .mot : nil
    default: return nil
    }
  }
}

extension UInt8 {
  var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}
