import RetakeCore

/// The times of a video's frames in a separate file, one for each frame in the order in which they
/// are shown: the value of `--times`.
package struct FrameTimesFile: Sendable {
  package let file: String
  /// Never decreasing.
  package private(set) var nanoseconds: [Int64] = []

  private static let keys = ["time", "unit"]
  private static let countMax = 100_000_000

  /// Reads `video.pts` or `frames.csv:time=t,unit=us`, and the file.
  ///
  /// A file of mkvmerge's timestamp format v2, as cameras of the Raspberry Pi write it, has
  /// milliseconds (mkvmerge(1), external timestamp files). Any other file is a table with a column
  /// of times, whose unit is stated by the option, by the column's name, or by dates.
  ///
  /// - Throws: `SensorError`.
  package init(parsing text: String) throws {
    do {
      try self.init(reading: text)
    } catch SensorError.badOption(let text, let problem) {
      throw SensorError.badTimes(text: text, problem: problem)
    }
  }

  private init(reading text: String) throws {
    let (path, options) = try SensorRequest.parts(of: text, keys: Self.keys)
    file = path
    var lines = try SensorLineReader(path)
    var unit = try SensorRequest.unit(options["unit"], in: text)
    var column: TimeColumn?
    var separator = UInt8(ascii: ",")
    while let line = try lines.next() {
      if line.isEmpty { continue }
      if line.first == UInt8(ascii: "#") {
        guard nanoseconds.isEmpty, let version = Self.version(line) else { continue }
        guard version == "v2" else {
          throw SensorError.badOption(
            text: text,
            problem: "the file is of timestamp format \(version), and v2 is read; "
              + "mkvextract FILE timestamps_v2 writes it")
        }
        unit = unit ?? .ms
        continue
      }
      if column == nil {
        try Self.refuseJSON(line, of: path, text)
        separator =
          [UInt8(ascii: "\t"), UInt8(ascii: ";")].first { line.contains($0) } ?? separator
      }
      guard let fields = CSVRows.fields(line, separator) else {
        throw SensorError.badPoint(file: path, line: lines.number, problem: "a quote is not closed")
      }
      if column == nil {
        let isNamed =
          fields.allSatisfy { SensorTime.decimal($0, digits: 0) == nil }
          && fields.allSatisfy { SensorTime.date($0) == nil }
        let names = isNamed ? fields : fields.indices.map { "\($0 + 1)" }
        let wanted = options["time"]
        guard isNamed || fields.count == 1 || wanted != nil else {
          throw SensorError.badOption(
            text: text,
            problem: "the file has \(fields.count) columns without names; name the one "
              + "with the times: \(path):time=1")
        }
        column = try TimeColumn(
          among: names, wanted: names.count == 1 ? names[0] : wanted, file: path)
        unit = unit ?? column?.unit
        if isNamed { continue }
      }
      guard let column, fields.indices.contains(column.place) else {
        throw SensorError.badPoint(file: path, line: lines.number, problem: "it has no such column")
      }
      try add(fields[column.place], &unit, line: lines.number, text)
    }
    guard !nanoseconds.isEmpty else {
      throw SensorError.badOption(text: text, problem: "the file has no times")
    }
  }

  private mutating func add(
    _ field: String, _ unit: inout SensorTimeUnit?, line: Int, _ text: String
  ) throws {
    if unit == nil, SensorTime.date(field) != nil { unit = .date }
    guard let known = unit else {
      throw SensorError.badOption(
        text: text, problem: "the unit of the times is not stated: \(file):unit=ms, or s, us, ns")
    }
    guard let time = SensorTime.parse(field, known) else {
      throw SensorError.badTime(
        file: file, line: line, text: String(field.prefix(40)), unit: known)
    }
    guard time >= nanoseconds.last ?? .min, nanoseconds.count < Self.countMax else {
      throw SensorError.badPoint(
        file: file, line: line, problem: "its time is before the time of the frame before")
    }
    nanoseconds.append(time)
  }

  /// The metadata of rpicam-vid may be JSON, as an array or as lines.
  private static func refuseJSON(_ line: [UInt8], of path: String, _ text: String) throws {
    let first = line.first { $0 != UInt8(ascii: " ") }
    guard first == UInt8(ascii: "[") || first == UInt8(ascii: "{") else { return }
    let filter = (first == UInt8(ascii: "[") ? ".[]" : "") + ".SensorTimestamp"
    throw SensorError.badOption(
      text: text,
      problem: "the file is JSON, and a table is read; write its times into one, for example: "
        + "jq '\(filter)' \(path.shellWord) > TIMES, then --times TIMES:unit=ns")
  }

  /// `v2` of `# timecode format v2`.
  private static func version(_ line: [UInt8]) -> String? {
    let words = String(decoding: line.dropFirst(), as: UTF8.self).lowercased().split(separator: " ")
    guard words.count == 3, ["timecode", "timestamp"].contains(words[0]), words[1] == "format"
    else { return nil }
    return String(words[2])
  }
}
