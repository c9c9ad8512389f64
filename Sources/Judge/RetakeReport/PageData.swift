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
  /// The omitted parts, in words.
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
    // After 16 halvings almost no numbers remain.
    for _ in 0..<16 {
      let numbers = document.cases.reduce(0) { $0 + $1.errorNumbers }
      guard numbers > Self.errorNumbersMax else { return }
      for place in document.cases.indices { document.cases[place].halveErrors() }
    }
  }

  /// Whether images are files next to the page, as on a site of published runs.
  var hasImageFiles: Bool { document.cases.contains { $0.pictures.contains { $0.file != nil } } }

  /// JSON for a `<script type="application/json">`.
  func embedded() throws -> [UInt8] {
    var body = try document.encoded()
    if body.last == 0x0A { body.removeLast() }
    return Self.escaped(Array(body))
  }

  /// Replaces characters inside strings by their JSON escapes: characters that have a meaning for
  /// the HTML parser, which are `<`, `>` and `&`, and characters that mislead a reader, as in
  /// `visible(_:)`.
  ///
  /// JSON has no such character outside strings, so bytes can be replaced without parsing.
  static func escaped(_ json: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(json.count + json.count / 16)
    var place = 0
    while place < json.count {
      let byte = json[place]
      if byte == 0x3C || byte == 0x3E || byte == 0x26 || byte == 0x7F {
        escape(UInt16(byte), into: &result)
      } else if byte >= 0x80, let (scalar, length) = scalar(json, place), acts(scalar) {
        // Above U+FFFF these are two surrogates (RFC 8259, section 7).
        for unit in String(scalar).utf16 { escape(unit, into: &result) }
        place += length
        continue
      } else {
        result.append(byte)
      }
      place += 1
    }
    return result
  }

  /// The scalar whose first byte this is, and its length in UTF-8; `nil` for a byte in the middle
  /// of one.
  private static func scalar(_ json: [UInt8], _ place: Int) -> (Unicode.Scalar, length: Int)? {
    // RFC 3629, section 3: the number of leading 1 bits is the length.
    let length = (~json[place]).leadingZeroBitCount
    guard (2...4).contains(length), place + length <= json.count else { return nil }
    var value = UInt32(json[place]) & (0x7F >> UInt32(length))
    for byte in json[(place + 1)..<(place + length)] { value = value << 6 | UInt32(byte & 0x3F) }
    return Unicode.Scalar(value).map { ($0, length) }
  }

  private static func escape(_ unit: UInt16, into bytes: inout [UInt8]) {
    let digits = String(unit, radix: 16)
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

extension ReportImage {
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
