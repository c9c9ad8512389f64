package import RetakeCore

/// The largest error of one measure, and the allowed error.
package struct Headroom: Hashable, Sendable, Codable {
  /// For example `boxes.position`.
  package var measure: String
  package var largest: Double
  package var allowed: Double
  package var unit: String?
  /// The frame with the largest error.
  package var frame: FrameID?

  /// The part of the allowance that was used; `nil` if no error is allowed.
  package var used: Double? { allowed > 0 && largest.isFinite ? largest / allowed : nil }
}
