import ArgumentParser
import Retake

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two runs, or a run with a golden.",
    discussion: """
      Both are folders with golden files: Goldens/SESSION/CASE, or what 'replay --output' wrote.
      Exits with 0 when they are the same within the tolerances, with 1 when not.

      Example:
        retake replay clip --pipeline a.json --output run-a
        retake replay clip --pipeline b.json --output run-b
        retake diff run-a run-b
      """)

  @Argument(help: "The folder that counts as right.")
  var golden: String

  @Argument(help: "The folder that is judged.")
  var actual: String

  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let difference = RunDifference(
      golden: project.path(golden), actual: project.path(actual))
    let (document, status) = try difference.run()
    if output.json {
      Console.result(String(decoding: try document.encoded(), as: UTF8.self))
    } else {
      Console.result(
        TerminalReport.render(document, palette: Console.isColoured ? .ansi : .plain))
    }
    if status != .passed { throw CommandEnd(status: status) }
  }
}
