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
        + "every-frame, \(Self.workers) workers",
      hash: contest.hash)
    report.figures = [
      Figure(
        name: "hop.retake", value: 1e6 * seconds / Double(frames * (Self.manyStages - 1)),
        unit: "µs"),
      Figure(
        name: "hop.retake.frame", value: 1e6 * contest.bestSeconds[1] / Double(frames),
        unit: "µs for a frame through one stage"),
    ]
    try addLanes(frames, to: &report)
    let rival = try GStreamerRival(scale: scale).run()
    report.figures += rival.figures
    report.notes += rival.notes
    return report
  }

  private static let pinnedStages = 5

  /// The same few stages on any worker, and each on a separate thread.
  private func addLanes(_ frames: Int, to report: inout SectionReport) throws {
    let runs = try [false, true].map {
      try Self.prepared(stages: Self.pinnedStages, frames: frames, isPinned: $0)
    }
    for workers in [1, 2] {
      let contest = try Contest(
        rounds: scale.rounds, runs.map { run in { try Self.play(run, workers: workers) } })
      if contest.isUnsteady || contest.hashes[0] != contest.hashes[1] {
        report.hash = "the rivals differ"
      }
      for (name, seconds) in zip(["any", "pinned"], contest.bestSeconds) {
        report.figures.append(
          Figure(
            name: "hop.\(name).\(workers)", value: 1e6 * seconds / Double(frames),
            unit: "µs for a frame through \(Self.pinnedStages) empty stages, \(workers) workers"))
      }
    }
  }

  private static func prepared(
    stages: Int, frames: Int, isPinned: Bool = false
  ) throws -> PreparedRun {
    var chain = Pipeline.named("hop").frames(RepeatedFrame(count: frames))
    for _ in 0..<stages {
      chain = chain.stage(Pass())
      if isPinned { chain = chain.pinned() }
    }
    return try PreparedRun(chain.sink(.resultSink), catalog: StageRegistry())
  }

  private static func play(_ run: PreparedRun, workers: Int = workers) throws -> String {
    let outcome = try run.run(
      RunOptions(mode: .everyFrame, workers: workers), observer: SilentObserver())
    return "\(outcome.decisionDigest) \(outcome.headline.delivered)"
  }
}

final class SilentObserver: RunObserver {
  func finished(_ frame: FinishedFrame) {}
}
