import ArgumentParser
import Foundation
import Retake

struct PipelineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipeline", abstract: "Check and draw pipelines, and print examples.",
    discussion: """
      Examples:
        retake pipeline example motion-boxes > motion.json
        retake pipeline check motion.json --rate 30 --budget 100ms
        retake pipeline draw motion.json --output motion.svg
        retake pipeline stages motion
      """,
    subcommands: [
      PipelineCheckCommand.self, PipelineDrawCommand.self, PipelineExampleCommand.self,
      PipelineStagesCommand.self,
    ])
}

struct PipelineExampleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example", abstract: "Print an example pipeline; without a name, list them.",
    discussion: """
      Example:
        retake pipeline example motion-boxes > motion.json
      """)

  @Argument(help: "The example's name.")
  var name: String?

  func run() throws {
    let own = CommandEnvironment.current.pipelines
    guard let name else {
      for pipeline in own { Console.result("\(pipeline.name)  made in Swift") }
      for example in ExamplePipelines.all { Console.result("\(example.name)  \(example.summary)") }
      return
    }
    if let pipeline = own.first(where: { $0.name == name }) {
      Console.data(try PipelineDocument.json(of: pipeline).canonicalText)
    } else if let example = ExamplePipelines.named(name) {
      Console.data(example.document)
    } else {
      throw SuiteError.noPipeline(
        name, known: own.map(\.name) + ExamplePipelines.all.map(\.name))
    }
  }
}
