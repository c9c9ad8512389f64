import RetakeCore

/// The session's time line: it begins where the first frame lies, at that frame's arrival.
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

  /// When a frame is due, on the clock.
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

  /// An instant of the clock, on the session's time line. Unpaced it is the last frame's time, so
  /// that the session is the same however fast the machine was.
  func time(now: Int64) -> Int64 { time(now: now, unpaced: latestNanoseconds) }

  private func time(now: Int64, unpaced: Int64) -> Int64 {
    guard pace == .realtime, let origin else { return unpaced }
    return Int64(clamping: Int128(origin.session) + Int128(now) - Int128(origin.clock))
  }
}
