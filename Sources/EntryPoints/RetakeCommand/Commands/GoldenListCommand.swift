import ArgumentParser
import Retake

struct GoldenListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List goldens, or with --stale the goldens that no suite produces any more.",
    discussion: """
      The case of a stale golden is gone; --remove removes it. A golden whose recording is not on
      this disk is not stale, and --stale exits with 2; name the golden if the recording is gone for
      good. With --stale, exits with 5 in CI when there are stale goldens.

      Examples:
        retake golden list
        retake golden list --stale
        retake golden list --stale 'yard-*' --remove
      """)

  @Argument(help: "SESSION, SESSION/CASE, or globs of them in quotes; all if not given.")
  var keys: [String] = []

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(help: "List only goldens that no suite produces any more.")
  var stale = false

  @Flag(help: "With --stale: remove them; files that do not belong to a golden stay.")
  var remove = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard stale || !remove else { throw ValidationError("--remove goes with --stale") }
  }

  func run() throws {
    guard stale else { return try list() }
    let environment = CommandEnvironment.current
    let project = try environment.project()
    let goldens = staleGoldens(project)
    let problems = try goldens.problems()
    let items = try remove ? goldens.remove(isCI: environment.isCI) : goldens.items()
    if output.json {
      try Console.json(items)
    } else {
      for item in items {
        let verb = remove ? "removed" : "stale"
        Console.result(visible("\(verb)  \(item.key)  its \(item.missing) is gone"))
      }
      if items.isEmpty, problems.isEmpty { Console.note("no golden is stale") }
      if !items.isEmpty && !remove {
        Console.note(
          (environment.isCI ? "remove them on your own machine" : "remove them")
            + ": retake golden list --stale --remove")
      }
    }
    // After the list, and before stale goldens determine the status: an error is the stronger
    // status.
    for problem in problems { Console.error(problem) }
    if !problems.isEmpty { throw CommandEnd(status: .error) }
    // In CI alone: on a developer's machine a stale golden is a warning.
    if environment.isCI, !remove, !items.isEmpty { throw CommandEnd(status: .staleOrNotComparable) }
  }
  private func staleGoldens(_ project: Project) -> StaleGoldens {
    var found = StaleGoldens(project: project)
    found.goldens = goldens.map { project.path($0) }
    found.keys = keys
    return found
  }

  private func list() throws {
    let items = try staleGoldens(try CommandEnvironment.current.project()).all()
    if output.json { return try Console.json(items) }
    for item in items { Console.result(visible(item.key)) }
    if items.isEmpty { output.note("there is no golden") }
  }
}
