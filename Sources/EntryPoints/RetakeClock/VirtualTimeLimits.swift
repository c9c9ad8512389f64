/// Bounds of a scope of virtual time, so that it ends in an error instead of a hang.
public struct VirtualTimeLimits: Hashable, Sendable {
  /// How many jobs may run at one instant. More than that is a loop in which no time passes.
  public var jobsPerInstantMax: Int
  /// How far virtual time may go, for a body that waits while something ticks for ever.
  public var durationMax: Duration
  /// How long, in real time, an idle scope waits for code outside of virtual time, and for the main
  /// thread to run a job.
  public var patience: Duration

  /// At most 100 000 jobs at one instant, an hour of virtual time, 10 s of patience.
  public init(
    jobsPerInstantMax: Int = 100_000, durationMax: Duration = .seconds(3_600),
    patience: Duration = .seconds(10)
  ) {
    precondition(jobsPerInstantMax > 0, "jobsPerInstantMax is at least 1")
    precondition(durationMax > .zero, "durationMax is above zero")
    precondition(patience >= .zero, "patience is not below zero")
    self.jobsPerInstantMax = jobsPerInstantMax
    self.durationMax = durationMax
    self.patience = patience
  }
}
