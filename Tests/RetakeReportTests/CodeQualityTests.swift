import Foundation
import RetakeCore
import Testing

@testable import RetakeReport

/// The array that GitLab reads: docs.gitlab.com/ci/testing/code_quality, "Code Quality report format".
@Suite struct CodeQualityTests {
  private struct Issue: Decodable, Hashable {
    enum Severity: String, Decodable { case info, minor, major, critical, blocker }
    struct Location: Decodable, Hashable {
      struct Lines: Decodable, Hashable { var begin: Int }
      var path: String
      var lines: Lines
    }

    var description: String
    var checkName: String
    var fingerprint: String
    var severity: Severity
    var location: Location

    enum CodingKeys: String, CodingKey {
      case description, checkName = "check_name", fingerprint, severity, location
    }
  }

  private func issues(_ document: ReportDocument, place: String = "") throws -> [Issue] {
    try JSONDecoder().decode([Issue].self, from: CodeQualityReport.render(document, place: place))
  }

  @Test func `a root cause is an issue at the line of its stage`() throws {
    var document = Samples.regression()
    document.cases[1].document = "Pipelines/motion-boxes.json"
    document.cases[1].rootCauses[0].line = 4
    let found = try issues(document)
    #expect(found.count == 1)
    #expect(found[0].location.path == "Pipelines/motion-boxes.json")
    #expect(found[0].location.lines.begin == 4)
    #expect(found[0].severity == .major && found[0].checkName == "retake-changed")
    #expect(
      found[0].description == "yard/motion: first divergence at frame 0:120 (t = 4.000 s), stage "
        + "motion: output differs while its inputs are equal; 312 findings, 906 later differences "
        + "that follow; worst: box moved by 0.4 px")
    // GitLab recognizes an issue of the other branch by its fingerprint, also with other words.
    document.cases[1].rootCauses[0].downstream = 3
    #expect(try issues(document)[0].fingerprint == found[0].fingerprint)
    document.cases[1].rootCauses[0].id = "r2"
    #expect(try issues(document)[0].fingerprint != found[0].fingerprint)
  }

  @Test func `the paths of a project in a subfolder are relative to the repository`() throws {
    var document = Samples.regression()
    for (file, path) in [
      (nil, "apps/vision/retake.yml"), ("motion.json", "apps/vision/motion.json"),
      ("./Pipelines/../motion.json", "apps/vision/motion.json"),
      ("../shared/motion.json", "apps/shared/motion.json"),
    ] {
      document.cases[1].document = file
      #expect(try issues(document, place: "apps/vision").map(\.location.path) == [path])
    }
  }

  @Test func `every verdict has its severity, and a case that passed has no issue`() throws {
    let found = try issues(Samples.allVerdicts())
    #expect(
      found.map(\.severity) == [.major, .critical, .minor, .minor, .minor, .info])
    #expect(found.last?.checkName == "retake-changed")
    #expect(found.allSatisfy { $0.location == .init(path: "retake.yml", lines: .init(begin: 1)) })
    #expect(try CodeQualityReport.render(Samples.passedOnly()) == Data("[]\n".utf8))
  }

  @Test func `labels stay strings, and each issue has another fingerprint`() throws {
    let found = try issues(Hostile.document())
    #expect(Set(found.map(\.fingerprint)).count == found.count)
    #expect(found.allSatisfy { !$0.description.contains("\u{1B}") && !$0.description.isEmpty })
  }
}
