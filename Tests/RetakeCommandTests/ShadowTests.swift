import Foundation
import RetakeTestSupport
import Testing

/// `retake record --shadow`: the moments at which two pipelines disagree, as users keep them.
@Suite struct ShadowTests {
  private let workplace: Workplace

  /// `old.json` and `new.json` read their boxes from files; the new one misses the box of six frames.
  init() throws {
    workplace = try Workplace()
    for (name, missing) in [("old", 0..<0), ("new", 61..<67)] {
      let lines = (1...120).filter { !missing.contains($0) }.map { "\($0),1,10,10,30,30,1" }
      try workplace.folder.write(lines.joined(separator: "\n") + "\n", to: "\(name).txt")
      try workplace.folder.write(
        Self.pipeline(
          name, #"{"id": "found", "kind": "detections", "options": {"file": "\#(name).txt"}}"#),
        to: "\(name).json")
    }
  }

  /// The queues hold all frames: without a pace the scene may be drawn faster than it is analyzed.
  private static func pipeline(_ name: String, _ stage: String) -> String {
    """
    {"v": 1, "name": "\(name)",
     "nodes": [
      {"id": "camera", "kind": "session", "options": {"track": 0}},
      \(stage),
      {"id": "out", "kind": "results", "primary": true}],
     "edges": [
      {"from": "camera", "to": "found", "capacity": 200},
      {"from": "found", "to": "out", "capacity": 200}]}
    """
  }

  private static let words = ["--pre-trigger", "1s", "--pipeline", "old.json", "--shadow"]

  private func record(_ words: [String], binary: String? = nil) throws -> CommandResult {
    try workplace.retake(
      words: [
        "record", "synthetic:figures", "--name", "yard", "--frames", "120", "--size", "160x120",
        "--preset", "mjpeg", "--speed", "max",
      ] + words, binary: binary)
  }

  @Test func `a moment is kept, and the results of both pipelines can be read`() throws {
    let result = try record(
      Self.words + ["new.json", "--trigger", "frames=2,after=500ms", "--json"])
    try #require(result.status == 0, "\(result.stderr)")
    let last = try JSON(Data(try #require(result.stdout.split(separator: "\n").last).utf8))
    #expect(last.shadow.momentCount.int == 1, "\(result.stdout)")
    #expect(last.shadow.moments[0].disagreement.int == 1)
    let (compared, other) = (last.shadow.compared.int ?? 0, last.shadow.notCompared.int ?? 0)
    #expect(compared + other == 120)
    let frames = try #require(last.frames.captured.int)
    // From 60 - 30 to 60 + 15, unless a busy machine lost a frame.
    if other == 0 { #expect(frames == 46 && last.shadow.moments[0].frame.sequence.int == 30) }
    #expect(last.passed.int == 120 - frames)
    for run in ["0", "1"] {
      let lines = try workplace.retake(
        "session", "export", "yard", "--rows", "results", "--run", run, "--json-lines", "-"
      ).stdout.split(separator: "\n")
      #expect(other > 0 || lines.count == frames)
      let boxes = lines.count { $0.contains("detections") }
      if other == 0 { #expect(boxes == (run == "0" ? frames : frames - 6)) }
    }
    let events = try workplace.retake(
      "session", "export", "yard", "--rows", "events", "--json-lines", "-"
    ).stdout
    #expect(events.contains("pipelines.disagreed") && events.contains("digest"), "\(events)")
    #expect(try workplace.retake("session", "check", "yard").status == 0)
    #expect(
      try workplace.retake("replay", "yard", "--pipeline", "example:motion-boxes").status == 0)
  }

  @Test func `a recording without a moment is a success, leaves nothing and says why`() throws {
    let result = try record(Self.words + ["old.json"])
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.hasPrefix("no moment was kept, so nothing was written: "))
    #expect(result.stdout.contains(" 0 disagree"), "\(result.stdout)")
    let entries = try FileManager.default.contentsOfDirectory(
      atPath: workplace.folder.file("Recordings").path)
    #expect(entries == [])
  }

  @Test(arguments: [[], ["--json"], ["-q"]])
  func `a shadow that is halted is an error, reported at once and at the end`(more: [String]) throws
  {
    try workplace.folder.write(
      Self.pipeline("light", #"{"id": "found", "kind": "luminance"}"#), to: "light.json")
    let result = try record(
      ["--pre-trigger", "1s", "--pipeline", "light.json", "--shadow", "example:halts"] + more,
      binary: Workplace.impureBinary)
    let halt =
      "error: the shadow pipeline was halted: frame 0:0, stage halts: the model is gone "
      + "[model.gone]\n"
    #expect(result.status == 2, "\(result.stderr)")
    #expect(
      result.stderr.contains(halt + "  The recording continues, and no later frame is compared."),
      "\(result.stderr)")
    #expect(result.stderr.hasSuffix("\n" + halt), "\(result.stderr)")
    if more.isEmpty {
      #expect(result.stdout.hasPrefix("no moment was kept, so nothing was written: 0 frames"))
    }
  }

  @Test(arguments: [
    (["--shadow", "new.json"], "--shadow goes with --pipeline"),
    (["--pipeline", "old.json", "--shadow", "new.json"], "--shadow goes with --pre-trigger"),
    (["--pipeline", "old.json", "--trigger", "frames=2"], "--trigger goes with --shadow"),
    (
      ["--pipeline", "old.json", "--shadow", "new.json", "--pre-trigger", "1s", "--follow"],
      "--follow does not go with --shadow"
    ),
  ])
  func `options that do not go together are refused`(words: [String], says: String) throws {
    let result = try workplace.retake(words: ["record", "synthetic:figures"] + words)
    #expect(result.status == 64 && result.stderr.contains(says), "\(result.stderr)")
  }

  @Test(arguments: [
    ",", "frames", "frames=0", "disagree=0", "after=2h", "frames=1,frames=2", "iou=1",
  ])
  func `other conditions are refused`(trigger: String) throws {
    let result = try record(Self.words + ["new.json", "--trigger", trigger])
    #expect(result.status == 64 && result.stderr.contains("is not a condition"), "\(result.stderr)")
  }

  @Test func `pipelines without comparable results, and programs, are refused`() throws {
    try workplace.folder.write(
      Self.pipeline("light", #"{"id": "found", "kind": "luminance"}"#), to: "light.json")
    let numbers = try record(Self.words + ["light.json"])
    #expect(numbers.status == 64 && numbers.stderr.contains("suite.shadow.outputs"))
    #expect(numbers.stderr.contains("detections and scalars"), "\(numbers.stderr)")
    try workplace.folder.write(
      Self.pipeline(
        "program",
        #"{"id": "found", "kind": "process", "options": {"command": ["python3"], "output": "detections"}}"#
      ), to: "program.json")
    let program = try record(Self.words + ["program.json"])
    #expect(program.status == 2 && program.stderr.contains("[process.notAllowed]"))
    #expect(!FileManager.default.fileExists(atPath: workplace.folder.file("Recordings").path))
  }
}
