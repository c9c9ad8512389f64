import RetakeCore

/// A file of samples, and how to read it: the value of `--sensor`.
package struct SensorRequest: Hashable, Sendable {
  package enum Format: String, CaseIterable, Sendable {
    case csv, jsonl, gpx, nmea, srt
  }

  /// Where the file's times begin on the session's time line.
  package enum Offset: Hashable, Sendable {
    /// Added to the file's times, in nanoseconds.
    case fixed(Int64)
    /// The first sample has the time of the session's first frame.
    case start
  }

  package var file: String
  package var format: Format
  /// The column of the times; nil for the column with a usual name.
  package var timeColumn: String?
  package var unit: SensorTimeUnit?
  /// nil if it follows from the unit: dates begin with the session.
  package var offset: Offset?
  package var name: String?
  package var kind: String?
  package var valueUnit: String
  /// The columns of the values, in order; empty for all others.
  package var columns: [String]
  /// Subtitles of a recording in several files, which are one sensor; empty for `file` alone.
  package var chapters: [SubtitleChapter] = []

  package static let keys = [
    "columns", "format", "kind", "name", "offset", "time", "unit", "value-unit",
  ]

  /// Reads `imu.csv:time=t,unit=us,offset=-250ms,columns=gx+gy+gz,kind=gyroscope`.
  ///
  /// - Throws: `SensorError.badOption`, `.unknownFormat`.
  package init(parsing text: String) throws {
    func bad(_ problem: String) -> SensorError { .badOption(text: text, problem: problem) }
    let (path, options) = try Self.parts(of: text, keys: Self.keys)
    file = path
    format = try Self.format(options["format"], of: path, in: text)
    timeColumn = options["time"]
    unit = try Self.unit(options["unit"], in: text)
    name = options["name"]
    kind = options["kind"]
    valueUnit = options["value-unit"] ?? ""
    columns = options["columns"]?.split(separator: "+").map(String.init) ?? []
    guard Set(columns).count == columns.count else { throw bad("a column is named twice") }
    guard [.csv, .jsonl].contains(format) || timeColumn == nil && unit == nil else {
      throw bad("the times of \(format.rawValue) have one form; 'time' and 'unit' are for tables")
    }
    offset = try options["offset"].map { word in
      guard let offset = Self.offset(word) else {
        throw bad("offset is a time such as 250ms or -1.5s, or 'start', not '\(word)'")
      }
      return offset
    }
  }

  /// The path, and the options after it.
  static func parts(of text: String, keys: [String]) throws -> (path: String, [String: String]) {
    func bad(_ problem: String) -> SensorError { .badOption(text: text, problem: problem) }
    var (path, options) = (text, [String: String]())
    // A path may have colons itself: the options follow the last colon, if there is a `=` after it.
    if let colon = text.lastIndex(of: ":"), text[colon...].contains("=") {
      path = String(text[..<colon])
      for part in text[text.index(after: colon)...].split(separator: ",") {
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, !pair[1].isEmpty else { throw bad("'\(part)' is not key=value") }
        let key = String(pair[0])
        guard keys.contains(key) else {
          throw bad("there is no '\(key)'. \(Suggestion.advice(for: key, among: keys))")
        }
        guard options.updateValue(String(pair[1]), forKey: key) == nil else {
          throw bad("'\(key)' is given twice")
        }
      }
    }
    guard !path.isEmpty else { throw bad("there is no file") }
    return (path, options)
  }

  static func unit(_ word: String?, in text: String) throws -> SensorTimeUnit? {
    try word.map { word in
      guard let unit = SensorTimeUnit(rawValue: word) else {
        throw SensorError.badOption(
          text: text, problem: "unit is s, ms, us, ns or date, not '\(word)'")
      }
      return unit
    }
  }

  private static func offset(_ word: String) -> Offset? {
    if word == "start" { return .start }
    let isNegative = word.hasPrefix("-")
    guard let duration = Duration(parsing: isNegative ? word.dropFirst() : word[...]) else {
      return nil
    }
    return .fixed(isNegative ? -duration.nanoseconds : duration.nanoseconds)
  }

  private static func format(
    _ word: String?, of path: String, in text: String
  ) throws -> Format {
    if let word {
      guard let format = Format(rawValue: word) else {
        throw SensorError.badOption(
          text: text, problem: "format is csv, jsonl, gpx, nmea or srt, not '\(word)'")
      }
      return format
    }
    let suffix = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
    switch suffix {
    case "csv", "tsv", "txt": return .csv
    case "jsonl", "ndjson": return .jsonl
    case "gpx": return .gpx
    case "nmea", "nma": return .nmea
    case "srt": return .srt
    // Times of frames, as cameras of the Raspberry Pi and mkvextract write them.
    case "pts": throw SensorError.onlyTimes(file: path)
    default: throw SensorError.unknownFormat(file: path)
    }
  }

  /// Whether another file is read in the same way.
  package func isLike(_ other: SensorRequest) -> Bool {
    var same = other
    same.file = file
    return self == same
  }

  /// The name of the sensor, and its kind, of a format that names the measured quantity.
  var formatName: String? {
    switch format {
    case .csv, .jsonl: nil
    case .gpx, .nmea: "gps"
    case .srt: SubtitleTelemetry.name
    }
  }

  /// The sensor's name without `name=`: the file's, with other characters replaced.
  var defaultName: String {
    let last = file.split(separator: "/").last.map(String.init) ?? file
    let stem = last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
    let letters = stem.utf8.prefix(64).map { byte -> Character in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
        || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
      return isPlain ? Character(Unicode.Scalar(byte)) : "-"
    }
    return letters.isEmpty ? "sensor" : String(letters)
  }
}
