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
    let merges = lines(jobs?["merge"])
    #expect(merges.count == 2)
    let summary = place.folder.file("step-summary.md").path
    // A merge that is refused has no report.
    let early = try place.type(merges[1], environment: ["GITHUB_STEP_SUMMARY": summary])
    #expect(early.status == 0 && early.stderr.isEmpty && !place.exists("step-summary.md"))
    let comment = lines(jobs?["comment"]).first ?? ""
    #expect(try comments(comment, in: place) == [])
    let results = try merges.map {
      try place.type(
        $0, environment: Self.gitHub.merging(["GITHUB_STEP_SUMMARY": summary]) { $1 })
    }
    #expect(results.map(\.status) == [1, 0], "\(results)")
    #expect(results[0].stderr.contains("::error"))
    #expect(try String(contentsOfFile: summary, encoding: .utf8).contains("a/motion"))
    #expect(jobs?["merge"]?["permissions"] == nil)
    #expect(jobs?["comment"]?["permissions"]?["pull-requests"] == .string("write"))
    let search =
      "api --paginate repos/o/r/issues/42/comments --jq .[] | select(.user.type == \"Bot\" "
      + "and (.body | contains(\"<!-- retake ci . -->\"))) | .id"
    #expect(
      try comments(comment, in: place) == [search, "pr comment 42 --body-file report/summary.md"])
    let commented = try String(contentsOf: place.folder.file("report/summary.md"), encoding: .utf8)
    #expect(commented.hasSuffix("\n<!-- retake ci . -->\n"))
    // The newest of two comments of this job file.
    try place.folder.write("7\n8\n", to: "ids")
    #expect(
      try comments(comment, in: place).last
        == "api --silent --method PATCH repos/o/r/issues/comments/8 -F body=@report/summary.md")
    for job in ["test", "merge"] {
      let upload = list(jobs?[job]?["steps"]).first {
        text($0["uses"])?.hasPrefix("actions/upload-artifact") == true
      }
      #expect(upload?["with"]?["overwrite"] == .bool(true))
      let paths = text(upload?["with"]?["path"])?.split(separator: "\n")
      #expect(paths == [job == "test" ? "retake-*.blob" : "report", "pending"])
    }
  }

  /// Runs the step that comments, and returns the calls of `gh`. The file `ids` has the comments.
  private func comments(_ step: String, in place: Workplace) throws -> [String] {
    let program = try place.folder.write(
      """
      #!/bin/bash
      echo "$*" >> calls
      if [ "$2" = --paginate ] && [ -f ids ]; then cat ids; fi
      """, to: "bin/gh")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
    let result = try place.type(
      "rm -f calls; touch calls; set -e\n"
        + step.replacing("${{ github.event.number }}", with: "42"),
      environment: [
        "GH_REPO": "o/r", "PATH": "\(place.folder.file("bin").path):/usr/bin:/bin",
      ])
    try #require(result.status == 0, "\(result.stderr)")
    return try String(contentsOf: place.folder.file("calls"), encoding: .utf8)
      .split(separator: "\n").map(String.init)
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
    try place.folder.write("v: 1\n", to: "retake.yml")
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

  @Test(arguments: ["github", "gitlab"])
  func `the file of a project in a subfolder is in the top folder of its repository`(
    service: String
  ) throws {
    let place = try Workplace()
    try place.git("init", "-q", "-b", "trunk")
    try place.folder.write(
      "v: 1\nstore: {remote: s3://footage/sessions}\n", to: "vision/retake.yml")
    let result = try place.type("cd vision && retake ci init \(service)")
    let path = service == "github" ? ".github/workflows/retake.yml" : ".gitlab-ci.yml"
    #expect(result.stdout == "wrote ../\(path)\n", "\(result.stderr)")
    #expect(result.stderr.contains("RETAKE_CACHE_KEY") && result.stderr.contains("docs/stores.md"))
    #expect(!place.exists("vision/\(path)"))
    let content = try String(contentsOf: place.folder.file(path), encoding: .utf8)
    for word in [
      "RETAKE_CACHE_KEY", "ca-certificates rclone", "./vision/tools/retake_*.deb",
      "vision/.retake/sessions", "vision/retake-*.blob", "vision/pending",
    ] { #expect(content.contains(word), "\(word) is missing in \(content)") }
    let jobs = try file(path, in: place)
    guard service == "github" else {
      for job in ["retake-test", "retake-merge"] {
        #expect(lines(jobs?[job]).first == "cd vision")
      }
      let reports = jobs?["retake-merge"]?["artifacts"]?["reports"]
      #expect(reports?["junit"] == .string("vision/report/junit.xml"))
      return
    }
    #expect(content.contains(#"branches: ["trunk"]"#))
    for job in ["test", "merge"] {
      let steps = list(jobs?["jobs"]?[job]?["steps"]).filter { step in
        text(step["run"]).map { !$0.hasPrefix("apt-get") } ?? false
      }
      #expect(steps.count == (job == "test" ? 1 : 2))
      #expect(steps.allSatisfy { $0["working-directory"] == .string("vision") })
    }
  }

  @Test func `the branch of GitHub's job file is the default branch of origin`() throws {
    let place = try Workplace()
    try place.folder.write("v: 1\n", to: "retake.yml")
    try place.git("init", "-q", "-b", "work")
    try place.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next/2.x")
    try place.retake("ci", "init", "github")
    let content = try String(
      contentsOf: place.folder.file(".github/workflows/retake.yml"), encoding: .utf8)
    #expect(content.contains(#"branches: ["next/2.x"]"#))
  }

  @Test func `no job file is written without a project or for a bad name`() throws {
    let place = try Workplace()
    let none = try place.retake("ci", "init", "github")
    #expect(none.status == 2)
    #expect(none.stderr.contains("this folder has no retake.yml [suite.project.none]"))
    try place.git("init", "-q")
    try place.folder.write("v: 1\n", to: "my vision/retake.yml")
    let spaced = try place.type("cd 'my vision' && retake ci init gitlab")
    #expect(spaced.status == 2 && spaced.stderr.contains("[suite.ci.place]"), "\(spaced.stderr)")
    #expect(!place.exists(".github") && !place.exists(".gitlab-ci.yml"))
  }
}
