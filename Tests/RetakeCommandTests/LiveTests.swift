import Foundation
import RetakeTestSupport
import Testing

/// A pipeline that runs during a recording, and its reproduction, as users use them.
@Suite struct LiveTests {
  private func recorded(
    _ pipeline: String, preset: String = "ffv1", binary: String = Workplace.binary
  ) throws -> Workplace {
    let workplace = try Workplace()
    let result = try runCommand(
      binary,
      arguments: [
        "record", "synthetic:figures", "--name", "yard", "--frames", "45", "--size", "160x120",
        "--preset", preset, "--probe", "skip", "--pipeline", pipeline, "--workers", "2",
      ], folder: workplace.folder.url)
    try #require(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.contains("  pipeline  45 produced, "))
    #expect(result.stdout.contains(" results\n"))
    try result.stdout.write(
      to: workplace.folder.file("record.txt"), atomically: true, encoding: .utf8)
    return workplace
  }

  @Test func `a live run that was recorded is reproduced, decision by decision and value by value`()
    throws
  {
    let workplace = try recorded("example:motion-boxes")
    let result = try workplace.retake("replay", "yard", "--mode", "reproduce", "--json")
    try #require(result.status == 0, "\(result.stdout) \(result.stderr)")
    let report = try result.json()
    #expect(report.reproducedDecisions.int == report.recordedDecisions.int)
    // How many frames are accepted, and their fates, depend on how busy the machine is.
    #expect((report.reproducedDecisions.int ?? 0) > 0)
    #expect(report.values.different.int == 0)
    #expect((report.values.compared.int ?? 0) > 0)
    let summary = try String(contentsOf: workplace.folder.file("record.txt"), encoding: .utf8)
    let accepted = try #require(summary.firstMatch(of: /45 produced, (\d+) accepted/)).1
    #expect(report.frames.captured.int == Int(accepted))
    let text = try workplace.retake("replay", "yard", "--mode", "reproduce")
    #expect(text.stdout.contains("reproduced"))
    #expect(text.stdout.contains("motion-boxes"))
  }

