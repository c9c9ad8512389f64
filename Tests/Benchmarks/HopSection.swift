import RetakeGraph
import RetakeRuntime

/// The cost of a stage besides its body: a line of empty stages, compared with a single one.
struct HopSection {
  let scale: Scale

  private static let workers = 2
  private static let manyStages = 11

  func run() throws -> SectionReport {
    let frames = scale.count(30_000, tiny: 50)
    let many = try Self.prepared(stages: Self.manyStages, frames: frames)
    let one = try Self.prepared(stages: 1, frames: frames)
    let contest = try Contest(
      rounds: scale.rounds,
      [{ try Self.play(many) }, { try Self.play(one) }])
    let seconds = contest.bestSeconds[0] - contest.bestSeconds[1]
    var report = SectionReport(
      name: "hop",
      title: "A hop: \(frames) frames through \(Self.manyStages) empty stages against 1, "
        + "lossless, \(Self.workers) workers",
      hash: contest.hash)
    report.figures = [
      Figure(
        name: "hop.retake", value: 1e6 * seconds / Double(frames * (Self.manyStages - 1)),
        unit: "µs"),
      Figure(
        name: "hop.retake.frame", value: 1e6 * contest.bestSeconds[1] / Double(frames),
        unit: "µs for a frame through one stage"),
    ]
    let rival = try GStreamerRival(scale: scale).run()
    report.figures += rival.figures
    report.notes += rival.notes
    return report
  }

  private static func prepared(stages: Int, frames: Int) throws -> PreparedRun {
    var chain = Pipeline.named("hop").frames(RepeatedFrame(count: frames))
    for _ in 0..<stages { chain = chain.stage(Pass()) }
    return try PreparedRun(chain.sink(.resultSink), catalog: StageRegistry())
  }

  private static func play(_ run: PreparedRun) throws -> String {
    let outcome = try run.run(
      RunOptions(mode: .lossless, workers: workers), observer: SilentObserver())
    return "\(outcome.decisionDigest) \(outcome.headline.delivered)"
  }
}

final class SilentObserver: RunObserver {
  func finished(_ frame: FinishedFrame) {}
}
