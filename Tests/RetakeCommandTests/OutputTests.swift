import Foundation
import RetakeTestSupport
import Testing

@Suite struct OutputTests {
  private static let replay = ["replay", "yard", "--pipeline", "example:motion-boxes"]

  @Test func `each command's JSON is one document on standard output, and nothing else is`() throws
  {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "64x48")
    for (line, status) in [
      ("session list --json", 0), ("session info yard --json", 0),
      ("session check yard --json", 0), ("session snapshot yard --into Copies --json", 0),
      ("session trim yard --from 100ms --into Trimmed --json", 0),
      ("session transcode yard --into Fast --json", 0),
      ("session export yard --csv yard.csv --media yard.mkv --json", 0),
      ("session migrate yard --into Migrated --json", 0), ("session recover yard --json", 0),
      ("session recover yard --from-media --json", 0),
      ("pipeline check example:motion-boxes --json", 0),
      ("replay yard --pipeline example:motion-boxes --output run --json", 0),
      ("test yard --pipeline example:motion-boxes --json", 3), ("accept --reason x --json", 0),
      ("test yard --pipeline example:motion-boxes --report report --json", 0),
      ("diff run Goldens/yard/motion-boxes --json", 0),
      ("verify yard --pipeline example:motion-boxes --json", 0), ("doctor --json", 0),
    ] {
      let result = try workplace.retake(words: line.split(separator: " ").map(String.init))
      #expect(result.status == Int32(status), "\(line): \(result.stderr)")
      #expect(throws: Never.self, "\(line)") { try result.json() }
      #expect(!result.stdout.contains("\u{1B}") && !result.stderr.contains("\u{1B}"), "\(line)")
    }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "no full device here"))
  func `a result that a full disk does not take is an error`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "64x48")
    for end in ["", " --json"] {
      let line = ([Workplace.binary] + Self.replay).map { "'\($0)'" }.joined(separator: " ")
      let full = try runCommand(
        "sh", arguments: ["-c", line + end + " >/dev/full"], folder: workplace.folder.url)
      #expect(full.status == 2)
      #expect(full.stderr.contains("standard output cannot be written (No space left on device)"))
      let closed = try runCommand(
        "sh", arguments: ["-c", line + end + " >&-"], folder: workplace.folder.url)
      #expect(closed.status == 0, "nobody wanted the result: \(closed.stderr)")
    }
  }

  @Test func `an import says what can be typed next, wherever the session lies`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "3", "a.avi")
    for arguments in [[], ["--into", "other place"]] {
      let imported = try workplace.retake(words: ["import", "a.avi"] + arguments)
      let last = try #require(imported.stdout.split(separator: "\n").last)
      let next = last.replacing("next: retake", with: "'\(Workplace.binary)'")
      let result = try runCommand(
        "sh", arguments: ["-c", String(next)], folder: workplace.folder.url)
      #expect(result.status == 0, "\(last): \(result.stderr)")
    }
  }

  @Test func `a recording's JSON is one line a commit`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake(
      "record", "synthetic:figures", "--speed", "max", "--frames", "20", "--size", "64x48",
      "--json")
    #expect(result.status == 0)
    let lines = result.stdout.split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines {
      #expect(throws: Never.self) { try JSON(Data(line.utf8)) }
    }
  }

  @Test func `run json has what the format names`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "64x48")
    let printed = try workplace.retake(words: Self.replay + ["--output", "run", "--json"])
    let run = try printed.json()
    let stored = try JSON(Data(contentsOf: workplace.folder.file("run/run.json")))
    #expect(stored.decisionDigest.text == run.decisionDigest.text)
    #expect(stored.resultDigest.text == run.resultDigest.text)
    #expect(run.session.text == "yard")
    #expect(run["case"].text == "motion-boxes")
    #expect(run.pipeline.text == "motion-boxes")
    #expect(run.mode.text == "every-frame")
    #expect(run.workers.int == 2)
    #expect(run.decisionDigest.text?.count == 32)
    #expect(run.resultDigest.text?.count == 32)
    for key in ["captured", "delivered", "throttled", "replaced", "failed", "inFlight"] {
      #expect(run.frames[key].int != nil, "\(key)")
    }
    #expect(run.frames.dropped.value is [String: Any])
    for key in ["lostBeforeCapture", "payloadMissing"] { #expect(run[key].int == 0) }
    for key in ["recorded", "modelled"] { #expect(run.costs[key].int != nil) }
    for key in ["wallSeconds", "framesPerSecond"] { #expect(run[key].value is Double) }
  }

  @Test func `a run replaces an earlier run and nothing else`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 5, size: "64x48")
    for _ in 0..<2 {
      #expect(try workplace.retake(words: Self.replay + ["--output", "run"]).status == 0)
    }
    try workplace.folder.write("mine", to: "run/notes.txt")
    #expect(try workplace.retake(words: Self.replay + ["--output", "run"]).status == 0)
    #expect(workplace.exists("run/notes.txt"))
  }

  @Test func `quiet says nothing but results and errors`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 5, size: "64x48")
    let result = try workplace.retake(words: Self.replay + ["-q", "--output", "run"])
    #expect(result.status == 0)
    #expect(result.stderr.isEmpty)
    #expect(result.stdout.contains("5 captured, 5 delivered"))
  }

  @Test func `a reader that goes away is no error`() throws {
    let workplace = try Workplace()
    let result = try runCommand(
      "sh", arguments: ["-c", "'\(Workplace.binary)' --help | head -n 1; echo ${PIPESTATUS:-ok}"],
      folder: workplace.folder.url)
    #expect(result.status == 0)
    #expect(!result.stderr.contains("Fatal"))
  }

  @Test func `colors only on a terminal, and none with NO_COLOR`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 5, size: "64x48")
    let line = "'\(Workplace.binary)' test yard --pipeline example:motion-boxes"
    let plain = try runCommand(
      "script", arguments: ["-qec", line, "/dev/null"],
      environment: ["NO_COLOR": "1", "TERM": "xterm", "CI": nil],
      folder: workplace.folder.url)
    #expect(plain.status == 3)
    #expect(!plain.stdout.contains("\u{1B}[3") && !plain.stdout.contains("\u{1B}[1m"))
    let colored = try runCommand(
      "script", arguments: ["-qec", line, "/dev/null"],
      environment: ["NO_COLOR": nil, "TERM": "xterm", "CI": nil],
      folder: workplace.folder.url)
    #expect(colored.status == 3)
    #expect(colored.stdout.contains("\u{1B}["))
  }

  @Test func `the machine's set-up is complete here`() throws {
    let result = try Workplace().retake("doctor")
    #expect(result.status == 0)
    #expect(result.stdout.contains("ok      libavcodec"), "\(result.stdout)")
    #expect(!result.stdout.contains("missing "))
  }
}