  @Test func `deciding again from the live stage times says how faithful the model is`() throws {
    let workplace = try recorded("example:motion-boxes")
    let words = ["replay", "yard", "--pipeline", "example:motion-boxes", "--costs", "timings"]
    let summary = try workplace.retake(words: words + ["--json"]).json()
    #expect(summary.live.run.int == 0)
    let total = (summary.live.same.int ?? 0) + (summary.live.onlyLive.int ?? 0)
    #expect(total > 0)
    #expect(
      (summary.live.same.int ?? 0) + (summary.live.onlyReplayed.int ?? 0) == summary.decisions.int)
    #expect(try workplace.retake(words: words).stdout.contains("  live      "))
  }

  @Test func `another pipeline than the live one decides otherwise, and the first line is named`()
    throws
  {
    let workplace = try recorded("example:motion-boxes")
    let result = try workplace.retake(
      "replay", "yard", "--mode", "reproduce", "--pipeline", "example:motion-classes")
    #expect(result.status == 1)
    #expect(result.stdout.contains("DECISION DIVERGENCE at decision "))
    #expect(result.stdout.contains("    live       @"))
    #expect(result.stdout.contains("This is not the recorded pipeline: leave out --pipeline"))
    #expect(!result.stdout.contains("used information that is not in the recording"))
    let same = try workplace.retake(
      "replay", "yard", "--mode", "reproduce", "--pipeline", "example:motion-boxes")
    #expect(same.status == 0, "\(same.stdout)")
    #expect(!same.stdout.contains("not the recorded pipeline"), "\(same.stdout)")
  }

  @Test func `values that a preset without exact pixels changes are as expected`() throws {
    let workplace = try recorded("example:motion-boxes", preset: "mjpeg")
    let result = try workplace.retake("replay", "yard", "--mode", "reproduce")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(!result.stdout.contains("VALUE DIVERGENCE"), "\(result.stdout)")
    let values = try #require(
      result.stdout.firstMatch(of: /values +(\d+) of (\d+) the same/), "\(result.stdout)")
    #expect((values.1 == values.2) != result.stdout.contains(" differ, as expected: the preset"))
  }

  @Test func `a stage that reads a clock is a value divergence, and its decisions stand`() throws {
    let workplace = try recorded("example:liveClock", binary: Workplace.impureBinary)
    let result = try runCommand(
      Workplace.impureBinary, arguments: ["replay", "yard", "--mode", "reproduce"],
      folder: workplace.folder.url)
    #expect(result.status == 1, "\(result.stderr)")
    #expect(result.stdout.contains("VALUE DIVERGENCE first at 'results', frame 0:0"))
    #expect(!result.stdout.contains("DECISION DIVERGENCE"))
  }

  @Test func `several tracks are recorded and decided live, and every decision is made again`()
    throws
  {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=30", "-f", "lavfi", "-i",
      "testsrc2=size=96x64:rate=15", "-map", "0", "-map", "1", "-t", "1", "-c:v", "mpeg4",
      "-pix_fmt", "yuv420p", "rig.mkv")
    let example = try workplace.retake("pipeline", "example", "motion-boxes").stdout
    try workplace.folder.write(
      example.replacing(#""track": 0"#, with: #""track": 1"#), to: "second.json")
    // Without a pace the reader waits for the encoder, so a busy machine loses no frame.
    let result = try workplace.retake(
      "record", "rig.mkv", "--track", "all", "--preset", "ffv1", "--probe", "skip", "--speed",
      "max", "--pipeline", "second.json", "--json")
    try #require(result.status == 0, "\(result.stderr)")
    let last = try #require(result.stdout.split(separator: "\n").last)
    let json = try JSON(Data(last.utf8))
    #expect(json.frames.recorded.int == 45 && json.pipeline.produced.int == 15)
    #expect(
      (json.pipeline.accepted.int ?? 0) + (json.pipeline.dropped.int ?? 0) == 15)
    let report = try workplace.retake("replay", "rig", "--mode", "reproduce", "--json").json()
    #expect(report.reproducedDecisions.int == report.recordedDecisions.int)
    #expect(report.values.different.int == 0)
    #expect(report.frames.captured.int == json.pipeline.accepted.int)
    let wrong = try workplace.retake(
      "record", "synthetic:figures", "--track", "all", "--frames", "3")
    #expect(wrong.status == 64 && wrong.stderr.contains("suite.record.tracks"))
    #expect(try workplace.retake("record", "rig.mkv", "--track", "one").status == 64)
  }

  @Test func `waits for a buffer are counted by the recording and by the reproduction alike`()
    throws
  {
    let workplace = try Workplace()
    // No frame waits only if each of 39 is drawn later than a thousand times its pixels are scaled.
    try workplace.folder.write(
      """
      {"v": 1, "name": "waiting",
       "nodes": [
        {"id": "camera", "kind": "session", "options": {"track": 0}, "pool": "frames"},
        {"id": "large", "kind": "resize", "options": {"width": 2048, "height": 2048}},
        {"id": "digest", "kind": "digest"},
        {"id": "results", "kind": "results", "primary": true}],
       "edges": [
        {"from": "camera", "to": "large"}, {"from": "large", "to": "digest"},
        {"from": "digest", "to": "results"}],
       "pools": [{"id": "frames", "capacity": 1, "wait": "3600s", "driverFrames": 64}]}
      """, to: "waiting.json")
    let recorded = try workplace.retake(
      "record", "synthetic:figures", "--name", "yard", "--frames", "40", "--size", "64x48",
      "--preset", "ffv1", "--probe", "skip", "--speed", "max", "--pipeline", "waiting.json",
      "--json")
    try #require(recorded.status == 0, "\(recorded.stderr)")
    let last = try #require(recorded.stdout.split(separator: "\n").last)
    let waits = try JSON(Data(last.utf8)).pipeline.waits[0]
    let waited = try #require(waits.waited.int, "\(last)")
    #expect(waits.source.text == "camera" && waited > 0)
    let report = try workplace.retake("replay", "yard", "--mode", "reproduce", "--json").json()
    for key in ["waited", "nanoseconds", "nanosecondsMax", "lost"] {
      #expect(report.waits[0][key].int == waits[key].int, "\(key)")
    }
    let text = try workplace.retake("replay", "yard", "--mode", "reproduce").stdout
    let line = try #require(text.firstMatch(of: /\n  waits     camera: (\d+) frames? waited for a/))
    #expect(Int(line.1) == waited)
    let shown = try workplace.retake(
      "record", "synthetic:figures", "--name", "text", "--frames", "40", "--size", "64x48",
      "--probe", "skip", "--speed", "max", "--pipeline", "waiting.json")
    #expect(
      shown.stdout.contains(/\n  waits     camera: \d+ frames? waited for a buffer, .* lost\n/),
      "\(shown.stdout)")
  }

  @Test func `a ring and a pipeline do not go together, and nothing is left behind`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake(
      "record", "synthetic:figures", "--frames", "30", "--pre-trigger", "2s", "--pipeline",
      "example:motion-boxes")
    #expect(result.status == 64)
    #expect(result.stderr.contains("record.ring.pipeline"))
    #expect(!FileManager.default.fileExists(atPath: workplace.folder.file("Recordings").path))
  }

  @Test func `a session without a live run says how to record one`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 5)
    let result = try workplace.retake("replay", "yard", "--mode", "reproduce")
    #expect(result.status == 2)
    #expect(result.stderr.contains("retake record INPUT --pipeline P"))
    let costs = try workplace.retake(
      "replay", "yard", "--mode", "reproduce", "--override", "thermal=serious@1s")
    #expect(costs.status == 64)
  }
}
