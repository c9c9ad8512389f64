import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// Two boxes, the lower one first.
private struct Pair: PureStage {
  static let kind = "pair"

  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) -> Detections { Self.boxes }

  static let boxes = Detections(
    [40, 8].map { Detection(box: Box(x: 10, y: $0, width: 12, height: 12), score: 0.5) },
    classNames: ["thing"])
}

/// The same boxes, the upper one first.
private struct Turned: PureStage {
  static let kind = "pair"

  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) -> Detections {
    Detections(Pair.boxes.items.reversed(), classNames: Pair.boxes.classNames)
  }
}

/// A golden is compared in the form in which it was written, even if retake.yml has changed since.
@Suite struct GoldenOrderTests {
  private static let rule = "\ncompare: {boxes: {order: significant}}"

  private func accepted(_ rule: String) throws -> ProjectFixture {
    let fixture = try ProjectFixture(ProjectFixture.document + rule)
    try fixture.record("yard")
    try fixture.folder.write(
      """
      {"v": 1, "name": "pairs",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "pair", "kind": "pair"},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "pair"}, {"from": "pair", "to": "boxes"}]}
      """, to: "motion.json")
    _ = try test(fixture, Pair.self)
    _ = try fixture.accept()
    return fixture
  }

  private func test<Stage: PureStage>(
    _ fixture: ProjectFixture, _ stage: Stage.Type
  ) throws -> SuiteRun.Outcome where Stage.Options == NoOptions {
    try fixture.test { $0.project.registry.register(Stage.self) }
  }

  @Test func `an order that counts in the golden counts though retake.yml no longer says so`()
    throws
  {
    let fixture = try accepted(Self.rule)
    try fixture.folder.write(ProjectFixture.document, to: Project.fileName)
    let same = try test(fixture, Pair.self)
    #expect(same.status == Status.passed)
    let note = try #require(same.document.cases.first?.notes.first)
    #expect(note.contains("order: significant → any"), "\(note)")
    #expect(note.hasSuffix("retake golden sync-rules"), "\(note)")

    let turned = try test(fixture, Turned.self)
    #expect(turned.status == Status.regression)
    let root = try #require(turned.document.cases.first?.rootCauses.first)
    #expect(root.id == "pair@0:0")
  }

  @Test func `a new rule about order does not change the form of a golden that has none`() throws {
    let fixture = try accepted("")
    try fixture.folder.write(ProjectFixture.document + Self.rule, to: Project.fileName)
    #expect(try test(fixture, Pair.self).status == Status.passed)
    #expect(try test(fixture, Turned.self).status == Status.passed)
  }

  @Test func `an alternate keeps the rules of its golden`() throws {
    let fixture = try accepted(Self.rule)
    try fixture.folder.write(ProjectFixture.document, to: Project.fileName)
    _ = try test(fixture, Turned.self)
    _ = try fixture.accept { $0.asAlternate = true }
    #expect(try test(fixture, Turned.self).status == Status.passed)
    #expect(try test(fixture, Pair.self).status == Status.regression)
  }

  @Test func `a run with sorted boxes is not compared with a golden whose order counts`() throws {
    let fixture = try accepted(Self.rule)
    try fixture.folder.write(ProjectFixture.document, to: Project.fileName)
    var project = try fixture.project()
    project.registry.register(Turned.self)
    var job = ReplayJob(
      project: project, definition: try #require(project.cases.first),
      session: fixture.folder.file("Recordings/yard").path)
    job.destination = .run(fixture.folder.file("run").path)
    _ = try job.run()
    let difference = try RunDifference(
      golden: fixture.folder.file("Goldens/yard/motion").path,
      actual: fixture.folder.file("run").path
    ).run()
    #expect(difference.status == Status.staleOrNotComparable)
    #expect(difference.document.cases.first?.reason.contains("order: significant") == true)
  }
}
