import ArgumentParser
import Foundation
import Retake

struct BisectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bisect",
    abstract: "Find the first commit that shows a root cause.",
    discussion: """
      git chooses the commits between --good and --bad. Each is checked out into a worktree in a
      temporary folder, built there with the command after '--', and tested there. Your checkout
      stays as it is. Session, golden and retake.yml are those of your checkout at every commit;
      pipelines, models, programs and code are the commit's. The golden must be one that --good
      passes.

      The build runs in the project's folder of the worktree, and its products stay there for the
      next commit. A commit that cannot be built or tested is skipped.

      Examples:
        retake bisect yard/motion --good v1.2 -- true          # only documents and models changed
        retake bisect yard/motion --good v1.2 --root motion@0:54 -- make detector
        retake bisect --good v1.2 --program ./retake -- retake build

      Exit codes: 0 found, 1 skipped commits leave several candidates, 2 error.
      """)

  @Argument(help: "SESSION/CASE; the only case of the project if not given.")
  var session: String?

  @Option(help: "A revision without the root cause.")
  var good: String

  @Option(help: "A later revision with the root cause.")
  var bad = "HEAD"

  @Option(
    help: ArgumentHelp(
      "A root cause as 'retake test' prints it; the first divergence at --bad if not given.",
      valueName: "id"))
  var root: String?

  @Option(
    help: ArgumentHelp(
      "The program that tests, such as ./retake after 'retake build'; this one if not given.",
      discussion: "A relative path is in the worktree.", valueName: "path"))
  var program: String?

  @Option(help: ArgumentHelp("The project's folder; this one if not given.", valueName: "dir"))
  var project: String?

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(name: .long, help: "Let the tests start programs that retake.yml does not name.")
  var allowProcesses = false

  @OptionGroup var cache: CacheOptions
  @OptionGroup var form: OutputOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The command that builds a commit.", valueName: "build command"))
  var build: [String] = []

  func validate() throws {
    guard !build.isEmpty else {
      throw ValidationError("Say how a commit is built, after '--'; without a build: -- true")
    }
  }

  func run() throws {
    Interruption.listen()
    let environment = CommandEnvironment.current
    let project = try environment.project(in: project.map(Self.absolute))
    let chosen = try Self.onlyCase(session, in: project)
    var bisection = Bisection(chosen, in: project, good: good, build: build)
    bisection.bad = bad
    bisection.rootCause = root
    bisection.program = program
    bisection.goldens = goldens.map { project.path($0) }
    bisection.testOptions = ["--cache", folder(of: project)]
    if allowProcesses { bisection.testOptions.append("--allow-processes") }
    bisection.isInterrupted = { Interruption.isRequested }
    bisection.note = { form.note($0) }
    let report = try bisection.run()
    if form.json { try Console.json(report) } else { Console.result(Self.text(of: report)) }
    if report.first == nil { throw CommandEnd(status: .regression) }
  }

  private static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }

  private static func onlyCase(_ session: String?, in project: Project) throws -> SelectedCase {
    let found = try Selection(sessions: session.map { [$0] } ?? []).resolve(in: project)
    guard found.count == 1, let only = found.first else {
      throw ValidationError(
        "several cases are selected: name one, such as \(found[0].key.description.shellWord)")
    }
    return only
  }

  /// All commits share one cache: a stage that a commit did not change is not computed again.
  private func folder(of project: Project) -> String {
    switch cache.cache {
    case nil, "auto": project.cache
    case "none": "none"
    case let path?: project.path(path)
    }
  }

  private static func text(of report: BisectionReport) -> String {
    let steps = "\(counted(report.builds, "build")) of \(counted(report.commits, "commit"))"
    let skipped = report.steps.filter { $0.verdict == .skipped }
    var lines: [String]
    if let first = report.first {
      lines = [
        "first bad commit  \(first.hash)", "  \(first.subject)",
        "  \(first.author), \(first.authorDate)",
      ]
      lines += first.files.prefix(20).map { "  \($0)" }
      if first.files.count > 20 { lines.append("  and \(first.files.count - 20) more files") }
    } else {
      lines = ["one of these commits is the first; some could not be tested:"]
      lines += report.candidates.map { "  \($0)" }
    }
    lines.append("\(report.key) shows \(report.rootCause) from there on; \(steps)")
    lines += skipped.map { "  skipped \($0.commit.prefix(10)): \($0.detail ?? "")" }
    lines.append("  see it: \(report.command)")
    return lines.joined(separator: "\n")
  }
}
