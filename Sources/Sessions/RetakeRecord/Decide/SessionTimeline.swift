import RetakeCore

/// The session's time line. It begins at the time of the first frame, when that frame arrives.
struct SessionTimeline: Hashable, Sendable {
  let pace: RecordingPace
  private var origin: Origin?
  private var latestNanoseconds: Int64 = 0

  private struct Origin: Hashable, Sendable {
    var clock: Int64
    var session: Int64
  }

  init(pace: RecordingPace) {
    self.pace = pace
  }

  /// When a frame is due, on the machine's clock.
  func dueNanoseconds(_ timestamp: Timestamp, now: Int64) -> Int64 {
    guard pace == .realtime, let origin else { return now }
    return Int64(
      clamping: Int128(origin.clock) + Int128(timestamp.nanoseconds) - Int128(origin.session))
  }

  /// When a frame arrived, on the session's time line.
  mutating func arrival(of timestamp: Timestamp, now: Int64) -> Int64 {
    if origin == nil { origin = Origin(clock: now, session: timestamp.nanoseconds) }
    latestNanoseconds = max(latestNanoseconds, timestamp.nanoseconds)
    return time(now: now, unpaced: timestamp.nanoseconds)
  }

  /// Converts an instant of the clock to the session's time line. Without pacing it is the latest
  /// frame time, so that the session does not depend on the speed of the machine.
  func time(now: Int64) -> Int64 { time(now: now, unpaced: latestNanoseconds) }

  private func time(now: Int64, unpaced: Int64) -> Int64 {
    guard pace == .realtime, let origin else { return unpaced }
    return Int64(clamping: Int128(origin.session) + Int128(now) - Int128(origin.clock))
  }
}
