import Foundation
import RetakeTestSupport
import Testing

/// The output of `retake record` about its pipeline: lines during the recording, metadata and a
/// trace.
@Suite struct LiveFollowTests {
  /// Sixty synthetic frames, as fast as they are encoded: the pipeline accepts all of them.
  private static let record = [
    "record", "synthetic:figures", "--name", "yard", "--frames", "60", "--size", "64x48", "--speed",
    "max", "--pipeline", "example:motion-boxes",
  ]

  private func sh(_ workplace: Workplace, _ line: String) throws -> CommandResult {
    try runCommand(
      "bash", arguments: ["-c", line], environment: ["CI": nil], folder: workplace.folder.url)
  }

  private func quoted(_ words: [String]) -> String {
    ([Workplace.binary] + words).map { "'\($0)'" }.joined(separator: " ")
  }

  private func keys(_ json: JSON) -> [String] {
    (json.value as? [String: Any] ?? [:]).keys.sorted()
  }

  /// Whether the recorded session is complete.
  private func isWhole(_ workplace: Workplace) throws -> Bool {
    let info = try workplace.retake("session", "info", "yard", "--json").json()
    return info.status.text == "clean"
  }

  @Test(arguments: [[], ["--json"]])
  func `a followed recording prints a line a captured frame, then its summary`(
    more: [String]
  ) throws {
    let workplace = try Workplace()
    let result = try workplace.retake(words: Self.record + ["--follow"] + more)
    // A busy machine may drop frames, which is reported.
    let told = result.stderr.split(separator: "\n").filter { !$0.hasSuffix(" only counted") }
    try #require(result.status == 0 && told.isEmpty, "\(result.stderr)")
    let lines = try result.stdout.split(separator: "\n").map { try JSON(Data($0.utf8)) }
    let summary = try #require(lines.last).summary
    let frames = lines.dropLast()
    #expect(summary.closed.value as? Bool == true && summary.session.text == "yard")
    #expect(summary.status.text == "clean" && summary.frames.captured.int == 60)
    #expect(summary.pipeline.produced.int == 60)
    #expect(frames.count > 0 && summary.pipeline.accepted.int == frames.count)
    #expect(summary.lines.written.int == frames.count && summary.lines.dropped.int == 0)
    #expect(Set(frames.compactMap(\.sequence.int)).count == frames.count)
    // The form is the same as for a followed replay.
    let replay = try workplace.retake(
      "replay", "yard", "--pipeline", "example:motion-boxes", "--follow")
    let replayed = try JSON(Data(try #require(replay.stdout.split(separator: "\n").first).utf8))
    for frame in frames { #expect(keys(frame) == keys(replayed)) }
    let delivered = try #require(frames.first { $0.sinks.boxes.fate.text == "deliver" })
    #expect(keys(delivered.sinks.boxes).contains("ageMilliseconds"))
  }

  @Test func `a line can be read while it is recorded, and Ctrl-C closes the session`() throws {
    let workplace = try Workplace()
    let run = try LongRun(
      [
        "record", "synthetic:figures", "--name", "yard", "--frames", "100000", "--size", "64x48",
        "--probe", "skip", "--pipeline", "example:motion-boxes", "--follow",
      ], in: workplace)
    let line = run.firstLine()
    #expect(run.isRunning)
    run.readOn()
    #expect(try JSON(Data(line.utf8)).sequence.int != nil, "\(line)")
    #expect(run.end(SIGINT) == 130)
    #expect(try isWhole(workplace))
  }

  @Test(arguments: ["--follow", "--json"])
  func `a reader that has seen enough ends no recording`(option: String) throws {
    let workplace = try Workplace()
    let line = quoted(Self.record + [option])
    let result = try sh(workplace, "\(line) | head -n 1; echo ${PIPESTATUS[0]}")
    #expect(result.stdout.hasSuffix("\n0\n"), "\(result.stdout) \(result.stderr)")
    #expect(try isWhole(workplace))
    let info = try workplace.retake(
      "replay", "yard", "--pipeline", "example:motion-boxes", "--json")
    #expect(try info.json().frames.captured.int == 60)
  }

  @Test func `a disk that is full for the lines is an error, and the recording is whole`() throws {
    let workplace = try Workplace()
    let result = try sh(workplace, quoted(Self.record + ["--follow"]) + " >/dev/full")
    #expect(result.status == 2)
    let full = "standard output: the results cannot be written (No space left on device)"
    #expect(
      result.stderr.contains("warning: \(full); the recording continues"), "\(result.stderr)")
    let folder = workplace.folder.file("Recordings/yard").path
    #expect(
      result.stderr.hasSuffix(
        """
        error: \(full) [replay.results.unwritable]
          Send standard output to a file on a disk with free space, or to another program
          The session is closed and clean: 60 of 60 frames recorded, in \(folder)

        """), "\(result.stderr)")
    #expect(try isWhole(workplace))
    // The lines of an output that failed are counted all the same.
    try workplace.writePipeline(replacing: #""kind": "results""#, with: #""kind": "metadata""#)
    let words = [
      "record", "synthetic:figures", "--name", "other", "--frames", "60", "--size", "64x48",
      "--speed", "max", "--pipeline", "motion.json", "--follow", "--metadata", "boxes=/dev/full",
    ]
    let metadata = try sh(workplace, quoted(words) + " | tail -n 1")
    let summary = try metadata.json().summary
    #expect(summary.lines.written.int == summary.pipeline.accepted.int, "\(metadata.stdout)")
    #expect(summary.metadata[0].dropped.int == summary.pipeline.accepted.int)
  }

  @Test(arguments: [[], ["--json"]])
  func `a result that a full disk does not take says that the session is closed`(
    more: [String]
  ) throws {
    let workplace = try Workplace()
    let result = try sh(workplace, quoted(Self.record + more) + " >/dev/full")
    #expect(result.status == 2)
    #expect(result.stderr.contains("No space left on device"), "\(result.stderr)")
    let folder = workplace.folder.file("Recordings/yard").path
    #expect(
      result.stderr.contains(
        "  The session is closed and clean: 60 of 60 frames recorded, in \(folder)\n"),
      "\(result.stderr)")
    #expect(try isWhole(workplace))
  }

  /// The pipe holds a line or two: less than the lines of 60 frames, and less than the line of a
  /// single frame and the summary.
  @Test(arguments: ["60", "1"])
  func `a reader that never reads is named, and Ctrl-C does not wait for it`(
    frames: String
  ) throws {
    let workplace = try Workplace()
    let said = workplace.folder.file("said.txt")
    let record = Self.record.map { $0 == "60" ? frames : $0 } + ["--follow"]
    let line = "head -c 65000 /dev/zero; exec \(quoted(record)) 2>said.txt"
    let run = try LongRun(["-c", line], in: workplace, binary: "/bin/bash")
    func words() -> String { (try? String(contentsOf: said, encoding: .utf8)) ?? "" }
    #expect(run.wait { words().contains("waiting for the reader of the result lines") })
    #expect(run.end(SIGINT) == 130)
    #expect(words().contains("lines that were not read are dropped"), "\(words())")
    #expect(try isWhole(workplace))
  }

  @Test(arguments: [
    ["record", "synthetic:figures", "--name", "new", "--frames", "3", "--speed", "max"],
    ["replay", "yard"],
  ])
  func `a trace that no one reads is named`(words: [String]) throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 3)
    let words = words + ["--pipeline", "example:motion-boxes", "--trace", "/dev/fd/9"]
    let result = try sh(workplace, "exec 9> >(true); wait $!; " + quoted(words))
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stderr.contains("no one reads the trace any more"), "\(result.stderr)")
  }

  @Test func `metadata and a trace are written, and the trace can be made again later`() throws {
    let workplace = try Workplace()
    try workplace.writePipeline(
      replacing: #""kind": "results""#, with: #""kind": "metadata""#)
    let words = Array(Self.record.dropLast()) + ["motion.json"]
    let result = try workplace.retake(
      words: words + ["--metadata", "boxes=boxes.jsonl", "--trace", "trace.json", "--json"])
    try #require(result.status == 0, "\(result.stderr)")
    let lines = try result.stdout.split(separator: "\n").map { try JSON(Data($0.utf8)) }
    let closed = try #require(lines.first { $0.closed.value as? Bool == true })
    #expect(closed.session.text == "yard" && closed.status.text == "clean")
    #expect(closed.path.text?.hasSuffix("Recordings/yard") == true)
    let metadata = try #require(lines.last).metadata[0]
    let file = try String(contentsOf: workplace.folder.file("boxes.jsonl"), encoding: .utf8)
    #expect(metadata.written.int == closed.pipeline.accepted.int && metadata.dropped.int == 0)
    #expect(metadata.sink.text == "boxes" && metadata.file.text == "boxes.jsonl")
    #expect(file.split(separator: "\n").count == metadata.written.int)
    let trace = TraceFile(try Data(contentsOf: workplace.folder.file("trace.json")))
    #expect(trace.problems == [] && trace.names("B").contains { $0.hasPrefix("motion ") })
    let later = try workplace.retake(
      "replay", "yard", "--mode", "reproduce", "--trace", "later.json")
    #expect(later.status == 0, "\(later.stderr)")
    #expect(
      try Data(contentsOf: workplace.folder.file("later.json"))
        == Data(contentsOf: workplace.folder.file("trace.json")))
    #expect(
      try workplace.topNames().allSatisfy {
        !$0.hasPrefix(".trace.json.") && !$0.hasPrefix(".boxes.jsonl.")
      })
  }

  @Test func `a trace on standard output has it alone`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake(words: Self.record + ["--trace", "-"])
    try #require(result.status == 0, "\(result.stderr)")
    #expect(TraceFile(result.stdoutBytes).problems == [])
    #expect(result.stderr.contains("60 of 60 frames recorded"), "\(result.stderr)")
  }

  @Test(arguments: [
    (["--follow", "--trace", "-"], 64, "standard output can take only one stream"),
    (["--trace", "-", "--json"], 64, "--json and a FILE of '-'"),
    (["--trace", "absent/trace.json"], 2, "replay.trace.unwritable"),
    (["--metadata", "boxes=a.jsonl"], 2, "suite.metadata.none"),
    (["--trace", "Recordings/yard/trace.json"], 2, "suite.output.overInput"),
  ])
  func `outputs that cannot be are refused with advice, and nothing is recorded`(
    more: [String], status: Int32, said: String
  ) throws {
    let workplace = try Workplace()
    let before = try workplace.listing()
    let result = try workplace.retake(words: Self.record + more)
    #expect(result.status == status, "\(result.stderr)")
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.contains(said), "\(result.stderr)")
    #expect(try workplace.listing() == before)
  }

  @Test(arguments: ["--follow", "--metadata=a.jsonl", "--trace=a.json"])
  func `what a pipeline would say needs a pipeline`(option: String) throws {
    let workplace = try Workplace()
    let result = try workplace.retake("record", "synthetic:figures", "--frames", "3", option)
    #expect(result.status == 64)
    #expect(result.stderr.contains(" goes with --pipeline"), "\(result.stderr)")
    #expect(!workplace.exists("Recordings"))
  }

  @Test func `the file that is recorded is never written over`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10", "-t", "1", "-c:v", "mpeg4", "clip.mkv")
    let before = try Data(contentsOf: workplace.folder.file("clip.mkv"))
    let result = try workplace.retake(
      "record", "clip.mkv", "--pipeline", "example:motion-boxes", "--trace", "./clip.mkv")
    #expect(result.status == 2 && result.stderr.contains("the file that is recorded"))
    #expect(try Data(contentsOf: workplace.folder.file("clip.mkv")) == before)
  }
}
