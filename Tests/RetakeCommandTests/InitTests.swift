import Foundation
import Retake
import Testing

@testable import RetakeCommand

/// `retake init`, `retake golden sync-rules`, and other needs of a first project.
@Suite struct InitTests {
  private func text(_ path: String, of workplace: Workplace) throws -> String {
    try String(contentsOf: workplace.folder.file(path), encoding: .utf8)
  }

  @Test func `a new project tests its sessions with the pipeline that it was given`() throws {
    let workplace = try Workplace()
    try workplace.folder.write("build/\n*.new", to: ".gitignore")
    let made = try workplace.retake("init")
    #expect(made.status == 0, "\(made.stderr)")
    #expect(
      made.stdout.split(separator: "\n").prefix(3) == [
        "wrote Pipelines/motion-boxes.json", "wrote .gitignore", "wrote retake.yml",
      ])
    #expect(try text(".gitignore", of: workplace) == "build/\n*.new\n.retake/\n")
    try workplace.record("yard", frames: 12)
    let tested = try workplace.retake("test")
    #expect(tested.status == 3, "\(tested.stdout)\(tested.stderr)")
    #expect(workplace.exists("Goldens/yard/motion-boxes/golden.yml.new"))
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `files that exist are left as they are`() throws {
    let workplace = try Workplace()
    try workplace.writePipeline("Pipelines/mine.json", replacing: "motion-boxes", with: "mine")
    let before = try text("Pipelines/mine.json", of: workplace)
    try workplace.record("gate", frames: 6)
    let made = try workplace.retake("init", "--pipeline", "Pipelines/mine.json", "--json")
    #expect(made.status == 0, "\(made.stderr)")
    #expect(try made.json().caseName.text == "mine")
    #expect(try made.json().cases[0].pipeline.text == "Pipelines/mine.json")
    #expect(try text("Pipelines/mine.json", of: workplace) == before)
    let project = try text("retake.yml", of: workplace)
    #expect(project.contains("- sessions: [\"*\"]"), "\(project)")

    let again = try workplace.retake("init")
    #expect(again.status == 2)
    #expect(again.stderr.contains("[suite.project.exists]"), "\(again.stderr)")
    #expect(try text("retake.yml", of: workplace) == project)
  }

  @Test func `a command whose selection or arguments are wrong leaves nothing behind`() throws {
    let empty = try Workplace()
    #expect(try empty.retake("test").status == 4)
    for words in [
      ["test"], ["test", "yard"], ["test", "yard", "--pipeline", "example:motion-boxes"],
      ["replay", "yard", "--pipeline", "example:motion-boxes", "--cache", "auto"],
      ["cache", "warm", "yard", "--pipeline", "absent.json"],
    ] {
      let result = try empty.retake(words: words)
      #expect(result.status != 0, "\(words)")
      #expect(try !empty.exists(".retake") && empty.listing() == [], "\(words)")
    }
    let other = try Workplace()
    try other.record("yard", frames: 3)
    let before = try other.listing()
    for words in [
      ["test", "yard", "--case", "absent"], ["test", "garden"],
      ["replay", "yard", "--pipeline", "absent.json", "--cache", "auto"],
    ] {
      let result = try other.retake(words: words)
      #expect(result.status != 0, "\(words)")
      #expect(try !other.exists(".retake") && other.listing() == before, "\(words)")
    }
  }

