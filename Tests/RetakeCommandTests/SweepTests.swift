import Foundation
import RetakeTestSupport
import Testing

/// `retake replay --sweep`, as users use it.
@Suite struct SweepTests {
  private static let replay = ["replay", "yard", "--pipeline", "example:motion-boxes"]

  private func yard(frames: Int = 60) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: frames, size: "96x64")
    return workplace
  }

  private func table(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
  }

  @Test func `a sweep prints a line for each combination`() throws {
    let workplace = try yard()
    let before = try workplace.listing()
    let result = try workplace.retake(
      words: Self.replay + ["--sweep", "motion.queue=1|3|9,executors=1..2"])
    #expect(result.status == 0, "\(result.stderr)")
    let rows = table(result.stdout)
    #expect(
      rows[0] == [
        "motion.queue", "executors", "captured", "delivered", "drop", "queue", "lost", "p50", "ms",
        "p95", "ms", "p99", "ms", "stalls", "blocked", "ms", "alive", "MB",
      ])
    #expect(
      rows.dropFirst().map { "\($0[0]) \($0[1])" } == ["1 1", "1 2", "3 1", "3 2", "9 1", "9 2"])
    // As `overload drops exactly the frames that the model says`.
    #expect(Array(rows[3][2...4]) == ["60", "47", "13"])
    #expect(result.stderr.contains("note: executors makes no difference here"))
    #expect(try workplace.listing() == before)
  }

  @Test func `a throttle of the pulse is varied, and the rate stays what it is`() throws {
    let workplace = try Workplace()
    let recording = try workplace.retake(
      words: [
        "record", "synthetic:pulse", "--name", "finger", "--speed", "max", "--frames", "240",
        "--size", "64x48",
      ])
    #expect(recording.status == 0, "\(recording.stderr)")
    try workplace.folder.write(
      """
      {"v": 1, "name": "paced",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "pace", "kind": "throttle", "options": {"fps": 1000}},
        {"id": "fingertip", "kind": "fingertip"},
        {"id": "resample", "kind": "resample"},
        {"id": "signal", "kind": "pulse-signal", "options": {"method": "red"}},
        {"id": "band", "kind": "bandpass"},
        {"id": "pulse", "kind": "pulse-rate"},
        {"id": "rate", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "pace"}, {"from": "pace", "to": "fingertip"},
        {"from": "fingertip", "to": "resample"}, {"from": "resample", "to": "signal"},
        {"from": "signal", "to": "band"}, {"from": "band", "to": "pulse"},
        {"from": "pulse", "to": "rate"}]}
      """, to: "paced.json")
    let words = ["replay", "finger", "--pipeline", "paced.json", "--sweep", "pace.fps=10|1000"]
    let result = try workplace.retake(words: words + ["--numbers", "--json"])
    #expect(result.status == 0, "\(result.stderr)")
    let rows = try result.json().rows
    #expect((0..<2).map { rows[$0].figures.frames.delivered.int } == [80, 240])
    let (slow, whole) = (rows[0].numbers[0], rows[1].numbers[0])
    #expect([slow.name.text, whole.name.text] == ["bpm", "bpm"])
    #expect(abs(try #require(slow.mean.number) - 72) < 1)
    #expect((slow.frames.int ?? 0) > 0 && (slow.frames.int ?? 0) < (whole.frames.int ?? 0))
    #expect(whole.largestError.number == 0)
    let table = try workplace.retake(words: words + ["--numbers"])
    #expect(table.stdout.contains("rate.bpm error"), "\(table.stdout)")
    let alone = try workplace.retake(words: [
      "replay", "finger", "--pipeline", "paced.json", "--numbers",
    ])
    #expect(alone.status == 64 && alone.stderr.contains("--numbers belongs to --sweep"))
    let fixed = try workplace.retake(words: Array(words.dropLast()) + ["rate.fps=3"])
    #expect(
      fixed.status == 2 && fixed.stderr.contains("'rate' is not a throttle"), "\(fixed.stderr)")
  }

  @Test func `a sweep has the figures of a replay, and the same JSON for any number of workers`()
    throws
  {
    let workplace = try yard()
    let words = Self.replay + ["--sweep", "queue=3|4,scale=1|1.5", "--json"]
    var documents: Set<String> = []
    for workers in ["0", "1", "2", "4", "8"] {
      let result = try workplace.retake(words: words + ["--workers", workers])
      #expect(result.status == 0, "\(result.stderr)")
      documents.insert(result.stdout)
    }
    #expect(documents.count == 1)
    let report = try JSON(Data(try #require(documents.first).utf8))
    #expect(report.rows.count == 4)
    let replay = try workplace.retake(words: Self.replay + ["--mode", "simulate", "--json"]).json()
    let row = report.rows[0]
    #expect(row.decisionDigest.text == replay.decisionDigest.text)
    #expect(row.figures.frames.delivered.int == replay.frames.delivered.int)
    // The detector needs 45 ms per frame, and three frames wait: the frame with the longest wait is
    // delivered after 180 ms.
    #expect(try #require(row.figures.latency.maxNanoseconds.int) <= 180_000_000)
    #expect(row.figures.bytesAliveMax.int == 5 * 96 * 64 * 3 / 2)
    #expect(report["case"].text == "motion-boxes")
    #expect(report.rows[1].costs.source.text == "scale:1.5")
  }

  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `a sweep of karma with timings is exact`() throws {
    let source = try #require(sharedMedia("karma.mp4"))
    let workplace = try Workplace()
    #expect(try workplace.retake("import", source.path, "--name", "yard").status == 0)
    #expect(
      try workplace.retake(words: Self.replay + ["--write-timings", "a.timings"]).status == 0)
    let words =
      Self.replay + ["--costs", "timings:a.timings", "--strict-costs", "--sweep"]
      + ["queue=1..6,scale=1|50|200"]
    let first = try workplace.retake(words: words)
    #expect(first.status == 0, "\(first.stderr)")
    #expect(table(first.stdout).count == 19)
    #expect(try workplace.retake(words: words + ["--workers", "0"]).stdout == first.stdout)
  }

  @Test func `a sweep of what the pipeline does not have is an error that names what it has`()
    throws
  {
    let workplace = try yard(frames: 3)
    let before = try workplace.listing()
    for (sweep, says) in [
      ("moton.queue=1", "Did you mean 'motion'?"), ("vison.count=1..2", "Did you mean 'vision'?"),
      ("pools=1..2", "the pipeline has no pools"),
    ] {
      let result = try workplace.retake(words: Self.replay + ["--sweep", sweep])
      #expect(result.status == 2)
      #expect(result.stdout.isEmpty)
      #expect(result.stderr.contains("[replay.sweep.bad]"), "\(result.stderr)")
      #expect(result.stderr.contains(says), "\(result.stderr)")
    }
    #expect(try workplace.listing() == before)
  }

  @Test(arguments: [
    ["--sweep", "queue=0"], ["--sweep", "queu=1"], ["--sweep", "queue=1..400"],
    ["--sweep", "queue=1", "--mode", "every-frame"], ["--sweep", "queue=1", "--output", "run"],
    ["--sweep", "queue=1", "--decisions", "a"], ["--sweep", "queue=1", "--write-timings", "a"],
  ])
  func `a sweep that cannot be is a usage error`(words: [String]) throws {
    let workplace = try Workplace()
    let result = try workplace.retake(words: Self.replay + words)
    #expect(result.status == 64, "\(result.stderr)")
    #expect(result.stdout.isEmpty)
    #expect(try workplace.listing().isEmpty)
  }
}
