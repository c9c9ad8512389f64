import Foundation
import RetakeBuffers
import RetakeGraph
import RetakeRuntime

/// How much of two processors is used by stage bodies: a pure detector of 1.8 ms with two workers,
/// compared with two plain loops without frames.
struct DetectorSection {
  let scale: Scale

  private var rounds: Int { scale.count(18, tiny: 1) * Spin.roundsPerMillisecond / 10 }

  func run() throws -> SectionReport {
    let frames = scale.count(500, tiny: 6)
    let contest = try Contest(
      rounds: scale.rounds,
      [
        { try self.retake(frames, .everyFrame) }, { try self.retake(frames, .simulate) },
        { self.loops(frames) },
      ])
    let rates = contest.bestSeconds.map { Double(frames) / $0 }
    var report = SectionReport(
      name: "detector",
      title: "A pure detector of 1.8 ms, 2 workers, against 2 plain loops: \(frames) frames",
      hash: contest.hash)
    report.figures = [
      Figure(name: "detector.everyFrame", value: rates[0], unit: "frames/s"),
      Figure(name: "detector.simulate", value: rates[1], unit: "frames/s"),
      Figure(name: "detector.loops", value: rates[2], unit: "frames/s"),
      Figure(name: "detector.everyFrame.ratio", value: rates[0] / rates[2], unit: "times"),
      Figure(name: "detector.simulate.ratio", value: rates[1] / rates[2], unit: "times"),
    ]
    if Set(contest.hashes).count > 1 { report.hash = "the rivals differ" }
    return report
  }

  /// At 30 frames per second, a cost of 20 ms drops no frame.
  private func retake(_ frames: Int, _ mode: RunOptions.Mode) throws -> String {
    let pipeline = Pipeline.named("detector").frames(RepeatedFrame(count: frames))
      .stage(Detect(rounds: rounds)).cost(.fixed(.milliseconds(20))).sink(.resultSink)
    return "\(try pipeline.run(RunOptions(mode: mode, workers: 2)).values)"
  }

  private func loops(_ frames: Int) -> String {
    let result = Locked(UnorderedHash())
    let isDone = DispatchSemaphore(value: 0)
    let rounds = rounds
    for part in 0..<2 {
      Thread {
        for sequence in stride(from: part, to: frames, by: 2) {
          let spun = Spin.run(rounds: rounds, seed: UInt64(sequence))
          result.withLock { $0.add(spun) }
        }
        isDone.signal()
      }.start()
    }
    for _ in 0..<2 { isDone.wait() }
    return "\(result.withLock { $0.sum })"
  }
}
