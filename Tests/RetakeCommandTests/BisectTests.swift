import Foundation
import RetakeTestSupport
import Testing

/// `retake bisect`: the first commit of a planted repository that changes a result.
@Suite struct BisectTests {
  private static let project = """
    v: 1
    cases:
      motion: {pipeline: motion.json}
    """

  /// A repository of commits, of which one changes the threshold and some cannot be built. The
  /// session and the golden of the first commit are in no commit.
  private func repository(
    commits: Int, culprit: Int, broken: ClosedRange<Int>? = nil
  ) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try workplace.writePipeline()
    try workplace.folder.write(Self.project, to: "retake.yml")
    try workplace.folder.write(".retake/\nRecordings/\nGoldens/\n", to: ".gitignore")
    try workplace.git("init", "-q", "-b", "main")
    try workplace.git("add", "motion.json", "retake.yml", ".gitignore")
    try workplace.git("commit", "-q", "-m", "commit 0")
    try workplace.git("tag", "first")
    #expect(try workplace.retake("test").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    for number in 1..<commits {
      if number == culprit {
        try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 60")
      }
      let state = broken?.contains(number) == true ? "broken" : "fine"
      try workplace.folder.write("\(number) \(state)\n", to: "notes.txt")
      try workplace.git("add", "-A")
      try workplace.git("commit", "-q", "-m", "commit \(number)")
    }
    return workplace
  }

  /// Bisects with the built program, which is started for each commit.
  private func bisect(
    _ workplace: Workplace, good: String = "first", build: String = "true"
  ) throws -> CommandResult {
    try workplace.retake(
      "bisect", "yard/motion", "--good", good, "--program", Workplace.binary, "--json", "--", "sh",
      "-c", build)
  }

  private func status(of workplace: Workplace) throws -> String {
    let listing = try workplace.listing().filter { !$0.hasPrefix(".git/") }
    let states = try [["status", "--porcelain=v2"], ["worktree", "list"], ["branch", "-v"]].map {
      try runCommand("git", arguments: $0, folder: workplace.folder.url).stdout
    }
    return (listing + states).joined(separator: "\n")
  }

  @Test func `the commit that changes a result is found among 64 with 7 builds`() throws {
    let workplace = try repository(commits: 65, culprit: 41)
    let before = try status(of: workplace)
    let result = try bisect(workplace)
    #expect(result.status == 0, "\(result.stderr)")
    let report = try result.json()
    #expect(report.first.subject.text == "commit 41")
    #expect(report.first.files.count == 2)
    #expect(report.first.files[0].text == "motion.json")
    #expect(report.commits.number == 64)
    #expect(report.steps.count <= 7)
    #expect(report.rootCause.text == "motion@0:1")
    #expect(try status(of: workplace) == before)
  }

  @Test func `commits that do not build are skipped and named`() throws {
    let workplace = try repository(commits: 17, culprit: 12, broken: 7...9)
    let result = try bisect(
      workplace, build: "grep -q fine notes.txt || { echo no build; exit 7; }")
    let report = try result.json()
    #expect(result.status == 0, "\(result.stderr)")
    #expect(report.first.subject.text == "commit 12")
    #expect(result.stderr.contains("skipped"))
    #expect(result.stderr.contains("exit status 7: no build"))
  }

  @Test func `a commit that cannot be tested is skipped with the error of its case`() throws {
    let workplace = try repository(commits: 17, culprit: 12, broken: 7...9)
    let result = try bisect(workplace, build: "grep -q fine notes.txt || echo broken > motion.json")
    #expect(result.status == 0, "\(result.stderr)")
    let skipped = result.stderr.split(separator: "\n").filter { $0.contains(" skipped ") }
    #expect(!skipped.isEmpty, "\(result.stderr)")
    #expect(skipped.allSatisfy { $0.contains("(test: ") && !$0.contains("1 case") }, "\(skipped)")
  }

  @Test func `a first commit that does not build leaves candidates`() throws {
    let workplace = try repository(commits: 9, culprit: 5, broken: 5...6)
    let result = try bisect(workplace, build: "grep -q fine notes.txt || test ! -e notes.txt")
    #expect(result.status == 1, "\(result.stderr)")
    let report = try result.json()
    #expect(report.first.hash.text == nil)
    #expect(report.candidates.count == 3)
  }

  @Test func `a good commit that shows the root cause is an error`() throws {
    let workplace = try repository(commits: 6, culprit: 2)
    let result = try bisect(workplace, good: "HEAD~2")
    #expect(result.status == 2)
    #expect(result.stderr.contains("suite.bisect.goodShows"), "\(result.stderr)")
    let passing = try workplace.retake(
      "bisect", "--good", "first", "--bad", "HEAD~4", "--program", Workplace.binary, "--", "true")
    #expect(passing.status == 2)
    #expect(passing.stderr.contains("suite.bisect.badShowsNot"), "\(passing.stderr)")
    let order = try workplace.retake("bisect", "--good", "HEAD", "--bad", "first", "--", "true")
    #expect(order.stderr.contains("suite.bisect.order"), "\(order.stderr)")
  }
}

/// The same, interrupted.
@Suite(.oneAtATime) struct BisectInterruptTests {
  @Test func `an interrupted bisection removes its worktree`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6)
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    #expect(try workplace.retake("test").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    try workplace.git("init", "-q", "-b", "main")
    try workplace.git("add", "motion.json", "retake.yml")
    try workplace.git("commit", "-q", "-m", "first")
    try workplace.git("commit", "-q", "--allow-empty", "-m", "second")
    let mark = workplace.folder.file("started").path
    // `cat` ends when retake ends.
    let run = try LongRun(
      ["bisect", "--good", "HEAD~1", "--", "sh", "-c", "touch '\(mark)' && cat"], in: workplace)
    run.readOn()
    #expect(run.wait { workplace.exists("started") })
    #expect(run.end(SIGINT) == 130)
    let list = try runCommand("git", arguments: ["worktree", "list"], folder: workplace.folder.url)
    #expect(list.stdout.split(separator: "\n").count == 1)
  }
}
