/// Finds the fields in the text of an entry, as drones of DJI and others write them:
///
/// ```
/// FrameCnt: 1, DiffTime: 33ms
/// [iso: 100] [shutter: 1/640.0] [rel_alt: 20.000 abs_alt: 51.200]
/// GPS(12.5,55.6,21) BAROMETER:30.1
/// F/2.8, SS 206.14, ISO 150, GPS (12.5, 55.6, 21), D 24.26m
/// ```
struct SubtitleScanner {
  private var fields: [SubtitleField] = []
  private let place: Int
  private let bytes: [UInt8]
  private var next = 0
  /// Text outside brackets and parentheses.
  private var plain: [UInt8] = []

  /// - Throws: `SubtitleProblem`.
  static func fields(of entry: SubtitleEntry) throws(SubtitleProblem) -> [SubtitleField] {
    var fields: [SubtitleField] = []
    for line in entry.lines {
      var scanner = SubtitleScanner(line)
      let found = try scanner.run()
      // Cameras repeat the date, and only its name is reported.
      let isDated = fields.contains { $0.name == dateName }
      fields += isDated ? found.filter { $0.name != dateName } : found
    }
    return fields
  }

  private init(_ line: SubtitleEntry.Line) {
    (place, bytes) = (line.place, Array(line.text.utf8))
  }

  private mutating func run() throws(SubtitleProblem) -> [SubtitleField] {
    // Ends: each turn reads at least a byte.
    while next < bytes.count {
      switch bytes[next] {
      case UInt8(ascii: "<"): skipTag()
      case UInt8(ascii: "["): try takeBracket()
      case UInt8(ascii: "]"): throw bad("a bracket ends that did not begin")
      case UInt8(ascii: "("): try takeTuple()
      default:
        plain.append(bytes[next])
        next += 1
      }
    }
    takePlain()
    return fields
  }

  /// `<font size="28">`. A damaged field such as `iso: <00` is not a tag.
  private mutating func skipTag() {
    let first = bytes.dropFirst(next + 1).first
    let isTag = first == UInt8(ascii: "/") || first.map(Self.isLetter) == true
    if isTag, let end = bytes[next...].firstIndex(of: UInt8(ascii: ">")),
      !bytes[next..<end].contains(UInt8(ascii: "["))
    {
      plain.append(0x20)
      next = end + 1
    } else {
      plain.append(bytes[next])
      next += 1
    }
  }

  /// `[rel_alt: 20.000 abs_alt: 51.200]`.
  private mutating func takeBracket() throws(SubtitleProblem) {
    let inside = bytes[(next + 1)...].prefix { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
    guard inside.endIndex < bytes.count, bytes[inside.endIndex] == UInt8(ascii: "]") else {
      throw bad("a bracket is not closed")
    }
    next = inside.endIndex + 1
    plain.append(0x20)
    let names = Self.names(in: inside)
    let rest = Self.text(inside[..<(names.first?.lowerBound ?? inside.endIndex)])
    guard !names.isEmpty, rest.isEmpty else {
      throw bad("'[\(Self.text(inside).prefix(40))]' is not a name and a value")
    }
    for (name, value) in Self.pairs(names, in: inside) {
      let isCompact = Self.isCompact(name, in: inside)
      fields.append(
        SubtitleField(
          String(decoding: inside[name], as: UTF8.self), value, isOlder: false,
          isCompact: isCompact, place: place))
    }
  }

  /// `GPS(12.5,55.6,21)` after its name. Other parentheses are text.
  private mutating func takeTuple() throws(SubtitleProblem) {
    let before = plain.prefix((plain.lastIndex { $0 != 0x20 } ?? -1) + 1)
    let start = (before.lastIndex { !Self.isLetter($0) } ?? -1) + 1
    let name = String(decoding: before[start...], as: UTF8.self)
    guard ["GPS", "HOME", "BAROMETER"].contains(name) else {
      plain.append(bytes[next])
      next += 1
      return
    }
    guard let end = bytes[next...].firstIndex(of: UInt8(ascii: ")")) else {
      throw bad("the parenthesis of \(name) is not closed")
    }
    let parts = bytes[(next + 1)..<end].split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false
    ).map(Self.text)
    guard let names = Self.names(of: name, parts) else {
      throw bad("\(name) has \(parts.count) values")
    }
    plain = Array(before[..<start])
    next = end + 1
    for (name, part) in zip(names, parts) {
      fields.append(SubtitleField(name, part, isOlder: true, place: place))
    }
  }

