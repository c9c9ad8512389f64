import RetakeCore

/// How long a stage's body takes in virtual time.
public enum Cost: Hashable, Sendable {
  case fixed(Duration)
  /// Evenly distributed between the two, both inclusive.
  case uniform(Duration, Duration)
  /// Log-normal through the two quantiles.
  case quantiles(p50: Duration, p99: Duration)
}

/// What an edge does with a frame when it has no room.
public enum EdgePolicy: String, Hashable, Sendable, CaseIterable, Codable {
  /// The sender keeps the frame until there is room; a source loses it before capture.
  case block
  case dropNewest
  case dropOldest
  /// A newer frame replaces the frame that waits; capacity 1.
  case replace
}
