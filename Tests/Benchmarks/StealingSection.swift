import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Synchronization

/// Two stages of unequal weight, as in a published pipeline (18 ms and 6 ms, here a tenth of that):
/// workers that run any available work, compared with one thread per stage.
struct StealingSection {
  let scale: Scale

  private var detectRounds: Int { scale.count(18, tiny: 1) * Spin.roundsPerMillisecond / 10 }
  private var classifyRounds: Int { scale.count(6, tiny: 1) * Spin.roundsPerMillisecond / 10 }
  /// How long an accelerator needs for a frame, in microseconds.
  private var deviceMicroseconds: Int { scale.count(1_800, tiny: 10) }

  func run() throws -> SectionReport {
    let frames = scale.count(400, tiny: 6)
    let contest = try Contest(
      rounds: scale.rounds,
      [{ try self.retake(frames) }, { self.threadPerStage(frames, detect: self.detect) }])
    let accelerated = try Contest(
      rounds: scale.rounds,
      [
        { try self.retakeOnDevice(frames) },
        { self.threadPerStage(frames, detect: self.detectOnDevice) },
      ])
    var report = SectionReport(
      name: "stealing",
      title: "Work stealing, 2 workers, against a thread for each of 2 stages: \(frames) frames",
      hash: Digest128(of: "\(contest.hash) \(accelerated.hash)").description)
    let rates = contest.bestSeconds.map { Double(frames) / $0 }
    let deviceRates = accelerated.bestSeconds.map { Double(frames) / $0 }
    report.figures = [
      Figure(name: "stealing.retake", value: rates[0], unit: "frames/s"),
      Figure(name: "stealing.threadPerStage", value: rates[1], unit: "frames/s"),
      Figure(name: "stealing.ratio", value: rates[0] / rates[1], unit: "times"),
      Figure(name: "stealing.device.retake", value: deviceRates[0], unit: "frames/s"),
      Figure(name: "stealing.device.threadPerStage", value: deviceRates[1], unit: "frames/s"),
      Figure(
        name: "stealing.device.ratio", value: deviceRates[0] / deviceRates[1],
        unit: "times, if an accelerator detects"),
    ]
    for contest in [contest, accelerated] {
      if contest.isUnsteady { report.hash = contest.hash }
      if contest.hashes[0] != contest.hashes[1] { report.hash = "the rivals differ" }
    }
    return report
  }

  private func detect(_ sequence: Int) -> UInt64 {
    Spin.run(rounds: detectRounds, seed: UInt64(sequence))
  }

  private func detectOnDevice(_ sequence: Int) -> UInt64 {
    Accelerator.run(microseconds: deviceMicroseconds, seed: UInt64(sequence))
  }

  private func retake(_ frames: Int) throws -> String {
    let pipeline = Pipeline.named("stealing").frames(RepeatedFrame(count: frames))
      .stage(Detect(detect)).stage(Classify(rounds: classifyRounds))
      .sink(.resultSink)
    return "\(try pipeline.run(RunOptions(mode: .everyFrame, workers: 2)).values)"
  }

  /// The accelerator's stage is pinned, so that no worker waits for it.
  private func retakeOnDevice(_ frames: Int) throws -> String {
    let pipeline = Pipeline.named("device").frames(RepeatedFrame(count: frames))
      .stage(Detect(detectOnDevice)).pinned()
      .stage(Classify(rounds: classifyRounds)).sink(.resultSink)
    return "\(try pipeline.run(RunOptions(mode: .everyFrame, workers: 2)).values)"
  }

  private func threadPerStage(
    _ frames: Int, detect: @escaping @Sendable (Int) -> UInt64
  ) -> String {
    let queue = BoundedQueue(capacity: 3)
    let result = Locked(UnorderedHash())
    let isDone = DispatchSemaphore(value: 0)
    let classify = classifyRounds
    Thread {
      for sequence in 0..<frames { queue.put(detect(sequence)) }
      queue.put(nil)
    }.start()
    Thread {
      while let value = queue.take() {
        let spun = Spin.run(rounds: classify, seed: value)
        result.withLock { $0.add(spun) }
      }
      isDone.signal()
    }.start()
    isDone.wait()
    return "\(result.withLock { $0.sum })"
  }
}

/// Something that computes without a processor of this machine, one frame at a time.
enum Accelerator {
  static func run(microseconds: Int, seed: UInt64) -> UInt64 {
    let never = DispatchSemaphore(value: 0)
    _ = never.wait(timeout: .now() + .microseconds(microseconds))
    return Spin.run(rounds: 1, seed: seed)
  }
}

/// A queue between two stages with one thread each: a few places, and blocking at both ends.
private final class BoundedQueue: Sendable {
  private let values = Mutex<[UInt64?]>([])
  private let free: DispatchSemaphore
  private let filled = DispatchSemaphore(value: 0)

  init(capacity: Int) {
    // Signalled one by one, because a semaphore must not end with a lower value than its initial
    // one.
    free = DispatchSemaphore(value: 0)
    for _ in 0..<capacity { free.signal() }
  }

  func put(_ value: UInt64?) {
    free.wait()
    values.withLock { $0.append(value) }
    filled.signal()
  }

  /// `nil` at the end.
  func take() -> UInt64? {
    filled.wait()
    let value = values.withLock { $0.removeFirst() }
    free.signal()
    return value
  }
}
