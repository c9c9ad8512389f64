import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Which branch and commit a report is published with.
@Suite struct PublishedRevisionTests {
  private let folder: TemporaryFolder
  /// Of 1 January and of 1 February.
  private let commits: [String]

  init() throws {
    folder = try TemporaryFolder()
    try Self.git(["init", "-q", "-b", "main", "."], in: folder.url)
    for month in ["01", "02"] {
      try Self.commit("2026-\(month)-01", in: folder.url)
    }
    commits = try Self.git(["rev-list", "--reverse", "HEAD"], in: folder.url)
      .split(separator: "\n").map(String.init)
  }

  @discardableResult
  private static func git(_ words: [String], on day: String = "2026-02-01", in folder: URL) throws
    -> String
  {
    let result = try runCommand(
      "git", arguments: ["-c", "user.name=a", "-c", "user.email=a@example.org"] + words,
      environment: ["GIT_CONFIG_GLOBAL": "/dev/null", "GIT_COMMITTER_DATE": "\(day)T00:00:00Z"],
      folder: folder)
    try #require(result.status == 0, "\(result.stderr)")
    return result.stdout
  }

  private static func commit(_ day: String, in folder: URL) throws {
    try git(["commit", "-q", "--allow-empty", "-m", day], on: day, in: folder)
  }

  private func revision(
    at time: String?, in folder: URL? = nil, variables: [String: String] = [:]
  ) throws -> PublishedRevision {
    try PublishedRevision(
      branch: nil, commit: nil, at: time,
      in: Project(folder: (folder ?? self.folder.url).path), variables: variables)
  }

  @Test func `a report has the commit that was checked out when it was made`() throws {
    let days = [("2026-01-01", 0), ("2026-01-31", 0), ("2026-02-01", 1), ("2026-03-01", 1)]
    for (day, place) in days {
      let found = try revision(at: "\(day)T00:00:00Z")
      #expect(found.commit == commits[place] && found.branch == "main" && found.note == nil)
    }
    #expect(try revision(at: nil).commit == commits[1])
    let named = try revision(
      at: "2026-01-15T00:00:00Z", variables: ["CI_COMMIT_SHA": "abc", "GITHUB_REF_NAME": "blue"])
    #expect(named.commit == "abc" && named.branch == "blue")
  }

  @Test func `a commit that is newer than the report is not its commit`() throws {
    let found = try revision(at: "2025-12-31T00:00:00Z")
    #expect(found.commit == nil && found.branch == "main")
    #expect(found.note?.contains("name its commit with --commit") == true)
    // A clone that was made after the report, of a commit that is older.
    let clone = folder.file("clone")
    try Self.git(["clone", "-q", ".", clone.path], on: "2026-04-01", in: folder.url)
    #expect(try revision(at: "2026-03-01T00:00:00Z", in: clone).commit == commits[1])
    #expect(try revision(at: "2026-01-15T00:00:00Z", in: clone).commit == nil)
  }

  @Test func `a branch without the commit of the report is not its branch`() throws {
    try Self.git(["checkout", "-q", "-b", "other", commits[0]], on: "2026-03-01", in: folder.url)
    let error = #expect(throws: SuiteError.self) { try revision(at: "2026-02-15T00:00:00Z") }
    #expect(error?.code == "suite.publish.noBranch")
    #expect(try revision(at: "2026-03-02T00:00:00Z").branch == "other")
    // The earlier commit is part of both branches.
    #expect(try revision(at: "2026-01-15T00:00:00Z").branch == "other")
    try Self.git(["checkout", "-q", "--detach"], on: "2026-03-03", in: folder.url)
    let detached = #expect(throws: SuiteError.self) { try revision(at: "2026-03-04T00:00:00Z") }
    #expect(detached?.code == "suite.publish.noBranch")
  }
}
