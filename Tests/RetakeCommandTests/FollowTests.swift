import Foundation
import RetakeTestSupport
import Testing

/// The output of a replay during the run: result lines, metadata, traces.
@Suite struct FollowTests {
  private static let replay = [
    "replay", "yard", "--pipeline", "example:motion-boxes", "--mode", "simulate",
  ]

  private func yard(frames: Int = 40) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: frames, size: "64x48")
    return workplace
  }

  private func sh(_ workplace: Workplace, _ line: String) throws -> CommandResult {
    try runCommand(
      "bash", arguments: ["-c", line], environment: ["CI": nil], folder: workplace.folder.url)
  }

  /// The command as a shell writes it.
  private func quoted(_ words: [String]) -> String {
    ([Workplace.binary] + words).map { "'\($0)'" }.joined(separator: " ")
  }

  @Test func `a followed replay prints a line a frame, then its summary, the same each time`()
    throws
  {
    let workplace = try yard()
    var frames: Set<String> = []
    var summaries: Set<String> = []
    for workers in 0...8 {
      let result = try workplace.retake(
        words: Self.replay + ["--follow", "--workers", "\(workers)"])
      #expect(result.status == 0 && result.stderr.isEmpty, "\(result.stderr)")
      let lines = result.stdout.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == 42 && lines.last == "")
      frames.insert(lines.prefix(40).joined(separator: "\n"))
      var summary = try #require(
        JSON(Data(lines[40].utf8)).summary.value as? [String: Any], "\(lines[40])")
      for key in ["workers", "wallSeconds", "framesPerSecond"] {
        #expect(summary.removeValue(forKey: key) != nil)
      }
      summaries.insert(
        String(
          decoding: try JSONSerialization.data(withJSONObject: summary, options: .sortedKeys),
          as: UTF8.self))
    }
    #expect(frames.count == 1)
    #expect(summaries.count == 1)
    #expect(summaries.first?.contains(#""captured":40"#) == true)
  }

  @Test(arguments: ["0", "1", "2", "4"])
  func `a frame's line can be read while a later frame is still computed`(workers: String) throws {
    let workplace = try yard(frames: 6)
    try workplace.folder.write(
      """
      {"v": 1, "name": "hang",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "light", "kind": "luminance"},
        {"id": "stage", "kind": "hangs"}, {"id": "out", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "light"}, {"from": "light", "to": "stage"},
        {"from": "stage", "to": "out"}]}
      """, to: "hang.json")
    // The second frame never returns: this run ends only through the watchdog.
    let run = try LongRun(
      [
        "replay", "yard", "--pipeline", "hang.json", "--follow", "--workers", workers,
        "--watchdog", "300",
      ], in: workplace, binary: Workplace.impureBinary)
    let line = run.firstLine()
    #expect(run.isRunning)
    _ = run.end(SIGKILL)
    #expect(try JSON(Data(line.utf8)).sequence.int == 0, "\(line)")
  }

  @Test func `with JSON asked for, the lines of a followed replay are the same`() throws {
    let workplace = try yard(frames: 10)
    let plain = try workplace.retake(words: Self.replay + ["--follow"]).stdout
    let json = try workplace.retake(words: Self.replay + ["--follow", "--json"]).stdout
    let lines = [plain, json].map { $0.split(separator: "\n") }
    #expect(lines[0].count == 11)
    #expect(lines[0].dropLast() == lines[1].dropLast())
    for line in lines[1] { #expect(throws: Never.self) { try JSON(Data(line.utf8)) } }
  }

  @Test func `a reader that has seen enough ends a long replay at once and in silence`() throws {
    let workplace = try Workplace()
    try workplace.folder.write(
      """
      {"v": 1, "name": "endless",
       "nodes": [
        {"id": "camera", "kind": "synthetic",
         "options": {"scene": "figures", "width": 64, "height": 48, "frames": 1000000}},
        {"id": "results", "kind": "results"}],
       "edges": [{"from": "camera", "to": "results"}]}
      """, to: "endless.json")
    let before = try workplace.listing()
    for more in [["--follow"], ["--trace", "-"], ["--decisions", "/dev/stdout"]] {
      let line = quoted(["replay", "--pipeline", "endless.json"] + more)
      let result = try sh(workplace, "\(line) | head -n 1; echo ${PIPESTATUS[0]}")
      #expect(result.stderr.isEmpty, "\(result.stderr)")
      let lines = result.stdout.split(separator: "\n")
      #expect(lines.count == 2 && lines.last == "0", "\(result.stdout.suffix(300))")
    }
    #expect(try workplace.listing() == before)
  }

  @Test func `a reader that leaves takes no file away`() throws {
    let workplace = try yard(frames: 200)
    let line = quoted(Self.replay + ["--follow", "--output", "run", "--trace", "trace.json"])
    let result = try sh(workplace, "\(line) | head -n 1; echo ${PIPESTATUS[0]}")
    #expect(result.stdout.hasSuffix("\n0\n"))
    #expect(workplace.exists("run/run.json") && workplace.exists("trace.json"))
  }

  @Test func `a disk that is full for the lines is an error`() throws {
    let workplace = try yard(frames: 10)
    for more in [["--follow"], ["--trace", "-"]] {
      let result = try sh(workplace, quoted(Self.replay + more) + " >/dev/full")
      #expect(result.status == 2)
      #expect(result.stderr.contains("error: standard output: the "), "\(result.stderr)")
      #expect(result.stderr.contains("No space left on device"), "\(result.stderr)")
      #expect(result.stderr.contains("\n  Send standard output to a file"), "\(result.stderr)")
    }
  }

  @Test(arguments: [("--trace", ""), ("--decisions", ""), ("--metadata", "boxes=")])
  func `a stream on standard output has it alone, whatever it leads to`(
    option: String, node: String
  ) throws {
    let workplace = try yard(frames: 10)
    try workplace.writePipeline(
      replacing: #""kind": "results""#, with: #""kind": "metadata""#)
    func replay(_ path: String) -> [String] {
      ["replay", "yard", "--pipeline", "motion.json", option, node + path]
    }
    let direct = try workplace.retake(words: replay("direct.txt"))
    #expect(direct.status == 0 && direct.stdout.contains("10 captured"))
    let expected = try Data(contentsOf: workplace.folder.file("direct.txt"))
    for (path, end) in [("-", ">out.txt"), ("-", "| cat >out.txt"), ("/dev/stdout", ">out.txt")] {
      let result = try sh(workplace, "\(quoted(replay(path))) \(end)")
      #expect(result.status == 0 && result.stderr.contains("10 captured"), "\(result.stderr)")
      #expect(try Data(contentsOf: workplace.folder.file("out.txt")) == expected, "\(path) \(end)")
    }
  }

  @Test func `a trace of the example keeps the format's rules`() throws {
    let workplace = try yard(frames: 60)
    let result = try workplace.retake(words: Self.replay + ["--trace", "trace.json"])
    #expect(result.status == 0)
    let trace = TraceFile(try Data(contentsOf: workplace.folder.file("trace.json")))
    #expect(trace.problems == [])
    #expect(trace.names("i").count { $0.hasPrefix("drop ") } == 13)
    #expect(trace.names("B").count { $0.hasPrefix("motion ") } == 47)
    #expect(trace.about["session"] == "yard")
    #expect(try workplace.topNames().allSatisfy { !$0.hasPrefix(".trace.json.") })
  }

  @Test(arguments: [
    (["--follow", "--trace", "-"], 64, "standard output can take only one stream"),
    (["--trace", "-", "--json"], 64, "--json and a FILE of '-'"),
    (["--trace", "absent/trace.json"], 2, "replay.trace.unwritable"),
    (["--metadata", "boxes=a.jsonl"], 2, "suite.metadata.none"),
    (["--trace", "a.json", "--decisions", "./a.json"], 64, "have the same file"),
  ])
  func `outputs that cannot be are refused with advice, and nothing is written`(
    more: [String], status: Int32, said: String
  ) throws {
    let workplace = try yard(frames: 3)
    let before = try workplace.listing()
    let result = try workplace.retake(words: Self.replay + more)
    #expect(result.status == status)
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.contains(said), "\(result.stderr)")
    #expect(try workplace.listing() == before)
  }
}
