package import RetakeCore

/// The times of a run's frames in nanoseconds from the start of the run.
package struct RunTimes: Sendable {
  private let origin: Int64
  private let timeBases: [Int: TimeBase]

  /// - Parameter origin: The virtual time's zero, in nanoseconds of presentation time.
  package init(_ header: ResultHeader, origin: Int64) {
    self.origin = origin
    timeBases = Dictionary(
      header.tracks.map { ($0.index, $0.timeBase) }, uniquingKeysWith: { first, _ in first })
  }

  /// Nil for a frame without a time.
  func time(of frame: ResultFrame) -> Int64? {
    guard let pts = frame.pts, let base = timeBases[frame.id.track],
      let time = Timestamp(pts: pts, timeBase: base)
    else { return nil }
    return time.nanoseconds - origin
  }
}
