import ArgumentParser
import Retake

struct PipelineDrawCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "draw", abstract: "Draw a pipeline, as SVG or for Graphviz.",
    discussion: """
      The SVG is self-contained and suits light and dark screens. With a session, the conversions
      of pixel formats that it needs are drawn too, dashed.

      Examples:
        retake pipeline draw motion.json --output motion.svg
        retake pipeline draw motion.json --session clip --output motion.svg
        retake pipeline draw motion.json --dot | dot -Tpdf -o motion.pdf
      """)

  @Argument(help: "A JSON file, a case of retake.yml, or example:NAME.")
  var pipeline: String

  @Flag(help: "Draw SVG (the default).")
  var svg = false

  @Flag(help: "Write Graphviz's DOT instead.")
  var dot = false

  @Option(help: "The session to be read: shows the conversions of its pixel formats.")
  var session: String?

  @OptionGroup var programs: ProgramBan

  @Option(help: "Write to this file; to standard output if not given.")
  var output: String?

  func validate() throws {
    if svg, dot { throw ValidationError("--svg and --dot are two drawings: choose one") }
    if let output { try Drawing.check(output, isDOT: dot) }
  }

  func run() throws {
    let project = try programs.project()
    let inspection = try project.inspection(of: pipeline, session: session)
    let text =
      dot
      ? PipelineDOT.text(flat: inspection.complete)
      : try PipelineSVG.text(flat: inspection.complete)
    guard let output, output != "-" else {
      Console.data(text)
      return
    }
    try RunOutputs.check(file: output, pipeline: project.pipelineFile(of: pipeline))
    try WholeFile.write(text, to: output, output: .drawing)
  }
}
