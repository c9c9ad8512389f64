package import RetakeCore

/// The largest error of a quantity.
struct WorstError {
  private(set) var error = 0.0
  private(set) var frame: FrameID?

  mutating func note(_ error: Double, _ frame: FrameID) {
    guard error > self.error else { return }
    (self.error, self.frame) = (error, frame)
  }
}

/// How close the largest error came to the allowed error.
package struct ErrorHeadroom: Hashable, Sendable, Codable {
  package var sink: String
  /// Such as `position`, `score`, `scalar`, `mask`, `embedding`, `unmatched` or `drift`.
  package var quantity: String
  /// `nil` if an error was not a finite number.
  package var largest: Double?
  package var allowed: Double
  /// The frame with the largest error; `nil` without an error.
  package var frame: FrameID?

  package init(
    sink: String, quantity: String, largest: Double?, allowed: Double, frame: FrameID?
  ) {
    self.sink = sink
    self.quantity = quantity
    self.largest = largest
    self.allowed = allowed
    self.frame = frame
  }

  /// The largest error as a fraction of the allowed error: 0 to 1 is within tolerance; `nil` if no
  /// error is allowed and there was one.
  package var used: Double? {
    guard let largest else { return nil }
    // No error is within every tolerance, also within one of 0.
    if largest == 0 { return 0 }
    return allowed > 0 ? largest / allowed : nil
  }
}
