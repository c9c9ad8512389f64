import Foundation
import RetakeGraph
import RetakeStages
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// The files that `init` writes for a program that registers pipelines.
@Suite struct ProjectStartTests {
  private func light(_ name: String) -> Pipeline {
    Pipeline.named(name).source(.session()).gray().luminance().results("light")
  }

  @Test func `each pipeline of the program has a case, and the suite runs all of them`() throws {
    let fixture = try ProjectFixture(nil)
    try fixture.record("yard", frames: 6)
    let pipelines = [light("front"), light("rear view"), light("rear-view")]
    var empty = try fixture.project()
    empty.pipelines = pipelines
    let made = try ProjectStart(empty).write()
    #expect(made.cases.map(\.name) == ["front", "rear-view", "rear-view-2"])
    #expect(
      made.cases.map(\.pipeline) == ["example:front", "example:rear view", "example:rear-view"])
    #expect(made.caseName == "front" && made.pipeline == "example:front")
    #expect(made.written == [".gitignore", "retake.yml"] && made.leftOut == [])

    let project = try fixture.project()
    #expect(project.cases.map(\.name).sorted() == ["front", "rear-view", "rear-view-2"])
    let outcome = try fixture.test { $0.project.pipelines = pipelines }
    #expect(outcome.status == Status.missingGolden)
    #expect(
      outcome.document.cases.map(\.title).sorted()
        == ["yard/front", "yard/rear-view", "yard/rear-view-2"])
  }

  @Test func `a pipeline that is named has the only case, and other documents are left out`() throws
  {
    let fixture = try ProjectFixture(nil)
    try fixture.folder.write(ProjectFixture.pipeline, to: "Pipelines/mine.json")
    try fixture.folder.write(ProjectFixture.pipeline, to: "Pipelines/other.json")
    var project = try fixture.project()
    project.pipelines = [light("front")]
    let made = try ProjectStart(project).write(pipeline: "./Pipelines/mine.json")
    #expect(made.cases.map(\.name) == ["motion-boxes"])
    #expect(made.leftOut == ["Pipelines/other.json"])
    #expect(try fixture.project().cases.map(\.name) == ["motion-boxes"])
  }
}
