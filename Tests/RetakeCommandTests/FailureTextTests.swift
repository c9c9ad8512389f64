import Foundation
import RetakeTestSupport
import Testing

/// A stage's message about a failure reaches the user who runs it.
@Suite struct FailureTextTests {
  /// A crop outside every frame of 160x120.
  private let outside = """
    {"v": 1, "name": "outside", "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "cut", "kind": "crop", "options": {"x": 300, "y": 0, "width": 20, "height": 20}},
      {"id": "boxes", "kind": "results"}],
     "edges": [{"from": "camera", "to": "cut"}, {"from": "cut", "to": "boxes"}]}
    """

  private let said = "stage cut: the crop 300,0 20x20 is not inside the frame of 160x120"

  private func yard() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try workplace.folder.write(outside, to: "outside.json")
    return workplace
  }

  @Test func `a replay tells of the first failures of a stage, and how many more there were`()
    throws
  {
    let workplace = try yard()
    let result = try workplace.retake(
      "replay", "yard", "-p", "outside.json", "--output", "run")
    // No frame was delivered; the status tells a script that the empty results are not an empty
    // scene.
    #expect(result.status == 2)
    let lines = result.stderr.split(separator: "\n").filter { $0.hasPrefix("warning: ") }
    let shown = (0..<3).map { "warning: frame 0:\($0), \(said) [crop.outside]" }
    #expect(
      lines.map(String.init) == shown + ["warning: stage cut failed 9 more times [crop.outside]"])

    let run = try JSON(Data(contentsOf: workplace.folder.file("run/run.json")))
    let summary = try #require(run.value as? [String: Any])
    let failures = try #require(summary["failures"] as? [[String: Any]])
    #expect(summary["failureCount"] as? Int == 12 && failures.count == 12)
    #expect((failures[4]["message"] as? String).map { said.hasSuffix($0) } == true)
    #expect(
      failures[4]["node"] as? String == "cut" && failures[4]["isRecoverable"] as? Bool == true)
  }

  @Test func `a replay in which every frame fails is an error, also without the warnings`() throws {
    let workplace = try yard()
    let result = try workplace.retake("replay", "yard", "-p", "outside.json", "--quiet", "--json")
    #expect(result.status == 2)
    #expect(
      result.stderr == """
        error: no frame reached a sink: 12 of 12 frames failed [replay.run.nothingDelivered]
          The first failure: frame 0:0, \(said) [crop.outside]

        """)
    #expect(try result.json().frames.failed.int == 12)
  }

  @Test func `a replay in which one sink gets frames passes, with warnings`() throws {
    let workplace = try yard()
    try workplace.folder.write(
      outside.replacing(
        #"{"id": "boxes", "kind": "results"}"#,
        with:
          #"{"id": "all", "kind": "results"}, {"id": "boxes", "kind": "results", "primary": true}"#
      ).replacing(
        #"{"from": "cut", "to": "boxes"}"#,
        with: #"{"from": "cut", "to": "boxes"}, {"from": "camera", "to": "all"}"#), to: "two.json")
    let result = try workplace.retake("replay", "yard", "-p", "two.json")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stderr.contains("warning: stage cut failed 9 more times"), "\(result.stderr)")
  }

  @Test func `result lines carry the message`() throws {
    let workplace = try yard()
    let result = try workplace.retake("replay", "yard", "-p", "outside.json", "--follow")
    let line = try #require(result.stdout.split(separator: "\n").first)
    let sink = try JSON(Data(line.utf8))
    #expect("\(line)".contains("\"fate\":\"fail\",\"message\":\"the crop 300,0"), "\(line)")
    #expect(sink.sequence.value as? Int == 0)
  }

  @Test func `a test names the stage that fails, once for each code`() throws {
    let workplace = try yard()
    let result = try workplace.retake("test", "yard", "-p", "outside.json", "--report", "report")
    #expect(result.status == 3)
    let note = "frame 0:0, \(said) [crop.outside]; it failed 12 times"
    #expect((result.stdout + result.stderr).contains(note), "\(result.stdout)\(result.stderr)")
    let page = try String(
      contentsOf: workplace.folder.file("report/report.html"), encoding: .utf8)
    #expect(page.contains("it failed 12 times"))
  }

  @Test func `a verification says that a stage failed`() throws {
    let workplace = try yard()
    let result = try workplace.retake("verify", "yard", "-p", "outside.json")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(
      result.stdout.contains("warning: a stage failed 12 times in each run"), "\(result.stdout)")
  }

  @Test(arguments: [
    ["verify", "yard"], ["verify", "yard", "--device-noise", "2"], ["cache", "warm", "yard"],
    ["replay", "yard", "--sweep", "scale=1|2"],
  ])
  func `a run that a stage ends is an error, in every command`(words: [String]) throws {
    let result = try yard().retake(
      words: words + ["--pipeline", "example:halts"], binary: Workplace.impureBinary)
    #expect(result.status == 2 && result.stdout.isEmpty, "\(result)")
    #expect(result.stderr.contains("error: the run "), "\(result.stderr)")
    #expect(
      result.stderr.contains(
        "was halted: frame 0:0, stage halts: the model is gone [model.gone]"), "\(result.stderr)")
    #expect(result.stderr.contains("[suite.run.halted]"), "\(result.stderr)")
  }

  @Test func `runs that are equal up to their halt are not equal runs`() throws {
    let workplace = try yard()
    for run in ["one", "other"] {
      let halted = try workplace.retake(
        words: ["replay", "yard", "--pipeline", "example:halts", "--output", run],
        binary: Workplace.impureBinary)
      #expect(halted.status == 2, "\(halted)")
    }
    let compared = try workplace.retake("diff", "one", "other")
    #expect(compared.status == 2, "\(compared)")
    #expect(
      compared.stderr.contains("error: the run one was halted: frame 0:0, stage halts: "),
      "\(compared.stderr)")
    try workplace.folder.write("{", to: "other/run.json")
    try FileManager.default.removeItem(at: workplace.folder.file("one/run.json"))
    let damaged = try workplace.retake("diff", "one", "other")
    #expect(
      damaged.status == 2 && damaged.stderr.contains("[suite.diff.damagedRun]"), "\(damaged)")
  }

  /// Records with a pipeline.
  private func record(
    _ workplace: Workplace, _ more: [String], pipeline: String = "outside.json"
  ) throws -> CommandResult {
    try workplace.retake(
      words: [
        "record", "synthetic:figures", "--name", "live", "--frames", "8", "--size", "160x120",
        "--speed", "max", "--pipeline", pipeline,
      ] + more, binary: Workplace.impureBinary)
  }

  /// The warnings about failures; on a busy machine there may be others about drops.
  private func failures(_ result: CommandResult) -> [String] {
    result.stderr.split(separator: "\n").filter { $0.contains("[crop.outside]") }.map(String.init)
  }

  @Test func `a live run tells of its first failures, and how many more there were`() throws {
    let workplace = try yard()
    let result = try record(workplace, ["--json"])
    #expect(result.status == 0, "\(result.stderr)")
    let last = try JSON(Data(try #require(result.stdout.split(separator: "\n").last).utf8))
    let count = try #require(last.pipeline.failureCount.int)
    let told = failures(result)
    #expect(told.first == "warning: frame 0:0, \(said) [crop.outside]", "\(result.stderr)")
    #expect(told.count == min(count, 4), "\(result.stderr)")
    if count > 3 {
      let more = count == 4 ? "1 more time" : "\(count - 3) more times"
      #expect(told.last == "warning: stage cut failed \(more) [crop.outside]")
    }
    // Standard output has commits alone.
    for line in result.stdout.split(separator: "\n") {
      #expect(try JSON(Data(line.utf8)).v.int == 1, "\(line)")
    }
    let again = try workplace.retake("replay", "live", "--mode", "reproduce")
    #expect(again.status == 0, "\(again.stderr)")
    #expect(again.stdout.contains(" failed, "), "\(again.stdout)")
  }

  @Test func `a quiet recording does not tell of failures`() throws {
    let workplace = try yard()
    let result = try record(workplace, ["-q"])
    #expect(result.status == 0 && result.stderr.isEmpty, "\(result.stderr)")
  }

  @Test(arguments: [[], ["-q"], ["--json"]])
  func `a halt of a live pipeline is reported with the next command, and all frames are recorded`(
    more: [String]
  ) throws {
    let workplace = try yard()
    let result = try record(workplace, more, pipeline: "example:halts")
    #expect(result.status == 2, "\(result.stderr)")
    let halt = "frame 0:0, stage halts: the model is gone [model.gone]"
    #expect(
      result.stderr.contains(
        "error: the pipeline was halted: \(halt)\n  The recording continues without it"),
      "\(result.stderr)")
    #expect(result.stderr.contains("replay Recordings/live --pipeline example:halts"))
    #expect(result.stderr.hasSuffix("error: the pipeline was halted: \(halt)\n"))
    let info = try workplace.retake("session", "info", "live", "--json").json()
    #expect(info.status.text == "clean")
  }

  @Test func `failures and a halt are reported while the recording runs`() throws {
    for (pipeline, said) in [
      ("outside.json", "[crop.outside]"), ("example:halts", "[model.gone]"),
    ] {
      let workplace = try yard()
      let told = workplace.folder.file("told.txt")
      let words = [
        Workplace.impureBinary, "record", "synthetic:figures", "--name", "live", "--frames",
        "100000", "--size", "160x120", "--probe", "skip", "--pipeline", pipeline, "--json",
      ]
      let line = words.map { "'\($0)'" }.joined(separator: " ")
      let run = try LongRun(["-c", "exec \(line) 2>told.txt"], in: workplace, binary: "/bin/bash")
      run.readOn()
      func text() -> String { (try? String(contentsOf: told, encoding: .utf8)) ?? "" }
      #expect(run.wait { text().contains(said) }, "\(pipeline): \(text())")
      #expect(run.isRunning)
      let status = run.end(SIGINT)
      #expect(status == (pipeline == "outside.json" ? 130 : 2), "\(pipeline): \(text())")
      #expect(try workplace.isClosed("live"))
    }
  }
}
