import Foundation
import RetakeCore

/// The document as the page embeds it: limited in size, and as JSON that no label can break out of.
struct PageData {
  /// The most findings of all cases together; the rest is in report.json.
  static let findingsMax = 20_000
  /// The most base64 characters of all images together.
  static let pictureCharactersMax = 2_400_000
  /// The most numbers in the error curves of all cases together.
  static let errorNumbersMax = 300_000
  /// A larger page is slow to open, and the report says so.
  static let pageBytesWarning = 50_000_000

  var document: ReportDocument
  /// What was left out, in words.
  private(set) var notes: [String] = []

  init(_ document: ReportDocument) {
    self.document = document
    boundFindings()
    boundPictures()
    boundErrors()
  }

  private mutating func boundFindings() {
    var room = Self.findingsMax
    var leftOut = 0
    for place in document.cases.indices {
      let items = document.cases[place].findings.items
      let kept = min(room, items.count)
      room -= kept
      leftOut += items.count - kept
      guard kept < items.count else { continue }
      // `total` stays as it is, so the page still says how many findings there are.
      document.cases[place].findings.items = Array(items.prefix(kept))
    }
    guard leftOut > 0 else { return }
    notes.append("\(Wording.count(leftOut, "finding")) not on this page; report.json has them.")
  }

  private mutating func boundPictures() {
    var room = Self.pictureCharactersMax
    var leftOut = 0
    for place in document.cases.indices where !document.cases[place].pictures.isEmpty {
      document.cases[place].pictures = document.cases[place].pictures.filter { picture in
        // It becomes part of a data address. A report that was altered could put anything there.
        guard picture.png.utf8.count <= room, picture.isBase64 else {
          leftOut += 1
          return false
        }
        room -= picture.png.utf8.count
        return true
      }
    }
    guard leftOut > 0 else { return }
    notes.append("\(Wording.count(leftOut, "picture")) not on this page, to keep it small.")
  }

  /// If there are too many curves, all of them lose detail equally.
  private mutating func boundErrors() {
    // After 16 halvings almost nothing is left.
    for _ in 0..<16 {
      let numbers = document.cases.reduce(0) { $0 + $1.errorNumbers }
      guard numbers > Self.errorNumbersMax else { return }
      for place in document.cases.indices { document.cases[place].halveErrors() }
    }
  }

  /// JSON for a `<script type="application/json">`.
  func embedded() throws -> [UInt8] {
    var body = try document.encoded()
    if body.last == 0x0A { body.removeLast() }
    return Self.escaped(Array(body))
  }

  /// Replaces characters inside strings by their JSON escapes: those that have a meaning for the
  /// HTML parser, and those that mislead a reader. These are `<`, `>`, `&`, separators and
  /// direction marks.
  ///
  /// JSON has none of these outside strings, so bytes can be replaced without parsing.
  static func escaped(_ json: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(json.count + json.count / 16)
    var place = 0
    while place < json.count {
      let byte = json[place]
      // E2, EF and C2 are the first bytes of what `hidden` knows; the others need no closer look.
      if byte == 0x3C || byte == 0x3E || byte == 0x26 || byte == 0x7F {
        escape(UInt32(byte), into: &result)
      } else if byte == 0xE2 || byte == 0xEF || byte == 0xC2, let scalar = hidden(json, place) {
        escape(scalar.value, into: &result)
        place += scalar.length
        continue
      } else {
        result.append(byte)
      }
      place += 1
    }
    return result
  }

  private static func hidden(_ json: [UInt8], _ place: Int) -> (value: UInt32, length: Int)? {
    if json[place] == 0xC2 {
      // In UTF-8, C2 80 to C2 9F are U+0080 to U+009F, the C1 controls.
      guard place + 1 < json.count, json[place + 1] < 0xA0 else { return nil }
      return (UInt32(json[place + 1]), 2)
    }
    guard place + 2 < json.count else { return nil }
    let middle = UInt32(json[place + 1] & 0x3F) << 6
    let value = UInt32(json[place] & 0x0F) << 12 | middle | UInt32(json[place + 2] & 0x3F)
    switch value {
    case 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF0...0xFFFB,
      0xFFFE...0xFFFF:
      return (value, 3)
    default: return nil
    }
  }

  private static func escape(_ value: UInt32, into bytes: inout [UInt8]) {
    // Four digits are enough for all of `hidden` (RFC 8259, section 7): it knows nothing above
    // U+FFFF.
    let digits = String(value, radix: 16)
    bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
  }
}

extension ReportCase {
  fileprivate var errorNumbers: Int {
    timelines.flatMap(\.errors).reduce(0) { $0 + $1.largest.count + $1.least.count }
  }

  fileprivate mutating func halveErrors() {
    for place in timelines.indices {
      timelines[place].errors = timelines[place].errors.map { $0.halved() }
    }
  }
}

extension ReportPicture {
  /// Whether it contains only base64 characters, so that it can be part of a data address.
  var isBase64: Bool {
    png.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F, 0x3D: true
      default: false
      }
    }
  }
}
