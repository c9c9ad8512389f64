import Foundation
import RetakeStore

/// When a session was recorded, as its recorder read the wall clock.
package enum SessionDate {
  /// The key in the table `meta`: the wall clock at zero of the session's time line.
  package static let fact = "startedUnixNanoseconds"
  /// How uncertain it is.
  package static let uncertaintyFact = "startedUncertaintyNanoseconds"

  /// - Returns: nil for sessions without a date, such as imported files, and for text that is not a
  ///   number.
  static func started(in store: StoreReader) throws -> Int64? {
    try store.meta(fact).flatMap { Int64($0) }
  }

  /// Date and time in UTC, to the second: `2026-05-02T09:30:07Z`.
  package static func text(_ unixNanoseconds: Int64) -> String {
    let seconds = Double(unixNanoseconds.divided(by: 1_000_000_000))
    return Date(timeIntervalSince1970: seconds).ISO8601Format()
  }
}

extension Int64 {
  /// Rounded down, also for times before 1970.
  fileprivate func divided(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
