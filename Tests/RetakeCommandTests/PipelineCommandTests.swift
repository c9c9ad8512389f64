import Foundation
import RetakeTestSupport
import Testing

/// `retake pipeline check` and `draw`, as users call them.
@Suite struct PipelineCommandTests {
  private static let slow = """
    {"v": 1, "name": "slow",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "grey", "kind": "grey", "cost": {"fixed": "16ms"}},
      {"id": "light", "kind": "luminance", "cost": {"fixed": "45ms"}},
      {"id": "values", "kind": "results"}],
     "edges": [
      {"from": "camera", "to": "grey"}, {"from": "grey", "to": "light"},
      {"from": "light", "to": "values"}]}
    """

  private func workplace(_ document: String = slow) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.folder.write(document, to: "slow.json")
    return workplace
  }

  private func check(_ line: String, in workplace: Workplace) throws -> CommandResult {
    try workplace.retake(
      words: ["pipeline", "check", "slow.json"] + line.split(separator: " ").map(String.init))
  }

  @Test func `the advice for a closure sink is one that can be followed`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake(
      words: ["pipeline", "example", "closureSink"], binary: Workplace.impureBinary)
    #expect(result.status == 2)
    #expect(
      result.stderr.contains(
        "the sink 'sink' is a closure and has no document form [graph.pipeline.notExportable]\n"
          + "  End the pipeline with results(), metadata() or discard()"), "\(result.stderr)")
    #expect(!result.stderr.contains("PureStage"))
  }

  @Test func `check lists paths and loads, and warns without failing`() throws {
    let workplace = try workplace()
    let plain = try check("", in: workplace)
    #expect(plain.status == 0)
    #expect(plain.stdout.contains("  camera → grey → light → values  61 ms\n"))
    #expect(plain.stdout.contains("from camera (block, "), "\(plain.stdout)")
    #expect(
      plain.stdout.contains("keeps up with 22.2 frames a second of 'camera'; 'light' is the limit"))
    #expect(!plain.stdout.contains("warning"))
    let loaded = try check("--rate 30 --budget 100ms", in: workplace)
    #expect(loaded.status == 0)
    #expect(loaded.stdout.contains("  light  1 server  45 ms a frame  135 % busy\n"))
    #expect(
      loaded.stdout.contains("warning: slow.json, at /nodes/2: 'light' can process 22.2 of the 30"))
    #expect(loaded.stdout.contains("[graph.check.overload]\n  Set the concurrency of 'light' to 2"))
    #expect(loaded.stdout.contains("[graph.check.budget]"))
  }

  @Test func `times of paths say that they leave out waiting, and what measures it`() throws {
    let workplace = try workplace(
      Self.slow.replacing(
        #"{"fixed": "45ms"}"#, with: #"{"p50": "28ms", "p99": "56ms"}"#))
    let checked = try check("--rate 30 --budget 60ms", in: workplace)
    #expect(checked.status == 0, "\(checked.stderr)")
    #expect(
      checked.stdout.contains(
        """
        paths, of a frame that waits for no other frame, by declared costs
          camera → grey → light → values  44 ms, slow 72 ms

        """), "\(checked.stdout)")
    #expect(!checked.stdout.contains("at worst"))
    #expect(
      checked.stdout.contains("needs 44 ms, 72 ms if every stage is slow; the budget is 60 ms"),
      "\(checked.stdout)")
    let advised = "retake replay SESSION --pipeline slow.json --sweep scale=1"
    #expect(checked.stderr.contains("To include it: \(advised)\n"), "\(checked.stderr)")
    // The advice works, and frames wait: their p99 is above the slow sum of the path.
    try workplace.record("yard", frames: 90, size: "64x48")
    let swept = try workplace.retake(
      words: advised.replacing("SESSION", with: "yard").split(separator: " ").dropFirst()
        .map(String.init) + ["--json"])
    let p99 = try swept.json().rows[0].figures.latency.p99Nanoseconds.int
    #expect(try #require(p99) > 72_000_000, "\(swept.stdout)\(swept.stderr)")
  }

  @Test func `strict warnings end with 2, and no warnings with 0`() throws {
    let workplace = try workplace()
    let failed = try check("--rate 30 --strict", in: workplace)
    #expect(failed.status == 2)
    #expect(
      failed.stderr.contains(
        "error: 1 warning (--strict: warnings are errors) [suite.check.strict]\n"))
    #expect(try check("--rate 22 --budget 61ms --strict", in: workplace).status == 0)
  }

  @Test func `what is left of a budget is printed, unless it is exceeded`() throws {
    let workplace = try workplace()
    let within = try check("--budget 74ms", in: workplace)
    #expect(within.stdout.contains("  values  13 ms left of 74 ms\n"), "\(within.stdout)")
    let json = try check("--budget 74ms --json", in: workplace).json()
    #expect(json.sinks[0].headroomNanoseconds.int == 13_000_000, "\(json)")
    let exceeded = try check("--budget 60ms", in: workplace)
    #expect(!exceeded.stdout.contains(" left of "), "\(exceeded.stdout)")
  }

  @Test func `the change that is advised makes the warning go away`() throws {
    let workplace = try workplace()
    let warned = try check("--rate 30 --json", in: workplace).json()
    let fix = warned.warnings[0].fixes[0][0]
    #expect(fix.node.text == "light")
    let concurrency = try #require(fix.concurrency.int)
    try workplace.folder.write(
      Self.slow.replacing(
        #""cost": {"fixed": "45ms"}"#,
        with: #""cost": {"fixed": "45ms"}, "concurrency": \#(concurrency)"#),
      to: "slow.json")
    #expect(try check("--rate 30 --strict", in: workplace).status == 0)
  }

  @Test func `the JSON has the document, the numbers and the warnings`() throws {
    let json = try check("--rate 30 --json", in: try workplace()).json()
    #expect(json.pipeline.name.text == "slow")
    #expect(json.paths[0].worstNanoseconds.int == 61_000_000)
    #expect(json.executors[1].load.value as? Double == 1.35)
    #expect(json.bottleneck.text == "light")
    #expect(json.warnings[0].pointer.text == "/nodes/2")
  }

  @Test(arguments: [
    "--rate fast", "--rate 0", "--rate rear=30", "--budget 33", "--budget light=33ms", "--items 0",
  ])
  func `options that make no sense are wrong arguments`(line: String) throws {
    let result = try check(line, in: try workplace())
    #expect(result.status == 64, "\(result.stderr)")
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.contains("--" + line.dropFirst(2).prefix { $0 != " " }))
  }

  @Test func `a session gives the rate and the conversions`() throws {
    let workplace = try workplace(
      """
      {"v": 1, "name": "plain",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "motion", "kind": "motion"},
        {"id": "boxes", "kind": "results"}],
       "edges": [{"from": "camera", "to": "motion"}, {"from": "motion", "to": "boxes"}]}
      """)
    try workplace.record("yard", frames: 10, size: "64x48")
    let checked = try check("--session yard --json", in: workplace).json()
    #expect(checked.sources[0].framesPerSecond.value as? Double != nil)
    #expect(checked.conversions[0].id.text == "motion/convert")
    let drawn = try workplace.retake("pipeline", "draw", "slow.json", "--session", "yard")
    #expect(drawn.stdout.contains("class=\"box stage inserted\""))
    let without = try workplace.retake("pipeline", "draw", "slow.json")
    #expect(!without.stdout.contains("class=\"box stage inserted\""))
  }

  @Test func `frames also wait in the queue and the slot of a conversion`() throws {
    let workplace = try workplace(
      """
      {"v": 1, "name": "plain",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "motion", "kind": "motion", "cost": {"fixed": "45ms"}},
        {"id": "boxes", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "motion", "capacity": 2}, {"from": "motion", "to": "boxes"}]}
      """)
    try workplace.record("yard", frames: 10, size: "64x48")
    func waiting(_ options: String) throws -> Int? {
      try check("\(options) --rate 30 --json", in: workplace).json().paths[0].waitingNanosecondsMax
        .int
    }
    // 2 in front of `motion`; with the conversion 1 in its slot and 3 in front of it as well.
    #expect(try waiting("") == 90_000_000)
    #expect(try waiting("--session yard") == 270_000_000)
    let text = try check("--session yard --rate 30 --budget 150ms", in: workplace)
    #expect(text.stdout.contains("up to 270 ms in full queues"), "\(text.stdout)")
    #expect(!text.stdout.contains("camera → motion/convert → motion"))
  }

  @Test func `a drawing goes to standard output or into a file`() throws {
    let workplace = try workplace()
    let shown = try workplace.retake("pipeline", "draw", "slow.json")
    #expect(shown.status == 0)
    #expect(shown.stdout.hasPrefix("<svg xmlns="))
    let written = try workplace.retake(
      "pipeline", "draw", "slow.json", "--svg", "--output", "a.svg")
    #expect(written.status == 0 && written.stdout.isEmpty)
    #expect(try String(contentsOf: workplace.folder.file("a.svg"), encoding: .utf8) == shown.stdout)
    let dot = try workplace.retake("pipeline", "draw", "slow.json", "--dot")
    #expect(dot.stdout.hasPrefix("digraph \"slow\" {"))
    #expect(try workplace.retake("pipeline", "draw", "slow.json", "--dot", "--svg").status == 64)
    // The endings protect the pipeline's document, and the guards of all outputs a session.
    for name in ["slow.json", "a.png", "a.dot"] {
      #expect(try workplace.retake("pipeline", "draw", "slow.json", "--output", name).status == 64)
    }
    try workplace.record("yard", frames: 3, size: "64x48")
    for command in [["pipeline", "draw", "slow.json", "--output"], ["bench", "pools", "--plot"]] {
      let over = try workplace.retake(words: command + ["Recordings/yard/a.svg"])
      #expect(over.status == 2)
      #expect(over.stderr.contains("[suite.output.overInput]"), "\(over.stderr)")
    }
    let nowhere = try workplace.retake("pipeline", "draw", "slow.json", "--output", "no/a.svg")
    #expect(nowhere.status == 2)
    #expect(nowhere.stderr.contains("[replay.drawing.unwritable]"))
  }

  @Test func `a drawing goes through a pipe or a device, which stays what it is`() throws {
    let workplace = try workplace()
    let draw = "'\(Workplace.binary)' pipeline draw slow.json --output"
    let result = try runCommand(
      "bash",
      arguments: [
        "-c",
        "mkfifo a.svg; timeout 20 cat a.svg >got.svg & \(draw) a.svg; wait; test -p a.svg && "
          + "\(draw) - | cmp - got.svg && \(draw) /dev/stdout | cmp - got.svg",
      ], environment: ["CI": nil], folder: workplace.folder.url)
    #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    let drawing = try String(contentsOf: workplace.folder.file("got.svg"), encoding: .utf8)
    #expect(drawing.hasPrefix("<svg xmlns="))
  }
}
