import Foundation
import RetakeBuffers

/// The idle decoders that wait for the next frame, and the memory budget of the active decoders.
///
/// A decoder holds its reference pictures: as many as the stream requires, of any size. A frame is
/// therefore decoded when there is memory for the usual need of its decoder. The first frame may
/// always begin, and a thread that decodes never waits for another thread to finish.
final class RunPool: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, guarded by `condition`; a run is taken out of
  // the pool while a thread uses it.
  private let condition = NSCondition()
  private let countMax: Int
  private let budget: PixelBudget
  /// Oldest first.
  private var idle: [any PictureRun] = []
  /// Bytes reserved by the threads that are decoding now.
  private var reserved = 0
  private var users = 0
  /// Peak memory of one decoder, by track.
  private var decoderBytes: [Int: Int] = [:]

  init(countMax: Int, budget: PixelBudget = .ofProcess) {
    self.countMax = countMax
    self.budget = budget
  }

  /// Decodes a frame when there is enough memory.
  ///
  /// - Parameter frameBytes: Size of the track's largest frame.
  func withRoom<Result>(
    track: Int, frameBytes: Int, _ body: () throws -> Result
  ) throws -> Result {
    let bytes = begin(track, frameBytes)
    defer { end(bytes) }
    return try body()
  }

  private func begin(_ track: Int, _ frameBytes: Int) -> Int {
    condition.withLock {
      let bytes = expected(track, frameBytes)
      // Ends: a thread that decodes does not wait for the memory of others.
      while users > 0, reserved + bytes > budget.decodersBytesMax { condition.wait() }
      users += 1
      reserved += bytes
      return bytes
    }
  }

  private func end(_ bytes: Int) {
    condition.withLock {
      users -= 1
      reserved -= bytes
      // All of them: the waiting threads need different amounts, and each looks for itself.
      condition.broadcast()
    }
  }

  private func expected(_ track: Int, _ frameBytes: Int) -> Int {
    max(decoderBytes[track] ?? 0, PixelBudget.decoderBytes(forFrameOf: frameBytes))
  }

  /// Whether two decoders of a track are expected to fit into memory at the same time.
  func hasRoomForTwo(track: Int, frameBytes: Int) -> Bool {
    condition.withLock { budget.allowsTwoDecoders(holding: expected(track, frameBytes)) }
  }

  /// The run that reaches the picture soonest, or nil when a new run is as good.
  func take(track: Int, picture: FrameRun.Picture, sequence: Int) -> (any PictureRun)? {
    var surplus: [any PictureRun] = []
    // Freed outside the lock, because closing a decoder is slow.
    defer { withExtendedLifetime(surplus) {} }
    return condition.withLock {
      var best: (place: Int, distance: Int)?
      for (place, run) in idle.enumerated() where run.track == track {
        guard let distance = run.position.distance(to: picture, sequence: sequence) else {
          continue
        }
        if best.map({ distance <= $0.distance }) ?? true { best = (place, distance) }
      }
      let taken = best.map { idle.remove(at: $0.place) }
      surplus = removeSurplus(beside: reserved, keeping: 0)
      return taken
    }
  }

  func put(_ run: any PictureRun) {
    let bytes = run.position.decoderBytes
    let surplus = condition.withLock {
      idle.append(run)
      decoderBytes[run.track] = max(decoderBytes[run.track] ?? 0, bytes)
      // This run is idle, but its memory is reserved until `end`; the next frame will probably use
      // it.
      return removeSurplus(beside: max(0, reserved - bytes), keeping: 1)
    }
    withExtendedLifetime(surplus) {}
  }

  /// Removes idle runs, oldest first, to free memory for active runs.
  private func removeSurplus(beside working: Int, keeping countMin: Int) -> [any PictureRun] {
    var surplus: [any PictureRun] = []
    var bytes = working + idle.reduce(0) { $0 + $1.position.bytesHeld }
    while idle.count > countMax || (idle.count > countMin && bytes > budget.decodersBytesMax) {
      let run = idle.removeFirst()
      bytes -= run.position.bytesHeld
      surplus.append(run)
    }
    return surplus
  }
}
