import Foundation
import Retake
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeTesting

@Suite struct RetakeCaseTests {
  private func project() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.pretend("yard-1", "yard-2", "street")
    return fixture
  }

  private func names(_ cases: [RetakeCase]) -> [String] { cases.map(\.testDescription) }

  @Test func `the cases are those of the suite, and no pipeline is read`() throws {
    let fixture = try project()
    try fixture.folder.write("not a pipeline", to: "motion.json")
    let folder = fixture.folder.url.path
    #expect(
      names(RetakeCase.all(project: folder)) == ["street/motion", "yard-1/motion", "yard-2/motion"])
    #expect(
      names(RetakeCase.all(suite: "slow", project: folder)) == [
        "yard-1/motion", "yard-1/slow", "yard-2/motion", "yard-2/slow",
      ])
    #expect(
      names(RetakeCase.all("yard-*/slow", suite: "slow", project: folder)) == [
        "yard-1/slow", "yard-2/slow",
      ])
  }

  @Test func `an empty selection is one case that says why`() throws {
    let folder = try project().folder
    let cases = RetakeCase.all("nothing-*", project: folder.url.path)
    #expect(names(cases) == ["no cases"])
    guard case .none(let reason)? = cases.first?.content else {
      Issue.record("\(cases)")
      return
    }
    #expect(reason.contains("no case is selected"))
  }

  @Test func `a case is encoded by its name`() throws {
    let fixture = try project()
    let cases = RetakeCase.all("street", project: fixture.folder.url.path)
    let encoded = try JSONEncoder().encode(cases.map { Argument($0) })
    #expect(String(decoding: encoded, as: UTF8.self) == "[\"street\\/motion\"]")
  }

  private struct Argument: Encodable {
    var value: RetakeCase

    init(_ value: RetakeCase) { self.value = value }

    func encode(to encoder: any Encoder) throws { try value.encodeTestArgument(to: encoder) }
  }

  @Test func `the project is the nearest one above the file`() throws {
    let folder = try TemporaryFolder()
    try folder.write("v: 1\n", to: "retake.yml")
    try folder.write("v: 1\n", to: "Replays/retake.yml")
    let file = try folder.write("", to: "Tests/AppTests/AppTests.swift").path
    #expect(try HostedProject.folder(named: ".", near: file) == folder.url.path)
    #expect(
      try HostedProject.folder(named: "Replays", near: file) == folder.file("Replays").path)
    #expect(throws: SuiteError.noProjectFound(name: "Ghost", near: file)) {
      try HostedProject.folder(named: "Ghost", near: file)
    }
  }
}