  private static func names(of tuple: String, _ parts: [Substring]) -> [String]? {
    switch (tuple, parts.count) {
    case ("BAROMETER", 1): return ["barometer"]
    case ("HOME", 2): return ["home_longitude", "home_latitude"]
    case ("GPS", 2): return ["longitude", "latitude"]
    // Cameras that write the unit of the altitude write the latitude first.
    case ("GPS", 3) where parts[2].hasSuffix("M"): return ["latitude", "longitude", "altitude"]
    case ("GPS", 3): return ["longitude", "latitude", "altitude"]
    default: return nil
    }
  }

  /// `2023-01-06 18:56:48,380,821`, `ISO:100 Shutter:60`, or `F/2.8, SS 206.14`.
  private mutating func takePlain() {
    takeDate()
    let names = Self.names(in: plain[...])
    for (name, value) in Self.pairs(names, in: plain[...]) {
      let word = value.prefix { $0 != " " && $0 != "," }
      fields.append(
        SubtitleField(
          String(decoding: plain[name], as: UTF8.self), word, isOlder: true,
          isCompact: Self.isCompact(name, in: plain[...]), place: place))
    }
    guard names.isEmpty else { return }
    for part in plain.split(separator: UInt8(ascii: ",")) {
      let text = Self.text(part)
      let name = text.utf8.prefix { Self.isLetter($0) || $0 == UInt8(ascii: ".") }
      let field = SubtitleField(
        String(text[..<name.endIndex]),
        text[name.endIndex...].drop { $0 == " " || $0 == "/" }, isOlder: true, place: place)
      if !name.isEmpty, case .number = field.value { fields.append(field) }
    }
  }

  /// The name of a date, which cameras write without one.
  private static let dateName = "date"

  /// `2023-01-06 18:56:48,380,821` or `2017.08.05 14:11:51` at the beginning of the text. A date has
  /// no name before its colons.
  private mutating func takeDate() {
    let text = Self.text(plain[...])
    let plainDate = String(text.prefix(19)).replacing("/", with: "-").replacing(".", with: "-")
    guard SensorTime.date(plainDate) != nil else { return }
    let rest = text.dropFirst(19)
    let end = rest.firstIndex { $0 == " " || $0 == "\t" } ?? rest.endIndex
    fields.append(SubtitleField(Self.dateName, text[..<end], isOlder: true, place: place))
    plain = Array(text[end...].utf8)
  }

  private func bad(_ problem: String) -> SubtitleProblem {
    SubtitleProblem(place: place, problem: problem, isOfField: false)
  }

  // MARK: Names and values

  /// Where the names before colons are. A name begins with a letter, after a blank or a comma.
  private static func names(in text: ArraySlice<UInt8>) -> [Range<Int>] {
    var names: [Range<Int>] = []
    for colon in text.indices where text[colon] == UInt8(ascii: ":") {
      let end = (text[..<colon].lastIndex { $0 != 0x20 } ?? text.startIndex - 1) + 1
      let start = (text[..<end].lastIndex { !isPart($0) } ?? text.startIndex - 1) + 1
      guard start < end, isLetter(text[start]),
        start == text.startIndex || [0x09, 0x20, UInt8(ascii: ",")].contains(text[start - 1])
      else { continue }
      names.append(start..<end)
    }
    return names
  }

  /// Whether there is a blank between a name and its colon.
  private static func isCompact(_ name: Range<Int>, in text: ArraySlice<UInt8>) -> Bool {
    name.upperBound < text.endIndex && text[name.upperBound] != UInt8(ascii: ":")
  }

  /// Each name, with the text up to the next name.
  private static func pairs(
    _ names: [Range<Int>], in text: ArraySlice<UInt8>
  ) -> [(Range<Int>, Substring)] {
    names.enumerated().map { place, name in
      let colon = text[name.upperBound...].firstIndex(of: UInt8(ascii: ":")) ?? name.upperBound
      let end = place + 1 < names.count ? names[place + 1].lowerBound : text.endIndex
      return (name, Self.text(text[(colon + 1)..<end]))
    }
  }

  /// Without blanks around it, and the comma after it.
  private static func text(_ bytes: ArraySlice<UInt8>) -> Substring {
    var bytes = bytes
    while let last = bytes.last, last <= 0x20 || last == UInt8(ascii: ",") {
      bytes = bytes.dropLast()
    }
    return Substring(decoding: bytes.drop { $0 <= 0x20 }, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: ".")
  }
}
