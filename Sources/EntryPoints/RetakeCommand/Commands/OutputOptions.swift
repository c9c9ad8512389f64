import ArgumentParser
import Retake

/// Flags that every command has.
struct OutputOptions: ParsableArguments {
  @Flag(name: .long, help: "Print the result as JSON.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Print only results and errors.")
  var quiet = false

  /// Prints a message that is not a result, unless `--quiet` is given.
  ///
  /// - Parameter line: A progress line that may be drawn meanwhile.
  func note(_ text: String, replacing line: ProgressLine? = nil) {
    if !quiet { Console.note(text, after: line?.eraser ?? "") }
  }

  /// Prints the outcome of a suite.
  ///
  /// - Parameter annotates: Whether cases that need attention are annotated in a GitHub workflow.
  /// - Throws: `CommandEnd` with the status of the outcome, unless everything passed.
  func show(_ outcome: SuiteRun.Outcome, annotates: Bool = true) throws {
    if json {
      Console.data(String(decoding: try outcome.document.encoded(), as: UTF8.self))
    } else {
      Console.result(
        TerminalReport.render(
          outcome.document, palette: Console.isColored ? .ansi : .plain))
    }
    if annotates, CommandEnvironment.current.isGitHub {
      // Not on standard output, which has one document alone with --json.
      for line in AnnotationsReport.render(outcome.document).split(separator: "\n") {
        Console.note(String(line))
      }
    }
    for warning in outcome.warnings { note("warning: \(warning)") }
    if let page = outcome.files.last { note("report: \(page.path)") }
    if let error = outcome.reportError { Console.error(error) }
    if outcome.status != .passed { throw CommandEnd(status: outcome.status) }
  }
}
