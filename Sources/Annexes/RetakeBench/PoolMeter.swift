import RetakeCore
import RetakeRuntime

/// Measures over virtual time how many buffers exist and how many are in use.
final class PoolMeter: RunObserver {
  /// A point in time at which one of the two values changed.
  struct Sample: Hashable, Sendable {
    var time: Int64
    var size: Int
    var inUse: Int
  }

  private let end: Int64
  private(set) var samples: [Sample]
  private(set) var sizeArea: Int64 = 0
  private(set) var useArea: Int64 = 0
  /// Frames that waited, or that were lost without a wait.
  private(set) var stalled: Set<FrameID> = []
  /// How long captured frames waited, in nanoseconds.
  private(set) var waits: [Int64] = []
  private(set) var resizes = 0
  private(set) var isBroken = false

  init(end: Int64, size: Int) {
    self.end = end
    samples = [Sample(time: 0, size: size, inUse: 0)]
  }

  var wantsDecisions: Bool { true }

  func decided(_ line: DecisionLine) {
    if line.kind == .resize { resizes += 1 }
    if line.kind == .breaker { isBroken = true }
    if let frame = line.frame, line.kind == .wait || line.kind == .lost { stalled.insert(frame) }
    if line.kind == .waited, let time = line["nanoseconds"].flatMap({ Int64($0) }) {
      waits.append(time)
    }
  }

  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    note(at: nanoseconds) { $0.inUse = buffers }
  }

  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    note(at: nanoseconds) { $0.size = buffers }
  }

  func finished(_ frame: FinishedFrame) {}

  private func note(at time: Int64, _ change: (inout Sample) -> Void) {
    // The last frames leave after the end of the load. All pools are measured over the same time.
    guard time < end else { return }
    var next = samples[samples.count - 1]
    add(next, until: time)
    // Several changes at one instant are one sample, because no time passed between them.
    if next.time == time { samples.removeLast() }
    next.time = time
    change(&next)
    samples.append(next)
  }

  private func add(_ sample: Sample, until time: Int64) {
    sizeArea += Int64(sample.size) * (time - sample.time)
    useArea += Int64(sample.inUse) * (time - sample.time)
  }

  func finished() -> PoolMeter {
    add(samples[samples.count - 1], until: end)
    return self
  }
}
