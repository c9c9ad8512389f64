import ArgumentParser
import Retake

struct GoldenListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List goldens that no suite produces any more, and remove them with --remove.",
    discussion: """
      Their case is gone. A golden whose recording is not on this disk stays, and the command
      exits with 2; name the golden if the recording is gone for good. Exits with 5 in CI when there
      are stale goldens.

      Examples:
        retake golden list --stale
        retake golden list --stale 'yard-*' --remove
      """)

  @Argument(help: "SESSION, SESSION/CASE, or globs of them in quotes; all if not given.")
  var keys: [String] = []

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(help: "Remove them; files that do not belong to a golden stay.")
  var remove = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let environment = CommandEnvironment.current
    let project = try environment.project()
    var stale = StaleGoldens(project: project)
    stale.goldens = goldens.map { project.path($0) }
    stale.keys = keys
    let problems = try stale.problems()
    let items = try remove ? stale.remove(isCI: environment.isCI) : stale.items()
    if output.json {
      try Console.json(items)
    } else {
      for item in items {
        let verb = remove ? "removed" : "stale"
        Console.result(visible("\(verb)  \(item.key)  its \(item.missing) is gone"))
      }
      if items.isEmpty { Console.note("no golden is stale") }
      if !items.isEmpty && !remove {
        Console.note("remove them: retake golden list --stale --remove")
      }
    }
    // After the list and before the stale ones count: an error is the stronger status.
    for problem in problems { Console.error(problem) }
    if !problems.isEmpty { throw CommandEnd(status: .error) }
    // In CI alone: on a developer's machine a stale golden is a warning.
    if environment.isCI, !remove, !items.isEmpty { throw CommandEnd(status: .staleOrNotComparable) }
  }
}
