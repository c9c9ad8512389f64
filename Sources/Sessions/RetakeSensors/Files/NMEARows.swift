/// Sentences of a GPS receiver (NMEA 0183): RMC for the place, the speed and the date, GGA for the
/// altitude. Sentences of one instant become one sample. Others are skipped, and so are positions
/// that the receiver calls void.
struct NMEARows: SensorRows {
  let channels = ["latitude", "longitude", "altitude", "speed", "course"]
  private var lines: SensorLineReader
  private let file: String
  /// Nanoseconds of the date of the last RMC; nil before the first.
  private var day: Int64?
  private var open: SensorRow?
  /// The last GGA before the first date: its time of day, and the altitude.
  private var undated: (time: Int64, altitude: Double)?
  /// The time of the last sentence that counted.
  private var last: Int64?
  let unit = SensorTimeUnit.date
  /// Lines without a sentence, and sentences with a void position.
  private var (strange, void) = (Lines(), Lines())

  /// Lines that were left out.
  private struct Lines {
    var count = 0
    var first = 0

    mutating func add(_ line: Int) {
      if count == 0 { first = line }
      count += 1
    }

    func text(_ one: String, _ many: String) -> String? {
      switch count {
      case 0: nil
      case 1: "line \(first) \(one)"
      default: "\(count) lines \(many); the first is line \(first)"
      }
    }
  }

  var remarks: [String] {
    [
      strange.text("has no NMEA sentence", "have no NMEA sentence"),
      void.text("has a void position", "have void positions"),
    ].compactMap(\.self)
  }

  private static let knot = 1_852.0 / 3_600

  init(_ request: SensorRequest) throws {
    file = request.file
    lines = try SensorLineReader(request.file)
  }

  mutating func next() throws -> SensorRow? {
    while let line = try lines.next() {
      guard let fields = try sentence(line) else {
        if line.contains(where: { $0 > 0x20 }) { strange.add(lines.number) }
        continue
      }
      guard fields.count > 1, fields[0].count == 5 else { continue }
      let kind = fields[0].suffix(3)
      guard kind == "RMC" || kind == "GGA" else { continue }
      guard let found = try fix(kind == "RMC", fields) else { continue }
      if var before = open, before.time == found.time {
        for place in channels.indices where !found.values[place].isNaN {
          before.values[place] = found.values[place]
        }
        open = before
      } else {
        defer { open = found }
        if let before = open { return before }
      }
    }
    if last == nil, undated != nil { throw SensorError.undated(file: file) }
    defer { open = nil }
    return open
  }

  /// The fields of a sentence with a valid checksum or without one; nil for a line without a
  /// sentence. Loggers write a time or a tag block before the sentence.
  private func sentence(_ line: [UInt8]) throws -> [String]? {
    guard let start = line.firstIndex(of: UInt8(ascii: "$")) else { return nil }
    let parts = line[(start + 1)...].split(separator: UInt8(ascii: "*"), maxSplits: 1)
    guard let text = parts.first else { return nil }
    if parts.count == 2 {
      let sum = text.reduce(UInt8(0)) { $0 ^ $1 }
      let digits = String(decoding: parts[1].prefix(2), as: UTF8.self)
      guard UInt8(digits, radix: 16) == sum else {
        throw bad("its checksum is \(digits), but should be \(String(sum, radix: 16))")
      }
    }
    return text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private mutating func fix(
    _ isRMC: Bool, _ fields: [String]
  ) throws -> SensorRow? {
    guard fields.count >= 10 else { throw bad("the sentence \(fields[0]) is cut") }
    // Without a fix a receiver sends empty fields, or old fields with the status V or the quality
    // 0.
    guard !fields[1].isEmpty, !fields[isRMC ? 3 : 2].isEmpty,
      fields[isRMC ? 2 : 6] != (isRMC ? "V" : "0")
    else {
      void.add(lines.number)
      return nil
    }
    if isRMC {
      guard let date = Self.date(fields[9]) else { throw bad("'\(fields[9])' is not a date") }
      day = date
    }
    guard let clock = Self.timeOfDay(fields[1]) else { throw bad("'\(fields[1])' is not a time") }
    let first = isRMC ? 3 : 2
    guard let latitude = Self.degrees(fields[first], fields[first + 1], digits: 2, most: 90),
      let longitude = Self.degrees(fields[first + 2], fields[first + 3], digits: 3, most: 180)
    else { throw bad("it has no latitude and longitude") }
    var values = [latitude, longitude, Double.nan, .nan, .nan]
    if isRMC {
      values[3] = try number(fields[7], "speed") * Self.knot
      values[4] = try number(fields[8], "course")
      if let undated, undated.time == clock { values[2] = undated.altitude }
      undated = nil
    } else {
      values[2] = try number(fields[9], "altitude")
    }
    // A GGA sentence has no date: before the first RMC it waits for one of the same instant.
    guard let day else {
      undated = (clock, values[2])
      return nil
    }
    let time = isRMC ? day + clock : Self.dated(clock, day: day, after: last)
    last = time
    return SensorRow(line: lines.number, time: time, values: values)
  }

  /// A GGA sentence just after midnight comes before the RMC with the new date.
  private static func dated(_ clock: Int64, day: Int64, after last: Int64?) -> Int64 {
    guard let last, day + clock < last - dayLength / 2 else { return day + clock }
    return day + clock + dayLength
  }

  private static let dayLength: Int64 = 86_400_000_000_000

  private func number(_ text: String, _ what: String) throws -> Double {
    guard let value = SensorNumber.parseField(text) else {
      throw bad("'\(text.prefix(40))' is not a number; it is the \(what)")
    }
    return value
  }

  private func bad(_ problem: String) -> SensorError {
    .badPoint(file: file, line: lines.number, problem: problem)
  }

  /// `ddmmyy`; the years from 80 on are of the century before.
  private static func date(_ text: String) -> Int64? {
    guard text.utf8.count == 6, let number = Int64(text), number >= 0 else { return nil }
    let (day, month, year) = (number / 10_000, number / 100 % 100, number % 100)
    return SensorTime.checkedDays(year + (year >= 80 ? 1_900 : 2_000), month, day)
      .map { $0 * dayLength }
  }

  /// `hhmmss.sss`.
  private static func timeOfDay(_ text: String) -> Int64? {
    guard text.utf8.count >= 6, let clock = Int64(text.prefix(6)), clock >= 0,
      let fraction = SensorTime.decimal("0" + text.dropFirst(6), digits: 9)
    else { return nil }
    let (hour, minute, second) = (clock / 10_000, clock / 100 % 100, clock % 100)
    guard hour < 24, minute < 60, second <= 60 else { return nil }
    return (hour * 3_600 + minute * 60 + second) * 1_000_000_000 + fraction
  }

  /// `4807.038,N`: degrees, then minutes with a fraction.
  private static func degrees(
    _ text: String, _ side: String, digits: Int, most: Double
  ) -> Double? {
    guard text.utf8.count > digits, let whole = SensorNumber.parse(String(text.prefix(digits))),
      let minutes = SensorNumber.parse(String(text.dropFirst(digits))), minutes >= 0, minutes < 60
    else { return nil }
    let value = whole + minutes / 60
    guard value >= 0, value <= most, ["N", "S", "E", "W"].contains(side) else { return nil }
    return side == "S" || side == "W" ? -value : value
  }
}
