import Foundation
import RetakeCore

/// The bag's time that is zero in the session: the time of the first image.
final class BagOrigin {
  private static let most: Int64 = 1 << 61

  private(set) var nanoseconds: Int64?

  /// - Parameter nanoseconds: If nil, the origin is the first time passed to this object.
  init(_ nanoseconds: Int64?) { self.nanoseconds = nanoseconds }

  /// nil for a time beyond the bounds of a session's times.
  func exactTime(of nanoseconds: Int64) -> Int64? {
    let origin = self.nanoseconds ?? nanoseconds
    self.nanoseconds = origin
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(origin)
    return overflow || difference.magnitude > Self.most.magnitude ? nil : difference
  }

  /// Saturates at the bounds of a session's times, 2^61 ns.
  func time(of nanoseconds: Int64) -> Int64 {
    if let time = exactTime(of: nanoseconds) { return time }
    return nanoseconds < (self.nanoseconds ?? 0) ? -Self.most : Self.most
  }
}
