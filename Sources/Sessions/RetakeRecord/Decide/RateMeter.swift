/// Measures a recording's rates from its last commits.
struct RateMeter: Hashable, Sendable {
  private struct Point: Hashable, Sendable {
    var nanoseconds: Int64
    var frames: Int
    var bytes: Int64
  }

  /// Number of commits to look back at: about five seconds for a camera.
  private static let pointsMax = 16
  private var points: [Point] = []

  /// - Parameters:
  ///   - frames: Count so far, including frames without pixels.
  ///   - bytes: Media bytes so far.
  ///   - roomBytes: Bytes that may still be written; nil when unknown.
  /// - Returns: nil before the second commit.
  mutating func rate(
    nowNanoseconds now: Int64, frames: Int, bytes: Int64, roomBytes: Int64?
  ) -> RecordingRate? {
    points.append(Point(nanoseconds: now, frames: frames, bytes: bytes))
    if points.count > Self.pointsMax { points.removeFirst() }
    guard let first = points.first, now > first.nanoseconds else { return nil }
    let seconds = Double(now - first.nanoseconds) / 1e9
    let bytesPerSecond = Double(bytes - first.bytes) / seconds
    var rate = RecordingRate(
      framesPerSecond: Double(frames - first.frames) / seconds, bytesPerSecond: bytesPerSecond)
    if let roomBytes, bytesPerSecond > 0 {
      // Int traps on a Double beyond its range, and a very slow source leads to such a Double.
      rate.minutesLeft = Int(min(Double(max(0, roomBytes)) / bytesPerSecond / 60, 1e9))
    }
    return rate
  }
}
