import Foundation
import Retake
import RetakeTestSupport
import Testing

/// The job files of `ci init`: their lines run in a shell with the variables of the service.
@Suite struct CIInitTests {
  private func text(_ value: JSONValue?) -> String? {
    guard case .string(let text)? = value else { return nil }
    return text
  }

  private func list(_ value: JSONValue?) -> [JSONValue] {
    guard case .array(let list)? = value else { return [] }
    return list
  }

  /// The lines of a job without the installation, as the service's shell gets them.
  private func lines(_ job: JSONValue?) -> [String] {
    let steps = list(job?["steps"]).compactMap { text($0["run"]) }
    return (steps + list(job?["script"]).compactMap(text)).filter { !$0.hasPrefix("apt-get") }
  }

  private static let gitHub: [String: String?] = [
    "CI": "true", "GITHUB_ACTIONS": "true", "RETAKE_PENDING_DIR": "pending",
  ]

  private static let gitLab: [String: String?] = [
    "CI": "true", "GITLAB_CI": "true", "CI_NODE_TOTAL": "2", "RETAKE_PENDING_DIR": "pending",
  ]

  private func file(_ path: String, in place: Workplace) throws -> JSONValue? {
    try JSONValue(yaml: String(contentsOf: place.folder.file(path), encoding: .utf8))
  }

  @Test func `the lines of GitHub's job file test the shards and merge them`() throws {
    let place = try ShardCommandTests.changedProject()
    #expect(try place.retake("ci", "init", "github", "--shards", "2").status == 0)
    let jobs = try file(".github/workflows/retake.yml", in: place)?["jobs"]
    #expect(list(jobs?["test"]?["strategy"]?["matrix"]?["shard"]) == [.integer(1), .integer(2)])
    let tests = lines(jobs?["test"])
    #expect(tests.count == 1)
    for shard in ["1", "2"] {
      let line = tests[0].replacing("${{ matrix.shard }}", with: shard)
      let result = try place.type(line, environment: Self.gitHub)
      #expect(result.status == 1, "\(line): \(result.stderr)")
    }
    #expect(place.exists("pending/a/motion") && place.exists("pending/b/motion"))
    // As the artifacts of both jobs are downloaded.
    try FileManager.default.createDirectory(
      at: place.folder.file("blobs"), withIntermediateDirectories: true)
    for name in ["retake-1.blob", "retake-2.blob"] {
      try FileManager.default.moveItem(
        at: place.folder.file(name), to: place.folder.file("blobs/\(name)"))
    }
    let merges = lines(jobs?["merge"])
    #expect(merges.count == 2)
    let summary = place.folder.file("step-summary.md").path
    let results = try merges.map {
      try place.type(
        $0, environment: Self.gitHub.merging(["GITHUB_STEP_SUMMARY": summary]) { $1 })
    }
    #expect(results.map(\.status) == [1, 0], "\(results)")
    #expect(results[0].stderr.contains("::error"))
    #expect(try String(contentsOfFile: summary, encoding: .utf8).contains("a/motion"))
    #expect(jobs?["merge"]?["permissions"] == nil)
    #expect(jobs?["comment"]?["permissions"]?["pull-requests"] == .string("write"))
    let comment = lines(jobs?["comment"]).first
    #expect(
      comment?.hasSuffix("--edit-last --create-if-none --body-file report/summary.md") == true)
  }

  @Test func `the lines of GitLab's job file test the shards and merge them`() throws {
    let place = try ShardCommandTests.changedProject()
    #expect(try place.retake("ci", "init", "gitlab", "--shards", "2").status == 0)
    let jobs = try file(".gitlab-ci.yml", in: place)
    #expect(jobs?["retake-test"]?["parallel"] == .integer(2))
    for shard in ["1", "2"] {
      let result = try place.type(
        lines(jobs?["retake-test"]).joined(separator: "\n"),
        environment: Self.gitLab.merging(["CI_NODE_INDEX": shard]) { $1 })
      #expect(result.status == 1, "\(result.stderr)")
    }
    let merge = try place.type(
      lines(jobs?["retake-merge"]).joined(separator: "\n"), environment: Self.gitLab)
    #expect(merge.status == 1, "\(merge.stderr)")
    let reports = jobs?["retake-merge"]?["artifacts"]?["reports"]
    #expect(reports?["junit"] == .string("report/junit.xml") && place.exists("report/junit.xml"))
    let codeQuality = try #require(text(reports?["codequality"]))
    let issue = try JSON(Data(contentsOf: place.folder.file(codeQuality)))[0]
    #expect(issue["check_name"].text == "retake-changed")
    #expect(issue.location.path.text == "motion.json")
    let document = try String(contentsOf: place.folder.file("motion.json"), encoding: .utf8)
    let line = try #require(issue.location.lines.begin.int)
    let rows = document.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(rows[line - 1].contains("\"id\": \"motion\""), "\(rows[line - 1])")
  }

  @Test(arguments: ["github", "gitlab"])
  func `a job file that exists is replaced only by request`(service: String) throws {
    let place = try Workplace()
    try place.folder.write("mine", to: "jobs/ci.yml")
    let arguments = ["ci", "init", service, "--file", "jobs/ci.yml"]
    let refused = try place.retake(words: arguments)
    #expect(refused.status == 2 && refused.stderr.contains("[suite.output.exists]"))
    #expect(refused.stderr.contains("Replace it with --force"))
    let path = place.folder.file("jobs/ci.yml")
    #expect(try String(contentsOf: path, encoding: .utf8) == "mine")
    #expect(try place.retake(words: arguments + ["--force"]).stdout == "wrote jobs/ci.yml\n")
    #expect(try String(contentsOf: path, encoding: .utf8).contains("ci init \(service)"))
  }
}
