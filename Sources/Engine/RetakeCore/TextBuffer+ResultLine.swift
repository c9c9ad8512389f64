extension TextBuffer {
  private static let space = UInt8(ascii: " ")
  private static let lineEnd = UInt8(ascii: "\n")

  /// The line with its line end.
  package mutating func append(_ line: ResultLine) {
    switch line {
    case .detection(let detection): append(detection)
    case .classification(let detection, let label, let score):
      append(classOf: detection, label: label, score: score)
    case .scalar(let name, let value):
      append("V ")
      append(word: name)
      append(UInt8(ascii: "="))
      append(value)
    case .picture(let print): append(print)
    case .tensor(let type, let shape, let digest):
      append("N ")
      append(word: type)
      append(Self.space)
      append(word: shape.isEmpty ? "-" : shape.map(String.init).joined(separator: "x"))
      append(Self.space)
      append(digest)
    case .waveform(let name, let rate, let samples):
      append("W ")
      append(word: name)
      append(Self.space)
      append(rate)
      append(Self.space)
      append(samples.count)
      for sample in samples {
        append(Self.space)
        append(sample)
      }
    case .text(let name, let text):
      append("T ")
      append(word: name)
      append(Self.space)
      append(quoted: text)
    case .user(let kind, let digest):
      append("U ")
      append(word: kind)
      append(Self.space)
      append(digest)
    case .observation(let observation): append(observation)
    case .ended(let fate, let node):
      append("X ")
      append(word: fate.word)
      append(Self.space)
      append(word: fate.reason)
      append(Self.space)
      append(word: node)
    }
    append(Self.lineEnd)
  }

  private mutating func append(_ detection: DetectionLine) {
    append("D ")
    if let identity = detection.identity { append(identity) } else { append(UInt8(ascii: "-")) }
    append(UInt8(ascii: ":"))
    append(detection.classIndex)
    append(Self.space)
    append(detection.x)
    append(Self.space)
    append(detection.y)
    append(Self.space)
    append(detection.width)
    append(Self.space)
    append(detection.height)
    append(Self.space)
    append(detection.score)
  }

  private mutating func append(classOf detection: Int?, label: String, score: FixedDecimal) {
    append("C ")
    if let detection { append(detection) } else { append(UInt8(ascii: "-")) }
    append(Self.space)
    append(word: label)
    append(UInt8(ascii: "="))
    append(score)
  }

  private mutating func append(_ print: FramePrint) {
    append("P ")
    append(print.width)
    append(UInt8(ascii: "x"))
    append(print.height)
    for word in [print.format, print.range, print.matrix] {
      append(Self.space)
      append(word: word)
    }
    append(Self.space)
    append(print.digest)
  }

  /// A name or label as one word. Bytes that are not printable ASCII, and `% , =`, are written as
  /// `%XX`. The empty string is a single `%`.
  package mutating func append(word: String) {
    if word.isEmpty { return append(UInt8(ascii: "%")) }
    if word.utf8.allSatisfy(Self.isPlain) { return append(word) }
    for byte in word.utf8 {
      if Self.isPlain(byte) {
        append(byte)
      } else {
        append(UInt8(ascii: "%"))
        appendHex(byte)
      }
    }
  }

  static func isPlain(_ byte: UInt8) -> Bool {
    // A space separates fields, a comma the words of a list, `=` a name and its value; `%` begins
    // an escape.
    byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "%") && byte != UInt8(ascii: ",")
      && byte != UInt8(ascii: "=")
  }

  private mutating func appendHex(_ byte: UInt8) {
    for nibble in [byte >> 4, byte & 15] { append(nibble < 10 ? nibble + 0x30 : nibble + 0x37) }
  }

  /// A JSON string in ASCII.
  private mutating func append(quoted text: String) {
    append(UInt8(ascii: "\""))
    // RFC 8259, section 7: an escape is one UTF-16 code unit, and other characters are two of them.
    for unit in text.utf16 {
      switch unit {
      case 0x22: append("\\\"")
      case 0x5c: append("\\\\")
      case 0x0a: append("\\n")
      case 0x0d: append("\\r")
      case 0x09: append("\\t")
      default: append(escaped: unit)
      }
    }
    append(UInt8(ascii: "\""))
  }

  /// A JSON document in ASCII. Its strings have the escapes of the canonical form, so that only
  /// other characters of strings are left.
  mutating func append(escaped document: String) {
    for unit in document.utf16 { append(escaped: unit) }
  }

  /// A code unit in printable ASCII, or its escape.
  private mutating func append(escaped unit: UInt16) {
    guard !(0x20..<0x7f).contains(unit) else {
      return append(UInt8(truncatingIfNeeded: unit))
    }
    append("\\u")
    appendHex(UInt8(truncatingIfNeeded: unit >> 8))
    appendHex(UInt8(truncatingIfNeeded: unit))
  }
}
