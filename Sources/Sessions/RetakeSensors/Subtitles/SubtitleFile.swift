/// The entries of a SubRip file: a number, the times `00:00:01,000 --> 00:00:02,000`, and lines of
/// text. Each line with an arrow begins an entry, so a lost blank line hides none.
struct SubtitleFile: SubtitleEntries {
  static let placeName = "line"
  private let file: String
  private var lines: SensorLineReader
  /// The entry whose text is read.
  private var open: SubtitleEntry?

  /// The most lines of an entry: cameras write four.
  private static let linesMax = 256

  init(_ file: String) throws {
    self.file = file
    lines = try SensorLineReader(file)
  }

  mutating func next() throws -> SubtitleEntry? {
    while let bytes = try lines.next() {
      let text = String(decoding: bytes, as: UTF8.self)
      if text.contains("-->") {
        let entry = try begun(text)
        defer { open = entry }
        if var before = open {
          // The number of the entry that begins here.
          if before.lines.last.map({ Self.isNumber($0.text) }) == true { before.lines.removeLast() }
          return before
        }
      } else if text.contains(where: { !$0.isWhitespace }) {
        try take(text)
      }
    }
    defer { open = nil }
    return open
  }

  func damage(_ problem: SubtitleProblem, in entry: SubtitleEntry) -> SensorError {
    problem.isOfField
      ? .badLine(file: file, line: problem.place, problem: problem.problem)
      : .badPoint(file: file, line: problem.place, problem: problem.problem)
  }

  private mutating func take(_ text: String) throws {
    guard let count = open?.lines.count else {
      // The number of the first entry.
      guard Self.isNumber(text) else {
        throw bad("there are no times such as 00:00:01,000 --> 00:00:02,000 before it")
      }
      return
    }
    guard count < Self.linesMax else {
      throw bad("its entry has more than \(Self.linesMax) lines")
    }
    open?.lines.append(SubtitleEntry.Line(place: lines.number, text: text))
  }

  private func begun(_ text: String) throws -> SubtitleEntry {
    let parts = text.split(separator: "-->", omittingEmptySubsequences: false).map {
      $0.split(whereSeparator: \.isWhitespace).first ?? ""
    }
    guard parts.count == 2, let start = Self.time(parts[0]), let end = Self.time(parts[1]) else {
      throw bad("'\(text.prefix(40))' is not two times such as 00:00:01,000 --> 00:00:02,000")
    }
    guard start <= end else { throw bad("the entry ends before it begins") }
    return SubtitleEntry(place: lines.number, time: start)
  }

  private static func isNumber(_ text: String) -> Bool {
    text.allSatisfy { $0.isNumber || $0.isWhitespace }
  }

  private func bad(_ problem: String) -> SensorError {
    .badPoint(file: file, line: lines.number, problem: problem)
  }

  /// `00:00:01,000`, also with a point, in nanoseconds.
  static func time(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, (1...4).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
      let hours = digits(parts[0]), let minutes = digits(parts[1]), minutes < 60
    else { return nil }
    let seconds = parts[2].split(
      maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: { $0 == "," || $0 == "." })
    guard seconds.allSatisfy({ digits($0) != nil }), seconds[0].utf8.count == 2,
      let second = SensorTime.decimal(seconds.joined(separator: "."), digits: 9),
      second < 60_000_000_000
    else { return nil }
    return (hours * 60 + minutes) * 60_000_000_000 + second
  }

  private static func digits(_ text: Substring) -> Int64? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(text)
  }
}
