/// The duration of a stage's body in virtual time.
public enum Cost: Hashable, Sendable {
  case fixed(Duration)
  /// Evenly distributed between the two, both inclusive.
  case uniform(Duration, Duration)
  /// Log-normal through the two quantiles.
  case quantiles(p50: Duration, p99: Duration)
}
