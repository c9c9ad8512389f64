import RetakeSensors

/// Times and numbers in the names of images, without their endings.
enum ImageNames {
  /// Names of 19, 16 or 13 digits are nanoseconds, microseconds or milliseconds since 1970; names
  /// such as 1305031102.175304 are seconds. All may have the same text before the time.
  ///
  /// - Returns: nil unless all names are times of one form, after 2001: a number that zeros fill up
  ///   may have as many digits.
  static func times(_ stems: [String]) -> [Int64]? {
    let times = stems.map { stem in
      String(stem.reversed().prefix { isDigit($0) || $0 == "." }.reversed().drop { $0 == "." })
    }
    let starts = Set(zip(stems, times).map { $0.dropLast($1.count) })
    guard starts.count == 1 else { return nil }
    for (digits, unit) in [(19, SensorTimeUnit.ns), (16, .us), (13, .ms)]
    where times.allSatisfy({ $0.count == digits && $0.allSatisfy(isDigit) }) {
      return nanoseconds(times, unit)
    }
    let parts = times.map { $0.split(separator: ".") }
    guard parts.allSatisfy({ $0.count == 2 && $0[0].count == 10 }) else { return nil }
    return nanoseconds(times, .s)
  }

  private static func isDigit(_ character: Character) -> Bool {
    character.isASCII && character.isNumber
  }

  private static func nanoseconds(_ stems: [String], _ unit: SensorTimeUnit) -> [Int64]? {
    let times = stems.compactMap { SensorTime.parse($0, unit) }
    return times.count == stems.count && times.allSatisfy { $0 >= epochMin } ? times : nil
  }

  /// Earlier times are not counted from 1970.
  private static let epochMin: Int64 = 1_000_000_000_000_000_000

  /// The text before the date and time of day that each name has: `IMG_` of `IMG_20240517_102030`;
  /// nil if a name lacks them.
  static func date(in stems: [String]) -> String? {
    var prefix: String?
    for stem in stems {
      guard
        let match = stem.prefixMatch(
          of:
            #/
            (.*?[^0-9])??
            ((?:19|20)[0-9]{2} [^0-9]? [0-9]{2} [^0-9]? [0-9]{2})
            [^0-9]*
            ([0-9]{6} | [0-9]{2} [^0-9] [0-9]{2} [^0-9] [0-9]{2})
            /#
        ), SensorTime.parse(dashed(match.2, match.3), .date) != nil
      else { return nil }
      let start = String(match.1 ?? "")
      guard prefix == nil || prefix == start else { return nil }
      prefix = start
    }
    return prefix
  }

  private static func dashed(_ day: Substring, _ time: Substring) -> String {
    let (day, time) = (day.filter(\.isNumber), time.filter(\.isNumber))
    return "\(day.prefix(4))-\(day.dropFirst(4).prefix(2))-\(day.suffix(2)) "
      + "\(time.prefix(2)):\(time.dropFirst(2).prefix(2)):\(time.suffix(2))"
  }

  /// The number at the end of a name, and the text before it; `image (12)`, as Windows writes it,
  /// too.
  static func number(_ stem: String) -> (start: String, number: Int)? {
    let stem = stem.hasSuffix(")") ? stem.dropLast() : stem[...]
    let digits = String(stem.reversed().prefix(while: isDigit).reversed())
    guard let number = Int(digits) else { return nil }
    return (String(stem.dropLast(digits.count)), number)
  }
}
