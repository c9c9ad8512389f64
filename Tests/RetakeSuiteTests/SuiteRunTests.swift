import Foundation
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Fails unrecoverably at the fourth frame.
private struct GivesUp: PureStage {
  static let kind = "gives-up"

  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) throws -> Frame {
    guard context.frame.sequence < 3 else {
      throw StageError(code: "gives-up.now", message: "no more", severity: .unrecoverable)
    }
    return input
  }
}

@Suite struct SuiteRunTests {

  private static let pendingFiles = [
    "decisions.gold.new", "golden.yml.new", "results-00000.gold.new",
  ]

  private func yard() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    return fixture
  }

  private func isPending(_ fixture: ProjectFixture, in root: String = "Goldens") -> Bool {
    Self.pendingFiles.allSatisfy(fixture.files("\(root)/yard/motion").contains)
  }

  @Test func `a missing golden is written as pending, accepted, and then passes`() throws {
    let fixture = try yard()
    let first = try fixture.test()
    #expect(first.status == Status.missingGolden)
    #expect(isPending(fixture))
    #expect(!fixture.exists("Goldens/yard/motion/golden.yml"))

    let items = try fixture.accept()
    #expect(items.map(\.key) == ["yard/motion"])
    #expect(items.map(\.kind) == ["new"])
    #expect(items.map(\.frames) == [12])
    #expect(try fixture.test().status == Status.passed)
    #expect(fixture.files("Goldens").allSatisfy { !$0.hasSuffix(".new") })
  }

  @Test func `each case has a trace where they are wanted, and a case that fails has none`() throws
  {
    let fixture = try yard()
    _ = try fixture.test { $0.traceFolder = "traces" }
    #expect(fixture.files("traces") == ["yard/motion.json"])
    let data = try Data(contentsOf: fixture.folder.file("traces/yard/motion.json"))
    let trace = TraceFile(data)
    #expect(trace.problems == [])
    #expect(trace.about["session"] == "yard")
    #expect(trace.names("b").count { $0 == "frame" } == 12)

    try fixture.change(#""kind": "grey""#, to: #""kind": "gives-up""#)
    let status = try fixture.test {
      $0.project.registry.register(GivesUp.self)
      $0.traceFolder = "others"
    }.status
    #expect(status == Status.error)
    #expect(!fixture.exists("others"))
  }

  @Test func `a change waits beside the golden until it passes again`() throws {
    let fixture = try yard()
    _ = try fixture.test()
    _ = try fixture.accept()
    let accepted = fixture.files("Goldens")

    try fixture.change("24", to: "26")
    let changed = try fixture.test()
    #expect(changed.status == Status.regression)
    #expect(isPending(fixture))
    let cause = try #require(changed.document.cases.first?.rootCauses.first)
    #expect(cause.stage == "motion")

    try fixture.change("24", to: "24")
    #expect(try fixture.test().status == Status.passed)
    #expect(fixture.files("Goldens") == accepted)
  }

  @Test(arguments: ["results-00000.gold", "decisions.gold", "golden.yml"])
  func `a damaged golden is an error and not a comparison of nothing`(file: String) throws {
    let fixture = try yard()
    _ = try fixture.test()
    _ = try fixture.accept()
    let golden = try #require(fixture.files("Goldens").first { $0.hasSuffix("/" + file) })
    try Data("#retake 1 nonsense\n".utf8).write(
      to: fixture.folder.file("Goldens").appending(path: golden))
    let outcome = try fixture.test()
    #expect(outcome.status == Status.error)
    #expect(outcome.document.cases.first?.reason.contains(file) == true)
  }

  @Test func `a run without a frame compared nothing`() {
    var result = CaseResult(
      selected: SelectedCase(
        definition: CaseDefinition(name: "motion", pipeline: "p.json"), session: "yard"),
      comparison: Comparison(key: "yard/motion", verdict: .errored),
      golden: GoldenFolder(URL(filePath: "golden")), actual: GoldenFolder(URL(filePath: "run")))
    #expect(result.exitStatus(isCI: true) == .error)
    result.summary = RunSummary(
      pipeline: "p", mode: "every-frame", workers: 1, frames: FrameLedger(), decisionDigest: .zero,
      resultDigest: .zero)
    #expect(result.exitStatus(isCI: true) == .nothingCompared)
    result.summary?.frames.captured = 1
    #expect(result.exitStatus(isCI: true) == .error)
  }

  @Test func `in CI nothing is written among the goldens`() throws {
    let fixture = try yard()
    let outcome = try fixture.test { $0.isCI = true }
    #expect(outcome.status == Status.missingGolden)
    #expect(!fixture.exists("Goldens"))

    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.change("24", to: "26")
    let before = fixture.files("Goldens")
    #expect(try fixture.test { $0.isCI = true }.status == Status.regression)
    #expect(fixture.files("Goldens") == before)
  }

  @Test func `pending goldens go where they are told, also in CI, and are accepted from there`()
    throws
  {
    let fixture = try yard()
    let outcome = try fixture.test {
      $0.isCI = true
      $0.pendingFolder = "artefacts"
    }
    #expect(outcome.status == Status.missingGolden)
    #expect(isPending(fixture, in: "artefacts"))
    #expect(!fixture.exists("Goldens"))

    let items = try fixture.accept { $0.pendingFolder = "artefacts" }
    #expect(items.map(\.key) == ["yard/motion"])
    #expect(fixture.exists("Goldens/yard/motion/golden.yml"))
    #expect(fixture.files("artefacts").isEmpty)
  }

  @Test func `a golden that nothing produces warns on a desk and fails in CI`() throws {
    let fixture = try yard()
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.copyItem(
      at: fixture.folder.file("Goldens/yard/motion"),
      to: fixture.folder.file("Goldens/yard/gone"))
    let desk = try fixture.test()
    #expect(desk.status == Status.passed)
    #expect(
      desk.document.cases.map(\.verdict).sorted { $0.rawValue < $1.rawValue }
        == [.passed, .stale])
    #expect(try fixture.test { $0.isCI = true }.status == Status.staleOrNotComparable)
    // Only the selection is searched.
    let narrow = try fixture.test {
      $0.isCI = true
      $0.selection.sessions = ["yard/motion"]
    }
    #expect(narrow.status == Status.passed)
  }

  @Test func `a golden of another suite is not stale`() throws {
    let fixture = try ProjectFixture(
      """
      v: 1
      cases:
        motion: {pipeline: motion.json}
        slow: {pipeline: motion.json, mode: simulate, seed: 1}
      suites:
        default: [{sessions: ["*"], cases: [motion]}]
        nightly: [{sessions: [yard], cases: [slow]}]
      """)
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.copyItem(
      at: fixture.folder.file("Goldens/yard/motion"),
      to: fixture.folder.file("Goldens/yard/gone"))
    let nightly = try fixture.test {
      $0.isCI = true
      $0.selection.suite = "nightly"
    }
    // The golden of the other suite is known, and the golden that no suite produces is stale in
    // both.
    #expect(
      nightly.document.cases.filter { $0.verdict == .stale }.map(\.title) == ["yard/gone"])
    let other = try fixture.test { $0.isCI = true }
    #expect(other.document.cases.filter { $0.verdict == .stale }.map(\.title) == ["yard/gone"])
  }

  @Test func `of a budget alone nothing can be accepted, so adopting is advised`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json, mode: simulate}\n"
        + "budgets: {latencyMax: 1ms}\n")
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    let outcome = try fixture.test()
    #expect(outcome.status == Status.regression)
    let causes = try #require(outcome.document.cases.first).rootCauses
    let commands = causes.flatMap(\.commands).map(\.command)
    #expect(commands.contains { $0.hasSuffix("golden sync-rules yard/motion") }, "\(commands)")
    #expect(!commands.contains { $0.contains(" accept ") })
  }

  @Test func `a session whose database is lost is an error, and its golden is kept`() throws {
    let fixture = try yard()
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/yard/session.sqlite"))
    let outcome = try fixture.test()
    #expect(outcome.status == Status.error)
    #expect(outcome.document.cases.map(\.verdict) == [.errored])
    let stale = StaleGoldens(project: try fixture.project())
    #expect(try stale.items().isEmpty)
    #expect(try stale.remove(isCI: false).isEmpty)
    #expect(fixture.exists("Goldens/yard/motion/golden.yml"))
  }

  @Test func `another session under the same name cannot be compared`() throws {
    let fixture = try yard()
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/yard"))
    try fixture.record("yard", seed: 2)
    let outcome = try fixture.test()
    #expect(outcome.status == Status.staleOrNotComparable)
    #expect(outcome.document.cases.map(\.verdict) == [.notComparable])
  }

  @Test func `one broken case is its own verdict, and the others are still run`() throws {
    let fixture = try yard()
    try fixture.record("lane")
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/lane/media"))
    let outcome = try fixture.test()
    #expect(outcome.status == Status.error)
    #expect(outcome.document.cases.map(\.verdict) == [.errored, .passed])
    #expect(outcome.document.cases.first?.error?.code == "session.media.missing")
  }

  @Test func `a failing case leaves no folder behind`() throws {
    let fixture = try yard()
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/yard/media"))
    #expect(try fixture.test().status == Status.error)
    #expect(!fixture.exists("Goldens"))
  }

  @Test func `a run that a stage halts is an error, and no golden`() throws {
    let fixture = try yard()
    try fixture.change("\"motion\", \"options\": {\"threshold\": 24}", to: "\"gives-up\"")
    let outcome = try fixture.test { $0.project.registry.register(GivesUp.self) }
    #expect(outcome.status == Status.error)
    let error = try #require(outcome.document.cases.first?.error)
    #expect(error.code == "suite.run.halted")
    #expect(error.message.contains("frame 0:") && error.message.contains(", stage motion: "))
    #expect(!fixture.exists("Goldens"))
  }

  @Test func `an interrupted test is no result and leaves nothing`() throws {
    let fixture = try yard()
    let asked = Locked(0)
    #expect(throws: RuntimeError.interrupted) {
      try fixture.test {
        $0.reportFolder = "report"
        $0.options.isInterrupted = {
          asked.withLock { count in
            count += 1
            return count > 20
          }
        }
      }
    }
    #expect(asked.withLock { $0 } > 20)
    #expect(!fixture.exists("Goldens"))
    #expect(!fixture.exists("report"))
  }

  @Test func `the report's files are written, and name the commands of the case`() throws {
    let fixture = try yard()
    let outcome = try fixture.test {
      $0.reportFolder = "report"
      $0.selection.sessions = ["yard"]
      $0.selection.cases = ["motion"]
    }
    #expect(
      fixture.files("report") == [
        "codequality.json", "junit.xml", "report.html", "report.json", "summary.md",
      ])
    let commands = outcome.document.cases.flatMap(\.commands).map(\.command)
    #expect(
      commands == [
        "retake replay yard --pipeline motion",
        "retake accept yard/motion --reason \"why it is right\"",
      ])
  }

  @Test func `a case of its own names its tracks and mode in the command to replay it`() throws {
    let fixture = try yard()
    var definition = CaseDefinition(name: "own", pipeline: "motion.json")
    (definition.mode, definition.seed, definition.tracks) = (.simulate, 3, ["camera": 0])
    let outcome = try fixture.test { $0.selection.definition = definition }
    #expect(
      outcome.document.cases.first?.commands.first?.command
        == "retake replay yard --pipeline motion.json --mode simulate --seed 3 --track camera=0")
  }

  @Test func `rules that changed since a golden was accepted are told, and the golden's are used`()
    throws
  {
    let fixture = try yard()
    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.folder.write(
      ProjectFixture.document
        + "\ncompare: {boxes: {iou: 0.1, position: 100, score: 1}}\nbudgets: {droppedMax: 3}",
      to: Project.fileName)
    #expect(try fixture.test().document.cases.first?.notes.count == 2)
    try fixture.change("24", to: "26")
    #expect(try fixture.test().status == Status.regression)
  }

  @Test func `a slow run warns and is not judged`() throws {
    let fixture = try ProjectFixture(
      ProjectFixture.document + "\nminimumFramesPerSecond: 100000000")
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    let outcome = try fixture.test()
    #expect(outcome.status == Status.passed)
    #expect(outcome.warnings.count == 1)
  }
}

