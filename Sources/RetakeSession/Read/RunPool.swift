import Foundation
import RetakeMedia

/// The decoders that wait for the next frame.
final class RunPool: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, guarded by `lock`; a run is taken out of the
  // pool while a thread uses it.
  private let lock = NSLock()
  private let countMax: Int
  /// Oldest first.
  private var idle: [FrameRun] = []

  init(countMax: Int) {
    self.countMax = countMax
  }

  /// The run that reaches the picture soonest, or nil when a new one is as good.
  func take(track: Int, picture: FrameRun.Picture, sequence: Int) -> FrameRun? {
    lock.withLock {
      var best: (place: Int, distance: Int)?
      for (place, run) in idle.enumerated() where run.track == track {
        guard let distance = run.distance(to: picture, sequence: sequence) else { continue }
        if best.map({ distance <= $0.distance }) ?? true { best = (place, distance) }
      }
      return best.map { idle.remove(at: $0.place) }
    }
  }

  func put(_ run: FrameRun) {
    let surplus = lock.withLock { () -> FrameRun? in
      idle.append(run)
      return idle.count > countMax ? idle.removeFirst() : nil
    }
    // Freed outside of the lock: closing a decoder takes a while.
    withExtendedLifetime(surplus) {}
  }
}
