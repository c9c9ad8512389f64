import ArgumentParser
import Retake

struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model", abstract: "Show what is in an .onnx file, and what a model sees.",
    discussion: """
      Examples:
        retake model info faces.onnx
        retake model check faces.onnx clip --frame 12 --output seen.png
      """,
    subcommands: [ModelInfoCommand.self, ModelCheckCommand.self])
}

struct ModelInfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show what a model declares, and what is in force for it.",
    discussion: """
      Each value that is in force comes with what gives it: the sidecar (faces.model.json next to
      faces.onnx), the model's metadata, the shape of its input, or the default. What is missing is
      printed with the line to write. Without ONNX Runtime everything is printed but whether the
      model can be computed.

      Exits with 0 when the file is a model, even if something is missing; with 2 otherwise.

      Examples:
        retake model info faces.onnx
        retake model info faces.onnx --json
      """)

  @Argument(help: "A model: the path of an .onnx file.")
  var model: String

  @OptionGroup var output: OutputOptions

  func run() throws {
    let inspection = try ModelInspection(of: model)
    if output.json { return try Console.json(inspection) }
    Console.result(ModelText(model: inspection).lines.joined(separator: "\n"))
  }
}