/// Where a test writes its report.
@Suite struct ReportPlaceTests {
  @Test func `a report that cannot be written does not hide the verdict`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    try fixture.folder.write("notes", to: "taken")
    let outcome = try fixture.test { $0.reportFolder = "taken" }
    #expect(outcome.status == .error && outcome.files.isEmpty)
    #expect(outcome.document.exit.code == 2)
    #expect(
      outcome.document.exit.meaning
        == "The cases were run, but a file with their results could not be written.")
    #expect(outcome.document.cases.map(\.verdict) == [.missing])
    let error = try #require(outcome.reportError)
    #expect(error.code == "report.folder.notWritten")
    #expect(error.advice?.hasPrefix("A file has the folder's name") == true, "\(error)")
  }

  @Test(arguments: ["report", "traces", "goldens", "pending"])
  func `no output of a test is written into a session`(output: String) throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    try FileManager.default.createSymbolicLink(
      atPath: fixture.folder.file("link").path,
      withDestinationPath: fixture.folder.file("Recordings/yard/media").path)
    let before = fixture.files("Recordings")
    for place in ["Recordings/yard", "Recordings/yard/media/new/folder", "link/new"] {
      let error = #expect(throws: SuiteError.self) {
        try fixture.test {
          switch output {
          case "report": $0.reportFolder = place
          case "traces": $0.traceFolder = place
          case "goldens": $0.goldens = $0.project.path(place)
          default: $0.pendingFolder = place
          }
        }
      }
      #expect(error?.code == "suite.output.overInput")
    }
    #expect(fixture.files("Recordings") == before)
  }
}
