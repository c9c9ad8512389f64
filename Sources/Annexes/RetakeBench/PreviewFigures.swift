import RetakeCore
import RetakeRuntime

/// The results of one trial of a preview. They are integers, so that they are the same on every
/// machine. Times are in nanoseconds.
package struct PreviewFigures: Hashable, Sendable, Encodable {
  package var trial: String
  package var frames = PreviewTrial.frames
  /// Frames that were shown on the screen.
  package var shown: Int
  /// Frames that the camera lost because no buffer was free.
  package var lost: Int
  /// Frames that arrived while two frames were waiting.
  package var dropped: Int
  /// Frames that the pace left out.
  package var throttled: Int
  /// Refreshes without a new frame.
  package var repeats: Int
  /// The largest difference between the interval of two frames on the screen and the interval of
  /// their arrivals.
  package var jitterMax: Int64
  /// From arrival to screen.
  package var latencyMedian: Int64
  package var latencyMax: Int64
  /// How much older the frame that the overlay describes was than the frame on the screen; `nil` if
  /// no shown frame had a result of the detector.
  package var ageMedian: Int64?
  package var ageMax: Int64?
  /// The most of the camera's buffers that were in use at once, and their memory.
  package var cameraBuffers: Int
  package var cameraBytes: Int
  /// The same for the buffers that the preview draws on; 0 if it draws no overlay on an image.
  package var screenBuffers: Int
  package var screenBytes: Int
  /// Sequences of the frames that were dropped.
  package var droppedFrames: [Int]

  /// A buffer of 1920x1080 pixels with a byte of luma each, and one of Cb and of Cr for four: 3.1
  /// MB.
  package static let bufferBytes = 1_920 * 1_080 * 3 / 2

  init(trial: String, outcome: RunOutcome, meter: PreviewMeter) {
    self.trial = trial
    shown = outcome.screens.first?.shown ?? 0
    lost = outcome.lostBeforeCapture
    dropped = outcome.headline.droppedTotal
    throttled = outcome.headline.throttled
    repeats = outcome.screens.first?.repeats ?? 0
    jitterMax = meter.jitters.max() ?? 0
    let latencies = meter.latencies.sorted()
    latencyMedian = latencies.isEmpty ? 0 : latencies[latencies.count / 2]
    latencyMax = latencies.last ?? 0
    let ages = meter.ages.sorted()
    ageMedian = ages.isEmpty ? nil : ages[ages.count / 2]
    ageMax = ages.last
    cameraBuffers = meter.held[PreviewTrial.camera] ?? 0
    cameraBytes = cameraBuffers * Self.bufferBytes
    // Besides the camera's pool, a preview has at most one pool.
    screenBuffers = meter.held.first { $0.key != PreviewTrial.camera }?.value ?? 0
    screenBytes = screenBuffers * Self.bufferBytes
    droppedFrames = meter.dropped
  }
}

/// Records which frame the screen shows, and when.
final class PreviewMeter: RunObserver {
  private(set) var latencies: [Int64] = []
  private(set) var jitters: [Int64] = []
  /// The age of the overlay's frame when it was shown.
  private(set) var ages: [Int64] = []
  private(set) var dropped: [Int] = []
  /// By pool, the most buffers that were in use at once.
  private(set) var held: [String: Int] = [:]
  private var last: (seen: Int64, arrival: Int64)?
  /// By sequence, the arrival time of the frame that the overlay describes.
  private var found: [Int: Int64] = [:]

  var wantsDecisions: Bool { true }

  func decided(_ line: DecisionLine) {
    guard let frame = line.frame else { return }
    switch line.kind {
    case .drop: dropped.append(frame.sequence)
    case .latest:
      // A port with `-` has no value yet (latest-read).
      let from = line.details.first { $0.value != "-" }?.value.split(separator: ":").last
      found[frame.sequence] = from.flatMap { Int($0) }.map {
        BenchFrames.time(ofFrame: $0, fps: PreviewTrial.fps)
      }
    case .vsync: see(frame.sequence, at: line.time)
    default: break
    }
  }

  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    held[pool] = max(held[pool] ?? 0, buffers)
  }

  private func see(_ sequence: Int, at time: Int64) {
    let arrival = BenchFrames.time(ofFrame: sequence, fps: PreviewTrial.fps)
    latencies.append(time - arrival)
    if let last { jitters.append(abs((time - last.seen) - (arrival - last.arrival))) }
    last = (time, arrival)
    if let about = found.removeValue(forKey: sequence) { ages.append(time - about) }
  }

  func finished(_ frame: FinishedFrame) {}
}
