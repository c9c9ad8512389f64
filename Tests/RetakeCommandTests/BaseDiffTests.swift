import Foundation
import RetakeTestSupport
import Testing

/// `retake diff --base`: the pipelines of a revision compared with the pipelines of the working
/// tree.
@Suite struct BaseDiffTests {
  private static let project = """
    v: 1
    cases:
      motion: {pipeline: motion.json}
      other: {pipeline: other.json}
    suites:
      default: [{sessions: ["*"], cases: [motion]}]
    """

  /// A repository with a session, and the example pipeline committed.
  private func repository(in subfolder: String? = nil) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try workplace.writePipeline()
    try workplace.folder.write(Self.project, to: "retake.yml")
    try git(workplace, "init", "-q", "-b", "main")
    try git(workplace, "add", "motion.json", "retake.yml")
    try git(workplace, "commit", "-q", "-m", "first")
    return workplace
  }

  private func git(_ workplace: Workplace, _ arguments: String...) throws {
    try workplace.git(words: arguments)
  }

  private func change(_ workplace: Workplace, to threshold: Int) throws {
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": \(threshold)")
  }

  @Test func `an unchanged tree is the same as its revision`() throws {
    let workplace = try repository()
    let result = try workplace.retake("diff", "--base", "HEAD")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.contains("passed"))
    #expect(!workplace.exists("Goldens"))
  }

  @Test func `a changed threshold is found, and nothing of the repository is touched`() throws {
    let workplace = try repository()
    try change(workplace, to: 60)
    let before = try workplace.listing().filter { !$0.hasPrefix(".git/") }
    let status = try runCommand(
      "git", arguments: ["status", "--porcelain=v2"], folder: workplace.folder.url
    ).stdout
    let result = try workplace.retake("diff", "--base", "main", "yard", "--json")
    #expect(result.status == 1, "\(result.stderr)")
    let item = try result.json().cases[0]
    #expect(item.verdict.text == "changed")
    #expect(item.rootCauses[0].stage.text == "motion")
    #expect(!result.stdout.contains("retake accept"))
    #expect(result.stdout.contains("retake diff --base main"))
    #expect(try workplace.listing().filter { !$0.hasPrefix(".git/") } == before)
    let after = try runCommand(
      "git", arguments: ["status", "--porcelain=v2"], folder: workplace.folder.url
    ).stdout
    #expect(after == status)
  }

  @Test func `an older revision than the last is compared with`() throws {
    let workplace = try repository()
    try change(workplace, to: 60)
    try git(workplace, "commit", "-q", "-a", "-m", "second")
    #expect(try workplace.retake("diff", "--base", "HEAD").status == 0)
    #expect(try workplace.retake("diff", "--base", "HEAD~1").status == 1)
  }

  @Test func `a pipeline that the revision does not have is missing`() throws {
    let workplace = try repository()
    try workplace.writePipeline("other.json")
    let result = try workplace.retake("diff", "--base", "HEAD", "--case", "other")
    #expect(result.status == 4, "the suite runs motion alone: \(result.stdout)\(result.stderr)")
    try workplace.folder.write(
      Self.project.replacing("cases: [motion]", with: "cases: [motion, other]"), to: "retake.yml")
    let second = try workplace.retake("diff", "--base", "HEAD", "--case", "other")
    #expect(second.status == 3, "\(second.stdout)\(second.stderr)")
    #expect(second.stdout.contains("HEAD has no other.json"))
  }

  @Test func `an image within the rule of its sink is not a difference`() throws {
    let workplace = try repository()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\ncompare:\n"
        + "  view: {mode: pictures, pictureEvery: 1, ssimMin: 0, densestMax: 1}\n",
      to: "retake.yml")
    try workplace.writeView(x: 40)
    try git(workplace, "commit", "-q", "-a", "-m", "view")
    try workplace.writeView(x: 42)
    let allowed = try workplace.retake("diff", "--base", "HEAD")
    #expect(allowed.status == 0, "\(allowed.stdout)\(allowed.stderr)")
    // The same images, and a rule that does not allow the difference.
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\ncompare:\n"
        + "  view: {mode: pictures, pictureEvery: 1}\n", to: "retake.yml")
    let refused = try workplace.retake("diff", "--base", "HEAD")
    #expect(refused.status == 1, "\(refused.stdout)\(refused.stderr)")
    #expect(!refused.stdout.contains("pixels were not kept"), "\(refused.stdout)")
  }

  @Test func `a git that fails is an error, and not a pipeline that the revision lacks`() throws {
    let workplace = try repository()
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    try workplace.folder.write(
      """
      #!/bin/sh
      case " $* " in
      *" checkout-index "*) echo "fatal: No space left on device" >&2; exit 128 ;;
      esac
      PATH="\(path)"
      export PATH
      exec git "$@"

      """, to: "tools/git")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: workplace.folder.file("tools/git").path)
    let result = try workplace.retake(
      words: ["diff", "--base", "HEAD", "--json"],
      environment: ["PATH": "\(workplace.folder.file("tools").path):\(path)"])
    #expect(result.status == 2, "\(result.stdout)\(result.stderr)")
    #expect(result.stdout.contains("No space left on device"), "\(result.stdout)\(result.stderr)")
    #expect(!result.stdout.contains("HEAD has no"), "\(result.stdout)")
  }

  @Test func `a folder or a link of the revision is not a pipeline`() throws {
    let workplace = try repository()
    try workplace.folder.write("{}", to: "folder.json/a")
    try FileManager.default.createSymbolicLink(
      atPath: workplace.folder.file("link.json").path, withDestinationPath: "motion.json")
    try git(workplace, "add", "folder.json", "link.json")
    try git(workplace, "commit", "-q", "-m", "no pipelines")
    // In the working tree, all of them are pipelines.
    for name in ["folder.json", "link.json"] {
      try FileManager.default.removeItem(at: workplace.folder.file(name))
      try workplace.writePipeline(name)
    }
    for name in ["folder.json", "link.json"] {
      try workplace.folder.write("v: 1\ncases: {one: {pipeline: \(name)}}\n", to: "retake.yml")
      let result = try workplace.retake("diff", "--base", "HEAD")
      #expect(result.status == 3, "\(result.stdout)\(result.stderr)")
      #expect(result.stdout.contains("HEAD has no \(name)"), "\(result.stdout)")
    }
  }

  @Test func `a report of it is written where it is wanted`() throws {
    let workplace = try repository()
    try change(workplace, to: 60)
    let result = try workplace.retake("diff", "--base", "HEAD", "--report", "report")
    #expect(result.status == 1)
    #expect(workplace.exists("report/report.html"))
    #expect(result.stderr.contains("report/report.html"))
  }

  @Test(arguments: ["no-such-branch", "--output=x", "HEAD:motion.json"])
  func `a revision that is not there is said`(revision: String) throws {
    let workplace = try repository()
    let result = try workplace.retake(words: ["diff", "--base=\(revision)"])
    #expect(result.status == 2)
    #expect(result.stderr.contains("[suite.diff.noRevision]"), "\(result.stderr)")
    #expect(!workplace.exists("x"))
  }

  @Test func `outside of a repository there is no revision`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6)
    try workplace.writePipeline()
    try workplace.folder.write(Self.project, to: "retake.yml")
    let result = try workplace.retake(
      words: ["diff", "--base", "HEAD"], environment: ["GIT_CEILING_DIRECTORIES": "/"])
    #expect(result.status == 2)
    #expect(result.stderr.contains("[suite.diff.noRevision]"), "\(result.stderr)")
  }
}