  @Test func `a document that gets no case is named`() throws {
    let workplace = try Workplace()
    try workplace.writePipeline("Pipelines/mine.json", replacing: "motion-boxes", with: "mine")
    let made = try workplace.retake("init")
    #expect(made.status == 0, "\(made.stderr)")
    #expect(
      made.stdout.contains("left out Pipelines/mine.json: to test it, add a case for it"),
      "\(made.stdout)")
    #expect(!made.stdout.contains("left out Pipelines/motion-boxes.json"))
  }

  @Test func `a pipeline that cannot be used makes no project`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("init", "--pipeline", "nosuch.json")
    #expect(result.status == 2, "\(result.stderr)")
    #expect(try workplace.listing() == [])
  }

  @Test func `a pipeline that init keeps has to be one`() throws {
    let workplace = try Workplace()
    try workplace.folder.write("{}", to: "Pipelines/motion-boxes.json")
    let refused = try workplace.retake("init")
    #expect(refused.status == 2 && !workplace.exists("retake.yml"), "\(refused.stderr)")
    try workplace.writePipeline("Pipelines/motion-boxes.json")
    let made = try workplace.retake("init")
    #expect(made.status == 0)
    #expect(made.stdout.hasPrefix("kept Pipelines/motion-boxes.json"), "\(made.stdout)")

    let other = try Workplace()
    try other.folder.write("mine", to: "Pipelines")
    let file = try other.retake("init")
    #expect(file.status == 2 && !other.exists("retake.yml"))
    #expect(file.stderr.contains("[suite.output.notWritable]"), "\(file.stderr)")
  }

  @Test func `each step of a first project names the next`() throws {
    let workplace = try Workplace()
    try #require(try workplace.retake("init").status == 0)
    let empty = try workplace.retake("test")
    #expect(empty.status == 4 && empty.stderr.contains("retake import clip.mp4"), "\(empty.stderr)")
    try workplace.ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1", "yard.mp4")
    let imported = try workplace.retake("import", "yard.mp4")
    #expect(imported.stdout.contains("next: retake test yard\n"), "\(imported.stdout)")
    #expect(try workplace.retake("test", "yard").status == 3)
  }

  @Test func `doctor calls a project file with a mistake invalid, and says how to repair it`()
    throws
  {
    let workplace = try Workplace()
    try workplace.folder.write("v: 1\nbudgets: {latencyMax: 120}\n", to: "retake.yml")
    let doctor = try workplace.retake("doctor")
    #expect(doctor.status == 2 && doctor.stdout.contains("invalid retake.yml"), "\(doctor.stdout)")
    #expect(doctor.stdout.contains("Write it like 45ms"), "\(doctor.stdout)")
  }

  @Test func `arguments that are found wrong late lead to the help of their command`() throws {
    let result = try Workplace().retake("cache", "warm", "yard")
    #expect(result.status == 64 && result.stdout.isEmpty)
    #expect(result.stderr.hasSuffix("\n  See: retake cache warm --help\n"), "\(result.stderr)")
  }

  @Test(arguments: [["import", "-dash.mp4"], ["session", "info", "-h.mp4"]])
  func `a file whose name begins with a dash is not taken for help`(words: [String]) throws {
    let result = try Workplace().retake(words: words)
    #expect(result.status == 64 && result.stdout.isEmpty)
    #expect(result.stderr.contains("write ./\(words.last ?? "")"), "\(result.stderr)")
  }

  @Test(arguments: [["help", "nosuch"], ["version"], ["cache", "status"]])
  func `a command that there is not is a wrong argument`(words: [String]) throws {
    let result = try Workplace().retake(words: words)
    #expect(result.status == 64 && result.stdout.isEmpty)
    #expect(result.stderr.contains("there is no command '\(words.last ?? "")'"), "\(result.stderr)")
    let group = words.first == "cache" ? "cache " : ""
    #expect(result.stderr.contains("See: retake \(group)--help"), "\(result.stderr)")
  }

  @Test(arguments: [
    (["recover", "yard"], "retake session recover"), (["golden", "accept"], "retake accept"),
  ])
  func `a command of another group is named with its group`(words: [String], wanted: String) throws
  {
    let result = try Workplace().retake(words: words)
    #expect(result.status == 64 && result.stderr.contains("Write: \(wanted)\n"), "\(result.stderr)")
  }

  @Test func `tolerances of retake.yml reach a golden by a command alone`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try #require(try workplace.retake("init").status == 0)
    try #require(try workplace.retake("test").status == 3)
    try #require(try workplace.retake("accept", "--reason", "first").status == 0)
    #expect(
      try workplace.retake("golden", "sync-rules").stdout.contains(
        "have the rules of retake.yml and"))
    let golden = "Goldens/yard/motion-boxes/golden.yml"
    let before = try text(golden, of: workplace)
    try workplace.folder.write(
      try text("retake.yml", of: workplace)
        + "compare:\n  boxes: {iou: 0.5, position: 2.5}\nbudgets: {droppedMax: 3}\n",
      to: "retake.yml")

    let dry = try workplace.retake("golden", "sync-rules", "--dry-run")
    #expect(dry.status == 0 && dry.stdout.contains("would set boxes.position: 0.0 → 2.5"))
    #expect(try text(golden, of: workplace) == before)
    let refused = try workplace.retake("golden", "sync-rules", environment: ["CI": "true"])
    #expect(refused.status == 2 && refused.stderr.contains("[suite.accept.inCI]"))
    #expect(try text(golden, of: workplace) == before)

    let adopted = try workplace.retake("golden", "sync-rules", "--json")
    #expect(adopted.status == 0, "\(adopted.stderr)")
    let after = try text(golden, of: workplace)
    #expect(after.contains("position: 2.5") && after.contains("droppedMax: 3"), "\(after)")
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `a replay says what was found`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 30)
    let result = try workplace.retake("replay", "yard", "-p", "example:motion-boxes")
    let line = try #require(
      result.stdout.split(separator: "\n").first { $0.contains("detections in") },
      "\(result.stdout)")
    let found = try #require(
      line.wholeMatch(of: #/ *boxes +(\d+) detections in (\d+) of 30 frames/#), "\(line)")
    #expect(Int(found.1) ?? 0 >= Int(found.2) ?? 0 && Int(found.2) ?? 0 > 0)
    let json = try workplace.retake(
      "replay", "yard", "-p", "example:motion-boxes", "--json"
    ).json()
    #expect(json.found[0].delivered.int == 30)
    #expect(json.found[0].results.detections.int == Int(found.1))
  }

  @Test func `an import says how long the footage is, and info where it came from`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25", "-frames:v", "51", "-c:v", "libx264",
      "-pix_fmt", "yuv420p", "clip.mp4")
    let imported = try workplace.retake("import", "clip.mp4")
    #expect(imported.status == 0, "\(imported.stderr)")
    let span = "64x48  51 frames, 2 s, 25 frames per second"
    #expect(imported.stdout.contains("track 0  h264  \(span)"), "\(imported.stdout)")
    let info = try workplace.retake("session", "info", "clip").stdout
    #expect(info.contains("51 frames, 2 s, 25 frames per second"), "\(info)")
    try workplace.record("yard", frames: 6)
    let recorded = try workplace.retake("session", "info", "yard").stdout
    #expect(recorded.contains("source: synthetic:figures"), "\(recorded)")
  }

  @Test(arguments: [
    ("2s", 2_000), ("500ms", 500), ("4", 4_000), ("4.25", 4_250), ("00:04", 4_000),
    ("1:30.5", 90_500), ("1:02:03", 3_723_000), ("2m", 120_000), ("1h", 3_600_000),
    ("2400h", 8_640_000_000),
  ])
  func `a time is written as people write it`(text: String, milliseconds: Int) {
    #expect(TimeArgument.parse(text) == .milliseconds(milliseconds))
    #expect((try? CaseOverride(parsing: "thermal=serious@\(text)")) != nil)
  }

  @Test(arguments: [
    "", "-1s", "1:60", "1:2:3:4", ":30", "4.", "1.0000000001", "x", "3 s", "1e3", "2401h",
  ])
  func `what is not a time is refused`(text: String) {
    #expect(TimeArgument.parse(text) == nil)
    #expect(throws: ReplayError.self) { try CaseOverride(parsing: "thermal=serious@\(text)") }
  }

  @Test func `a trim without a folder is made next to its original`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 60)
    let made = try workplace.retake("session", "trim", "yard", "--from", "0:01")
    #expect(made.status == 0, "\(made.stderr)")
    #expect(workplace.exists("Recordings/yard-trim/session.sqlite"))
    for (words, says) in [
      (["--from", "-1s"], "'--from -1s' is not a time; use for example 2s"),
      (["--from", "3s", "--to", "1s"], "'--to 1s' is not after '--from 3s'"),
    ] {
      let result = try workplace.retake(words: ["session", "trim", "yard"] + words)
      #expect(result.status == 64)
      #expect(result.stderr.contains(says), "\(result.stderr)")
    }
  }
}
