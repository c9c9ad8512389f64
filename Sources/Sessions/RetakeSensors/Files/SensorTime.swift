import RetakeCore

/// Times as files write them, in integer nanoseconds. No time is rounded through a floating-point
/// number: microseconds since 1970 have 16 digits, and a fraction may follow.
package enum SensorTime {
  package static func parse(_ text: some StringProtocol, _ unit: SensorTimeUnit) -> Int64? {
    unit == .date ? date(text) : decimal(text, digits: unit.nanosecondsDigits)
  }

  /// `-12.5e3` times 10^digits, to the nearest integer, half away from zero.
  static func decimal(_ text: some StringProtocol, digits: Int) -> Int64? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    var (value, places, count, isBehindPoint) = (Int128(0), 0, 0, false)
    while let byte = rest.first {
      if byte == UInt8(ascii: "."), !isBehindPoint {
        isBehindPoint = true
      } else if (0x30...0x39).contains(byte) {
        count += 1
        // 30 digits fit 128 bits; a number with more is not a time.
        guard count <= 30 else { return nil }
        value = value * 10 + Int128(byte - 0x30)
        if isBehindPoint { places += 1 }
      } else {
        break
      }
      rest = rest.dropFirst()
    }
    guard count > 0 else { return nil }
    var exponent = digits - places
    if let letter = rest.first {
      guard letter == UInt8(ascii: "e") || letter == UInt8(ascii: "E"),
        let power = Int(String(decoding: rest.dropFirst(), as: UTF8.self)), abs(power) <= 60
      else { return nil }
      exponent += power
    }
    guard let scaled = scaled(value, by: exponent) else { return nil }
    return Int64(exactly: isNegative ? -scaled : scaled)
  }

  private static func scaled(_ value: Int128, by exponent: Int) -> Int128? {
    var value = value
    if exponent >= 0 {
      for _ in 0..<exponent {
        let (product, overflow) = value.multipliedReportingOverflow(by: 10)
        guard !overflow else { return nil }
        value = product
      }
      return value
    }
    // More than 38 places after the decimal point of the result make it zero.
    guard exponent >= -37 else { return 0 }
    var divisor: Int128 = 1
    for _ in 0..<(-exponent) { divisor *= 10 }
    return divideToNearest(value, by: divisor)
  }

  /// ISO 8601 with a `T` or a space, a fraction of any length, and `Z`, `+01:00` or no zone, which
  /// means UTC. Nanoseconds since 1970.
  static func date(_ text: some StringProtocol) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19 else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      guard bytes[range].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
    let marks = [4: "-", 7: "-", 13: ":", 16: ":"]
    guard marks.allSatisfy({ bytes[$0.key] == $0.value.utf8.first }),
      bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      let days = checkedDays(year, month, day), hour < 24, minute < 60, second <= 60
    else { return nil }
    var rest = String(decoding: bytes[19...], as: UTF8.self)[...]
    var fraction: Int64 = 0
    if rest.first == "." {
      let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
      guard let value = decimal("0." + digits, digits: 9), !digits.isEmpty else { return nil }
      fraction = value
      rest = rest.dropFirst(1 + digits.count)
    }
    guard let shift = zone(rest) else { return nil }
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - shift
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return nil }
    let (sum, isTooLate) = whole.addingReportingOverflow(fraction)
    return isTooLate ? nil : sum
  }

  /// Seconds east of Greenwich.
  private static func zone(_ text: Substring) -> Int64? {
    if text.isEmpty || text == "Z" || text == "z" { return 0 }
    let sign: Int64 = text.first == "-" ? -1 : 1
    guard text.first == "-" || text.first == "+" else { return nil }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard digits.count == 4, let value = Int64(digits), value >= 0 else { return nil }
    return sign * (value / 100 * 3_600 + value % 100 * 60)
  }

  /// The number that `days` returns; `nil` for a date that does not exist.
  static func checkedDays(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
    guard (1...12).contains(month), day >= 1 else { return nil }
    let next = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1)
    let date = days(year, month, day)
    return date < next ? date : nil
  }

  /// Days since 1970-01-01 in the Gregorian calendar, counted in eras of 400 years that begin in
  /// March, so that a leap day is the last of its year.
  static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
