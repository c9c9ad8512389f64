import RetakeCore
package import RetakeMedia

/// How far an import moves a file's times back, so that they fit into a session.
///
/// A recorder may count from 1900 (NTP) or from any other origin, and a session's times are within
/// 73 years of 0. Times that fit are never moved.
package struct TimeShift: Hashable, Sendable {
  /// Subtracted from each time of the file.
  let nanoseconds: Int128

  package static let none = TimeShift(nanoseconds: 0)

  /// The bound of a session's times, on both sides of 0.
  static let nanosecondsMax: Int64 = 1 << 61

  private init(nanoseconds: Int128) { self.nanoseconds = nanoseconds }

  /// The shift that puts the earliest first packet of all streams at 0, or no shift if the first
  /// and the last time of each stream fit as they are.
  package init(_ streams: [MediaStream], packets: [Int: PacketList]) {
    var (first, fits) = (Int128?.none, true)
    for stream in streams {
      guard let list = packets[stream.index] else { continue }
      func time(_ place: Int) -> Int128? {
        (list[place].pts ?? list[place].dts).map {
          Timestamp.exactNanoseconds(pts: $0, timeBase: stream.timeBase)
        }
      }
      guard let start = list.indices.lazy.compactMap(time).first,
        let end = list.indices.reversed().lazy.compactMap(time).first
      else { continue }
      first = first.map { min($0, start) } ?? start
      fits = fits && [start, end].allSatisfy { $0.magnitude < Self.nanosecondsMax.magnitude }
    }
    nanoseconds = fits ? 0 : first ?? 0
  }

  /// For `SensorImporting`, whose times have 64 bits: no sensor has a longer distance.
  var clamped: Int64 { Int64(clamping: nanoseconds) }

  var note: String? {
    guard nanoseconds != 0 else { return nil }
    let seconds = nanoseconds.magnitude / 1_000_000_000
    let rest = nanoseconds.magnitude % 1_000_000_000
    // The added second keeps the leading zeros of the fraction.
    let fraction = rest == 0 ? "" : "." + String(rest + 1_000_000_000).dropFirst()
    let sign = nanoseconds < 0 ? "-" : ""
    return "the file's times begin at \(sign)\(seconds)\(fraction) s, which is farther from 0 than "
      + "a session's times can be; all times are shifted so that they begin at 0"
  }
}
