import Foundation
import RetakeCore

/// Virtual time as the time of a log.
struct ExportClock {
  /// In nanoseconds since 1970, at time zero of the session.
  let start: Int64

  /// Before 1970 there is no log time.
  func logTime(_ nanoseconds: Int64) -> UInt64 { UInt64(max(0, unix(nanoseconds))) }

  func unix(_ nanoseconds: Int64) -> Int64 {
    let (sum, overflow) = start.addingReportingOverflow(nanoseconds)
    return overflow ? nanoseconds : sum
  }

  /// A time in Foxglove's JSON messages.
  func json(_ nanoseconds: Int64) -> JSONValue {
    let time = Int64(logTime(nanoseconds))
    return .object([
      "sec": .integer(time / 1_000_000_000), "nsec": .integer(time % 1_000_000_000),
    ])
  }
}
