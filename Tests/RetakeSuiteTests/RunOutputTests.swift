import Foundation
import RetakeCore
import RetakeProcess
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeSuite

@Suite struct RunOutputTests {
  private static func pipeline(_ sinks: String) -> String {
    """
    {"v": 1, "name": "two",
     "nodes": [
      {"id": "camera", "kind": "synthetic",
       "options": {"scene": "figures", "width": 96, "height": 64, "frames": 24}},
      {"id": "motion", "kind": "motion", "cost": {"fixed": "45ms"}},
      \(sinks)],
     "edges": [{"from": "camera", "to": "motion", "capacity": 1, "policy": "dropOldest"},
      {"from": "motion", "to": "analytics"}]}
    """
  }

  /// Runs the case `two` with these outputs.
  private func run(
    _ folder: TemporaryFolder, sinks: String = #"{"id": "analytics", "kind": "metadata"}"#,
    note: @escaping (String) -> Void = { _ in }, _ change: (inout ReplayJob) -> Void
  ) throws -> RunSummary {
    try folder.write(Self.pipeline(sinks), to: "two.json")
    var definition = CaseDefinition(name: "two", pipeline: "two.json")
    definition.mode = .simulate
    var job = ReplayJob(
      project: Project(folder: folder.url.path), definition: definition, session: nil)
    job.note = note
    change(&job)
    return try job.run()
  }

  private func names(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test
  func `what a killed run left behind does not keep its name, and what a living one makes does`()
    throws
  {
    let folder = try TemporaryFolder()
    let killed = try ChildProcess(ChildProcess.Request("/bin/true"))
    #expect(killed.wait() == .exited(0))
    try folder.write("half", to: "run/.writing-\(killed.id)-0.new/results.gold")
    let summary = try run(folder) { $0.destination = .run(folder.file("run").path) }
    #expect(summary.frames.captured == 24)
    let entries = try FileManager.default.contentsOfDirectory(atPath: folder.file("run").path)
    #expect(entries.contains("run.json") && !entries.contains { $0.hasPrefix(".") })
    let living = ".writing-1-0.new"
    try folder.write("half", to: "busy/\(living)/results.gold")
    let held = open(folder.file("busy/\(living)").path, O_RDONLY)
    defer { close(held) }
    #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
    #expect(throws: SuiteError.exists(path: folder.file("busy").path)) {
      try run(folder) { $0.destination = .run(folder.file("busy").path) }
    }
  }

  @Test func `a metadata sink's lines go to the file that is named, one a captured frame`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("boxes.jsonl")
    let summary = try run(folder) { $0.outputs.metadata = [MetadataOutput(path: file.path)] }
    #expect(try names(folder) == ["boxes.jsonl", "two.json"])
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      try JSONValue(parsing: Data($0.utf8))
    }
    #expect(lines.count == 24)
    let sinks = lines.compactMap { $0["sinks"]?["analytics"] }
    #expect(sinks.count == 24)
    #expect(summary.frames.droppedTotal > 0)
    #expect(sinks.count { $0["fate"] == .string("drop") } == summary.frames.droppedTotal)
    #expect(sinks.contains { $0["detections"] != nil })
    #expect(
      sinks.allSatisfy { ($0["fate"] == .string("deliver")) == ($0["ageMilliseconds"] != nil) })
  }

  @Test func `in a golden a metadata sink is like a results sink`() throws {
    let folder = try TemporaryFolder()
    let one = try run(folder) { $0.destination = .run("one") }
    let two = try run(folder, sinks: #"{"id": "analytics", "kind": "results"}"#) {
      $0.destination = .run("two")
    }
    #expect(one.resultDigest == two.resultDigest)
    let results = try ["one", "two"].map {
      try String(contentsOf: folder.file("\($0)/results-00000.gold"), encoding: .utf8)
    }
    #expect(results[0] == results[1])
    #expect(results[0].contains("\nD "))
  }

  @Test func `without a file a metadata sink writes none, and says how to get one`() throws {
    let folder = try TemporaryFolder()
    var notes: [String] = []
    _ = try run(folder, note: { notes.append($0) }) { _ in }
    #expect(try names(folder) == ["two.json"])
    #expect(
      notes == ["the lines of 'analytics' are written where you say: --metadata analytics=FILE"])
  }

  @Test(
    arguments: [
      (#"{"id": "analytics", "kind": "results"}"#, nil, "suite.metadata.none", "Add "),
      (
        #"{"id": "analytics", "kind": "metadata"}"#, "analytic", "suite.metadata.otherNode",
        "Did you mean 'analytics'?"
      ),
    ] as [(String, String?, String, String)])
  func `a metadata sink that is not there is refused, and nothing is written`(
    sinks: String, name: String?, code: String, advice: String
  ) throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: SuiteError.self) {
      try run(folder, sinks: sinks) {
        $0.outputs.trace = folder.file("trace.json").path
        $0.outputs.metadata = [MetadataOutput(sink: name, path: folder.file("a").path)]
      }
    }
    #expect(error?.code == code)
    #expect(error?.advice?.hasPrefix(advice) == true)
    #expect(try names(folder) == ["two.json"])
  }

  @Test func `outputs that would mix are refused`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("lines.txt").path
    for change: (inout RunOutputs) -> Void in [
      { ($0.decisions, $0.trace) = (path, folder.url.path + "/./lines.txt") },
      { ($0.follows, $0.trace) = (true, "-") }, { ($0.decisions, $0.trace) = ("/dev/stdout", "-") },
    ] {
      let error = #expect(throws: SuiteError.self) { try run(folder) { change(&$0.outputs) } }
      #expect(error?.code == "suite.output.same")
      #expect(try names(folder) == ["two.json"])
    }
  }

  @Test func `a trace appears when it is whole, and an interrupted run leaves none`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("trace.json").path
    _ = try run(folder) { $0.outputs.trace = path }
    let trace = TraceFile(try Data(contentsOf: folder.file("trace.json")))
    #expect(trace.problems == [])
    #expect(trace.about["case"] == "two" && trace.about["mode"] == "simulate")
    #expect(throws: RuntimeError.interrupted) {
      try run(folder) {
        $0.outputs.trace = folder.file("other.json").path
        $0.options.isInterrupted = { true }
      }
    }
    #expect(try names(folder) == ["trace.json", "two.json"])
  }
}
