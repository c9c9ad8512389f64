import ArgumentParser
import Foundation
import Retake

struct TrendCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trend",
    abstract: "Show how the errors of cases developed over published runs.",
    discussion: """
      Reads a site of 'retake report publish'. A line for each measure: its error in each run, the
      newest last, and how much of its tolerance it has eaten. The nearest to its tolerance is first.

      Examples:
        retake trend /mnt/site
        retake trend /mnt/site 'yard/*' --branch main --last 100
        retake trend /mnt/site --json

      Exit codes: 0 shown, 2 error, 4 no published run has such a case, or no measure of it was
      ever above 0.
      """)

  @Argument(help: "The folder of the site.")
  var site: String

  @Argument(help: "SESSION, SESSION/CASE, or globs in quotes; all if not given.")
  var cases: [String] = []

  @Option(help: "Only runs of this branch.")
  var branch: String?

  @Option(help: "The most runs, the newest.", transform: Bounded.whole(1...10_000))
  var last = 40

  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let site = ReportSite(URL(fileURLWithPath: project.path(site), isDirectory: true))
    let listing = try site.listing()
    let runs = listing.items.map(\.run).filter { branch == nil || $0.branch == branch }
    let shown = Array(runs.prefix(last).reversed())
    func isSelected(_ title: String) -> Bool {
      cases.isEmpty || cases.contains { Glob.matches($0, title) || Glob.matches("\($0)/*", title) }
    }
    let trend = Trend(shown, isSelected: isSelected)
    for name in listing.unreadable { output.note("note: \(name) has no readable entry.json") }
    if output.json {
      try Console.json(trend)
    } else if !trend.rows.isEmpty {
      Console.result(trend.text)
    }
    guard trend.rows.isEmpty else { return }
    let isKnown = shown.contains { run in
      (run.measures.map(\.title) + run.changes.map(\.title)).contains(where: isSelected)
    }
    output.note(
      isKnown
        ? "no measure of these cases was ever above 0" : "no published run has such a case")
    throw CommandEnd(status: .nothingCompared)
  }
}
