import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeReport
@testable import RetakeSuite

/// A user's source that cannot be opened.
private struct Unplugged: FrameSource {
  struct CameraGone: Error {}

  let error: any Error
  func open() throws -> any FrameReader { throw error }

  func pipeline(_ name: String) -> Pipeline {
    Pipeline.named(name).source(
      AnyStage(
        signature: StageSignature(
          kind: "unplugged", version: 1, role: .source, input: nil, output: .frame),
        options: .object([:]), body: .source(self))
    ).gray().motion().results()
  }
}

/// Errors of one case, or of retake.yml, and their effect on the rest.
@Suite struct ProjectTroubleTests {
  @Test func `a source that cannot be opened is its case's error, with its own code`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  coded: {pipeline: 'example:coded'}\n  plain: {pipeline: 'example:plain'}\n"
        + "  motion: {pipeline: motion.json}\nsuites:\n"
        + "  default: [{sessions: [yard], cases: [coded, plain, motion]}]\n")
    try fixture.record("yard")
    let gone = StageError(code: "camera.gone", message: "no camera answers")
    let outcome = try fixture.test {
      $0.project.pipelines = [
        Unplugged(error: gone).pipeline("coded"),
        Unplugged(error: Unplugged.CameraGone()).pipeline("plain"),
      ]
    }
    #expect(outcome.status == Status.error)
    let cases = outcome.document.cases
    #expect(cases.map(\.verdict) == [.errored, .errored, .missing])
    #expect(cases.map(\.error?.code) == ["camera.gone", "error.CameraGone", nil])
    #expect(cases.first?.error?.message == "no camera answers")
  }

  @Test func `a session that is not there is the error of its own cases, and the others run`()
    throws
  {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\nsuites:\n"
        + "  default: [{sessions: [yard, yrad, 'my clip'], cases: [motion]}]\n")
    try fixture.record("yard")
    try fixture.pretend("my clip")
    _ = try fixture.test()
    _ = try fixture.accept("yard")
    let outcome = try fixture.test { $0.reportFolder = "report" }
    #expect(outcome.status == Status.error)
    let cases = outcome.document.cases
    #expect(cases.map(\.title) == ["yard/motion", "yrad/motion", "my clip/motion"])
    #expect(cases.map(\.verdict) == [.passed, .errored, .errored])
    #expect(
      cases.map(\.error?.code) == [nil, "suite.select.noSession", "suite.select.badSessionName"])
    #expect(cases[1].error?.advice == "Did you mean 'yard'?")
    #expect(cases[1].commands == [])
    #expect(fixture.exists("report/junit.xml"))

    // A session requested by name does not exist: there is no other request to continue with.
    var selection = Selection()
    selection.sessions = ["yrad"]
    #expect(throws: SuiteError.self) { try fixture.test { $0.selection = selection } }
  }

  @Test func `cases that name each other are an error, not a crash`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  a: {pipeline: b}\n  b: {pipeline: a}\n  c: {pipeline: d}\n"
        + "  d: {pipeline: motion.json}\n")
    try fixture.record("yard")
    let cases = try fixture.test().document.cases
    let errors = cases.map { $0.error?.code }
    #expect(errors.filter { $0 == "suite.project.malformed" }.count == 2)
    #expect(cases.count { $0.verdict == .missing } == 2)
  }

  @Test func `a retake.yml that is too large, a link or a pipe says so`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("retake.yml").path
    func refusal() -> SuiteError? {
      do {
        _ = try Project(reading: folder.url.path)
        return nil
      } catch {
        return error as? SuiteError
      }
    }
    try folder.write("v: 1\n#" + String(repeating: " ", count: 1 << 20), to: "retake.yml")
    #expect(refusal()?.cause == "it has 1048582 bytes; at most 1048576 are read")
    #expect(refusal()?.advice?.contains("permissions") == false)

    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/dev/zero")
    #expect(refusal()?.cause == "it is a symbolic link")
    try FileManager.default.removeItem(atPath: file)
    try #require(mkfifo(file, 0o600) == 0)
    #expect(refusal()?.cause == "it is a named pipe, not a file")
  }

  @Test func `a pipeline file that is not there names the files beside it`() throws {
    let fixture = try ProjectFixture("v: 1\ncases:\n  lost: {pipeline: moton.json}\n")
    try fixture.record("yard")
    let error = try #require(try fixture.test().document.cases.first?.error)
    #expect(error.code == "suite.select.noPipeline")
    #expect(error.advice == "Did you mean 'motion.json'?")
  }

  @Test func `a document is suggested to one who leaves out its folder and its ending`() throws {
    let fixture = try ProjectFixture("v: 1\ncases:\n  face: {pipeline: mood}\n")
    try fixture.record("yard")
    try fixture.folder.write(#"{"v":1,"nodes":[]}"#, to: "Pipelines/mood.json")
    let error = try #require(try fixture.test().document.cases.first?.error)
    #expect(error.advice == "Did you mean 'Pipelines/mood.json'?")
  }

  @Test func `a pipeline file that is not there may be one in Pipelines, and no sidecar is one`()
    throws
  {
    let fixture = try ProjectFixture("v: 1\ncases:\n  mood: {pipeline: mood.json}\n")
    try fixture.record("yard")
    try fixture.folder.write(#"{"v":1,"nodes":[]}"#, to: "Pipelines/mood.json")
    try fixture.folder.write(#"{"v":1,"decoder":"probabilities"}"#, to: "mood.model.json")
    let error = try #require(try fixture.test().document.cases.first?.error)
    #expect(error.advice?.contains("Pipelines/mood.json") == true, "\(error.advice ?? "nothing")")
    #expect(error.advice?.contains("mood.model.json") == false)
  }

  @Test func `a golden of a session that is not there stays, and others are listed`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\nsuites:\n"
        + "  default: [{sessions: [yard], cases: [motion]}]\n")
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    let golden = fixture.folder.file("Goldens/yard/motion")
    try FileManager.default.createDirectory(
      at: fixture.folder.file("Goldens/gone"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: golden, to: fixture.folder.file("Goldens/gone/motion"))
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/yard"))
    let stale = StaleGoldens(project: try fixture.project())
    #expect(try stale.items().map(\.key) == ["gone/motion"])
    #expect(try stale.problems().map(\.code) == ["suite.select.noSession"])
    #expect(try stale.remove(isCI: false).map(\.key) == ["gone/motion"])
    #expect(fixture.exists("Goldens/yard/motion/golden.yml"))
  }

  @Test func `a rule of a sink that no pipeline has is an error with the likely name`() throws {
    let rules = "compare:\n  boxse: {position: 1}\n"
    let fixture = try ProjectFixture("v: 1\ncases:\n  motion: {pipeline: motion.json}\n" + rules)
    try fixture.record("yard")
    let error = #expect(throws: SuiteError.self) { try fixture.test() }
    #expect(error?.place?.pointer == "/compare/boxse")
    #expect(error?.message == "no pipeline of the project has a sink 'boxse'")
    #expect(error?.advice == "Did you mean 'boxes'?")
    #expect(!fixture.exists("Goldens"))

    // A mode's name and a sink of any pipeline are valid. A pipeline that cannot be read is an
    // error of its case alone.
    try fixture.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\ncompare:\n  pictures: {pictureEvery: 2}\n",
      to: Project.fileName)
    #expect(try fixture.test().status == Status.missingGolden)
    try fixture.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n  lost: {pipeline: lost.json}\n" + rules,
      to: Project.fileName)
    let outcome = try fixture.test()
    #expect(outcome.document.cases.count { $0.verdict == .errored } == 1)
    #expect(outcome.document.cases.first { $0.verdict == .errored }?.commands == [])
  }
}
