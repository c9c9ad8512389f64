import ArgumentParser
import Retake

struct AcceptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Make pending goldens the accepted ones.",
    discussion: """
      Examples:
        retake accept --reason "first golden"
        retake accept yard/motion --reason "the new detector finds the second figure"
        retake accept 'yard-*' --reason "recalibrated" --dry-run
      """)

  @Argument(help: "SESSION, SESSION/CASE, or globs of them in quotes; all if not given.")
  var keys: [String] = []

  @Option(help: "Why the new result is right; kept in golden.yml.")
  var reason: String

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(help: "Say what would be accepted, and change nothing.")
  var dryRun = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let environment = CommandEnvironment.current
    let project = try environment.project()
    var acceptance = Acceptance(project: project)
    acceptance.goldens = goldens.map { project.path($0) }
    acceptance.pendingFolder = environment.pendingFolder
    acceptance.keys = keys
    acceptance.isCI = environment.isCI
    let items = try acceptance.run(reason: reason, isDryRun: dryRun)
    if output.json {
      try Console.json(items)
      return
    }
    for item in items {
      let causes = item.roots.isEmpty ? "" : "  \(item.roots.prefix(5).joined(separator: ", "))"
      Console.result(
        "\(dryRun ? "would accept" : "accepted")  \(item.key)  \(item.kind)  "
          + "\(item.frames) frames\(causes)")
    }
  }
}
