import ArgumentParser
import Foundation
import Retake

struct PipelineCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a pipeline before anything runs: its document, its latency and its load.",
    discussion: """
      Exits with 0 if the pipeline can run, otherwise with 2 and the place of the first error. A
      pipeline that can run but is too slow, or loses frames, gets a warning; with --strict, an \
      error. The times of paths are sums of declared costs, without the time in queues.

      Examples:
        retake pipeline check motion.json
        retake pipeline check motion.json --rate 30 --budget 100ms
        retake pipeline check yard.json --session clip --rate rear=15 --budget boxes=200ms --strict
        retake pipeline check example:motion-boxes --json
      """)

  @Argument(help: "A JSON file, a case of retake.yml, or example:NAME.")
  var pipeline: String

  @Option(help: "Frames per second of every source, or SOURCE=RATE; the session's if not given.")
  var rate: [String] = []

  @Option(help: "Maximum time of a frame to every sink, or SINK=TIME, such as 33ms.")
  var budget: [String] = []

  @Option(
    parsing: .unconditional,
    help: "Detections per frame, for the stages in a forEach; 1 if not given.",
    transform: Bounded.whole(1...10_000))
  var items: Int?

  @Option(help: "The session to be read: shows the conversions of its pixel formats.")
  var session: String?

  @Flag(help: "Treat warnings as errors: exit with 2.")
  var strict = false

  @OptionGroup var programs: ProgramBan

  @OptionGroup var output: OutputOptions

  func validate() throws {
    for text in rate where NamedOption(text, Self.rateValue) == nil {
      throw ValidationError(
        "'--rate \(text)' is not a rate: write frames a second, or SOURCE=RATE, up to 100000")
    }
    for text in budget where NamedOption(text, Self.budgetValue) == nil {
      throw ValidationError("'--budget \(text)' is not a time: write it like 33ms, or SINK=33ms")
    }
  }

  private static func rateValue(_ text: String) -> Double? {
    Double(text).flatMap { $0 > 0 && $0 <= 100_000 ? $0 : nil }
  }

  private static func budgetValue(_ text: String) -> Duration? {
    Duration(parsing: text).flatMap { $0 > .zero ? $0 : nil }
  }

  func run() throws {
    let project = try programs.project()
    let inspection = try project.inspection(of: pipeline, session: session)
    var analysis = try inspection.pipeline.analyzed(try options(inspection))
    // The analysis knows no files. A warning names the file that the user typed.
    for index in analysis.warnings.indices { analysis.warnings[index].file = pipeline }
    let report = PipelineCheckReport(name: pipeline, inspection: inspection, analysis: analysis)
    if output.json {
      Console.data(report.json.canonicalText)
    } else {
      Console.result(report.lines.joined(separator: "\n"))
      analysis.warnings.forEach { Console.warning($0) }
      (analysis.notes + [report.noteOfTimes].compactMap(\.self)).forEach {
        output.note("note: \($0)")
      }
    }
    guard strict, !analysis.warnings.isEmpty else { return }
    let count = analysis.warnings.count
    Console.note(
      "error: \(counted(count, "warning")) (--strict: warnings are errors) "
        + "[suite.check.strict]\n  Follow the advice of the warnings, or leave out --strict")
    throw CommandEnd(status: .error)
  }

  private func options(_ inspection: PipelineInspection) throws -> AnalysisOptions {
    var options = AnalysisOptions(rates: inspection.rates, items: items ?? 1)
    options.completing = inspection.completing
    let sources = inspection.sources.map(\.node)
    for given in rate.compactMap({ NamedOption($0, Self.rateValue) }) {
      for source in try given.names(among: sources, option: "rate", what: "source") {
        options.rates[source] = given.value
      }
    }
    let sinks = inspection.pipeline.nodes.filter { $0.stage.signature.role == .sink }.map(\.id)
    for given in budget.compactMap({ NamedOption($0, Self.budgetValue) }) {
      for sink in try given.names(among: sinks, option: "budget", what: "sink") {
        options.budgets[sink] = given.value
      }
    }
    return options
  }
}

/// `30`, or `camera=30`.
private struct NamedOption<Value> {
  var name: String?
  var value: Value

  init?(_ text: String, _ parse: (String) -> Value?) {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let value = parse(String(parts[parts.count - 1])) else {
      return nil
    }
    name = parts.count == 2 ? String(parts[0]) : nil
    self.value = value
  }

  /// The named node, or all nodes.
  func names(among known: [String], option: String, what: String) throws -> [String] {
    guard let name else { return known }
    guard known.contains(name) else {
      throw ValidationError(
        "'--\(option) \(visible(name))=…' names no \(what) of the pipeline. "
          + Suggestion.advice(for: name, among: known))
    }
    return [name]
  }
}
