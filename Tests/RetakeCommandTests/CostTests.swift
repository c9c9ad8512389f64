import Foundation
import RetakeTestSupport
import Testing

/// Recorded timings and device profiles, as users use them.
@Suite struct CostTests {
  private static let replay = ["replay", "yard", "--pipeline", "example:motion-boxes"]

  private func yard(frames: Int = 60) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: frames, size: "96x64")
    return workplace
  }

  private func writeTimings(_ workplace: Workplace, _ more: String...) throws {
    let result = try workplace.retake(words: Self.replay + ["--write-timings", "a.timings"] + more)
    try #require(result.status == 0, "\(result.stderr)")
    #expect(result.stderr.contains("--costs timings:a.timings"))
  }

  /// The decision and result digests of replays with these options for many numbers of workers,
  /// each twice.
  private func digests(_ workplace: Workplace, _ words: [String]) throws -> Set<String> {
    var found: Set<String> = []
    for workers in ["0", "1", "2", "4", "8", "2"] {
      let result = try workplace.retake(words: words + ["--workers", workers, "--json"])
      try #require(result.status == 0, "\(result.stderr)")
      let run = try result.json()
      found.insert("\(run.decisionDigest.text ?? "-") \(run.resultDigest.text ?? "-")")
    }
    return found
  }

  @Test func `a replay with measured timings is the same for any number of workers`() throws {
    let workplace = try yard()
    try writeTimings(workplace)
    let words = Self.replay + ["--costs", "timings:a.timings", "--strict-costs"]
    #expect(try digests(workplace, words).count == 1)
    let result = try workplace.retake(words: words)
    #expect(result.stdout.contains("costs     100 % recorded, 0 % modelled (timings:"))
    #expect(result.stderr.contains("--costs timings:a.timings implies --mode simulate"))
    #expect(try workplace.retake(words: words + ["-q"]).stderr.isEmpty)
  }

  @Test func `a run that measures prints the times of each stage and of a whole frame`() throws {
    let workplace = try yard(frames: 12)
    let words = Self.replay + ["--write-timings", "a.timings"]
    let text = try workplace.retake(words: words).stdout
    let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    let head = try #require(rows.firstIndex { $0.first == "stage" }, "\(text)")
    #expect(
      rows[head...].prefix(4).map { $0.prefix { !$0.contains(".") } } == [
        ["stage", "calls", "mean", "ms", "p50", "ms", "p99", "ms", "max", "ms"],
        ["grey", "12"], ["motion", "12"], ["a", "whole", "frame", "12"],
      ])
    let times = try workplace.retake(words: words + ["--json"]).json().stageTimes
    #expect(times.stages.count == 2 && times.stages[0].node.text == "grey")
    #expect(times.stages[1].times["count"].int == 12 && times.frames["count"].int == 12)
    let plain = try workplace.retake(words: Self.replay + ["--json"]).json()
    #expect(plain.stageTimes.value == nil)
  }

  /// The digests of the case in the report of `test`, and the digests of the command that it
  /// suggests.
  private func suggested(_ workplace: Workplace, _ words: [String]) throws -> [String] {
    let test = try workplace.retake(words: ["test", "yard", "--report", "report"] + words)
    let document = try JSON(Data(contentsOf: workplace.folder.file("report/report.json")))
    let item = document.cases[0]
    let command = try #require(item.commands[0].command.text, "\(test.stderr)")
    let replay = try runCommand(
      "bash",
      arguments: ["-c", command.replacing("retake ", with: "'\(Workplace.binary)' ") + " --json"],
      environment: ["CI": nil, "RETAKE_CACHE_KEY": Workplace.cacheKey],
      folder: workplace.folder.url)
    try #require(replay.status == 0, "\(command): \(replay.stderr)")
    let run = try replay.json()
    return [
      command, item.decisionDigest.actual.text ?? "none", run.decisionDigest.text ?? "-",
      item.resultDigest.actual.text ?? "none", run.resultDigest.text ?? "-",
    ]
  }

  @Test func `the command that a report suggests makes the same run, with its costs`() throws {
    let workplace = try yard()
    try workplace.writePipeline()
    try writeTimings(workplace)
    try workplace.folder.write(
      #"{"v": 1, "name": "slow", "scale": {"*": 40}}"#, to: "slow phone.json")
    try workplace.folder.write(
      """
      v: 1
      cases:
        hot: {pipeline: motion.json, costs: "profile:slow phone.json", seed: 4}
      """, to: "retake.yml")
    let own = ["--pipeline", "motion.json"]
    let cases: [([String], String)] = [
      (
        own + ["--costs", "profile:slow phone.json"],
        "--pipeline motion.json --mode simulate --costs 'profile:slow phone.json'"
      ),
      (
        own + [
          "--costs", "timings:a.timings+profile:slow phone.json", "--strict-costs", "--seed", "7",
        ],
        "--pipeline motion.json --mode simulate --costs 'timings:a.timings+profile:slow phone.json' "
          + "--strict-costs --seed 7"
      ),
      (own + ["--mode", "simulate"], "--pipeline motion.json --mode simulate"),
      (["--pipeline", "hot"], "--pipeline hot"),
      (
        ["--pipeline", "hot", "--override", "thermal=serious@1s", "--seed", "0"],
        "--pipeline hot --seed 0 --override 'thermal=serious@1s'"
      ),
      (["--pipeline", "hot", "--costs", "declared"], "--pipeline hot --costs declared"),
      (["--pipeline", "hot", "--mode", "every-frame"], "--pipeline hot --mode every-frame"),
    ]
    var digests: Set<String> = []
    for (words, options) in cases {
      let found = try suggested(workplace, words)
      #expect(found[0] == "retake replay yard \(options)")
      #expect(found[1] == found[2] && found[3] == found[4], "\(found)")
      digests.insert(found[1])
    }
    // The costs matter here: other costs lead to other decisions.
    #expect(digests.count >= 4)
  }

  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `timings of karma decide the same every time, in both modes of measuring`() throws {
    let source = try #require(sharedMedia("karma.mp4"))
    let workplace = try Workplace()
    let clip = workplace.folder.file("clip.mp4").path
    try workplace.ffmpeg("-i", source.path, "-t", "4", "-c", "copy", clip)
    #expect(try workplace.retake("import", clip, "--name", "yard").status == 0)
    for mode in ["every-frame", "simulate"] {
      try writeTimings(workplace, "--mode", mode)
      let words = Self.replay + ["--costs", "timings:a.timings", "--strict-costs"]
      #expect(try digests(workplace, words).count == 1)
    }
    try workplace.folder.write(
      #"{"v": 1, "name": "slow", "scale": {"*": 100, "motion": 1000}}"#, to: "slow.json")
    let words = Self.replay + ["--costs", "timings:a.timings+profile:slow.json"]
    #expect(try digests(workplace, words).count == 1)
    let slow = try workplace.retake(words: words + ["--json"]).json()
    #expect(try #require(slow.frames.dropped.queue.int) > 20)
  }

  @Test func `what timings lack is drawn, counted and told, or an error where it is strict`() throws
  {
    let workplace = try yard(frames: 40)
    try writeTimings(workplace)
    try workplace.record("hall", frames: 43, size: "96x64")
    let words = [
      "replay", "hall", "--pipeline", "example:motion-boxes", "--costs", "timings:a.timings",
    ]
    let loose = try workplace.retake(words: words)
    #expect(loose.status == 0)
    #expect(loose.stdout.contains("costs     93 % recorded, 7 % modelled"), "\(loose.stdout)")
    #expect(loose.stderr.contains("are of the session 'yard', not of 'hall'"))
    #expect(try digests(workplace, words).count == 1)
    let run = try workplace.retake(words: words + ["--json"]).json()
    #expect(run.costs.recorded.int == 80 && run.costs.modelled.int == 6)
    #expect(run.costs.source.text?.hasPrefix("timings:") == true)

    let before = try workplace.listing()
    let strict = try workplace.retake(
      words: words + ["--strict-costs", "-q", "--decisions", "lines.txt"])
    #expect(strict.status == 2)
    #expect(strict.stdout.isEmpty)
    #expect(
      strict.stderr.contains("error: frame 0:40: the timings a.timings have no cost of 'grey'"),
      "\(strict.stderr)")
    #expect(strict.stderr.contains("[runtime.cost.missing]"))
    #expect(strict.stderr.contains("--write-timings"))
    #expect(try workplace.listing() == before)
  }

  @Test func `a profile slows the declared costs down, and says what fits nothing`() throws {
    let workplace = try yard()
    try workplace.folder.write(
      #"{"v": 1, "name": "fast", "scale": {"motion": 0.5}, "executors": {"vison": 2}}"#,
      to: "fast.json")
    let words = Self.replay + ["--costs", "profile:fast.json"]
    let result = try workplace.retake(words: words)
    #expect(result.status == 0)
    #expect(result.stdout.contains("60 captured, 60 delivered"), "\(result.stdout)")
    #expect(result.stdout.contains("(profile:fast@"))
    #expect(result.stderr.contains("the executor 'vison'"))
    #expect(result.stderr.contains("Did you mean 'vision'?"))
    #expect(try digests(workplace, words).count == 1)
    let verified = try workplace.retake(
      "verify", "yard", "--pipeline", "example:motion-boxes", "--costs", "profile:fast.json")
    #expect(verified.status == 0, "\(verified.stderr)")
  }

  @Test func `a device that heats up is told in the summary, the JSON, the lines and the trace`()
    throws
  {
    let workplace = try yard()
    try workplace.folder.write(
      #"{"v": 1, "name": "hot", "thermal": [{"state": "serious", "scale": 1.5}], "#
        + #""heat": {"ambient": "25C", "nodes": [{"id": "case", "capacity": "1J/K", "#
        + #""resistance": "10K/W"}], "idle": "1W", "busy": {"*": "5W"}, "#
        + #""states": {"fair": "26C", "serious": "27C", "critical": "60C"}}}"#, to: "hot.json")
    let words = Self.replay + ["--costs", "profile:hot.json"]
    let result = try workplace.retake(
      words: words + ["--decisions", "lines.txt", "--trace", "trace.json"])
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.contains("\n  heat      "), "\(result.stdout)")
    #expect(result.stdout.contains(" °C at most, at "))
    #expect(result.stdout.contains("; nominal "))
    func text(_ file: String) throws -> String {
      try String(contentsOf: workplace.folder.file(file), encoding: .utf8)
    }
    let lines = try text("lines.txt")
    #expect(lines.contains(" - thermal state=nominal temperature=25C\n"))
    #expect(lines.contains(" - thermal state=serious temperature=27."))
    #expect(try text("trace.json").contains("\"name\":\"temperature\""))
    let json = try workplace.retake(words: words + ["--json"])
    #expect(json.stdout.contains("\"thermalEvents\" : 1"), "\(json.stdout)")
    #expect(try digests(workplace, words).count == 1)
    let verified = try workplace.retake(
      "verify", "yard", "--pipeline", "example:motion-boxes", "--costs", "profile:hot.json")
    #expect(verified.status == 0, "\(verified.stderr)")
  }

  @Test func `what keeps timings or a profile from being used is an error with a next step`() throws
  {
    let workplace = try yard(frames: 3)
    try workplace.folder.write("#retake 2 timings key=yard/x\n", to: "new.timings")
    try workplace.folder.write("#retake 1 timings key=yard/x\n", to: "cut.timings")
    try workplace.folder.write(#"{"v": 1, "name": "p", "scael": {}}"#, to: "p.json")
    let before = try workplace.listing()
    for (costs, code, says) in [
      ("timings", "session.costs.none", "--write-timings FILE"),
      ("timings@1", "session.costs.none", "--write-timings FILE"),
      ("timings:absent", "replay.timings.unreadable", "no such file"),
      ("timings:p.json", "replay.timings.notTimings", "--write-timings FILE"),
      ("timings:new.timings", "replay.timings.newerVersion", "Update Retake"),
      ("timings:cut.timings", "replay.timings.cut", "cut short after 0 spans"),
      ("profile:p.json", "replay.profile.malformed", "Did you mean 'scale'?"),
      ("profile:absent", "replay.profile.unreadable", "no such file"),
    ] {
      let result = try workplace.retake(words: Self.replay + ["--costs", costs, "-q"])
      #expect(result.status == 2, "\(costs): \(result.stderr)")
      #expect(result.stdout.isEmpty)
      #expect(result.stderr.contains("[\(code)]"), "\(result.stderr)")
      #expect(result.stderr.contains(says), "\(result.stderr)")
    }
    #expect(try workplace.listing() == before)
  }

  @Test func `timings appear whole or not at all`() throws {
    let workplace = try yard(frames: 5)
    try workplace.folder.write("mine", to: "taken/file.txt")
    let before = try workplace.listing()
    for path in ["absent/a.timings", "taken"] {
      let result = try workplace.retake(
        words: Self.replay + ["--write-timings", path, "--decisions", "lines.txt"])
      #expect(result.status == 2)
      #expect(result.stderr.contains("[replay.timings.unwritable]"), "\(result.stderr)")
      #expect(try workplace.listing() == before)
    }
    try workplace.folder.write("the old one", to: "a.timings")
    try writeTimings(workplace)
    let text = try String(contentsOf: workplace.folder.file("a.timings"), encoding: .utf8)
    #expect(text.hasPrefix("#retake 1 timings key=yard/motion-boxes clock=thread\nS grey 0:0 "))
    #expect(text.hasSuffix("\nE 10\n"))
  }

  @Test func `a case of the project measures, tests and keeps its costs in the golden`() throws {
    let workplace = try yard(frames: 12)
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  phone: {pipeline: motion.json, costs: 'timings:a.timings', strictCosts: true}\n",
      to: "retake.yml")
    let written = try workplace.retake(
      "replay", "yard", "-p", "phone", "--write-timings", "a.timings")
    #expect(written.status == 0, "\(written.stderr)")
    #expect(try workplace.retake("test").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    #expect(try workplace.retake("test").status == 0)
    let plain = try workplace.retake(
      "replay", "yard", "-p", "phone", "--mode", "every-frame", "--json")
    #expect(try plain.json().costs.source.text == "none")
  }
}
