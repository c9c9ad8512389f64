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
        retake pipeline stages
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

struct PipelineStagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stages", abstract: "List the kinds of nodes, with their options.",
    discussion: """
      Example:
        retake pipeline stages
      """)

  func run() throws {
    let registry = CommandEnvironment.current.registry
    for kind in registry.kinds {
      guard let signature = registry.signature(of: kind) else { continue }
      let types = [signature.input, signature.output].map { $0?.description ?? "any" }
      Console.result("\(kind)  \(types[0]) → \(types[1])  \(signature.summary)")
      // A kind with options that must be given has no defaults to print.
      if let options = try? registry.make(kind: kind, options: .object([:])).options,
        case .object(let members) = options, !members.isEmpty
      {
        Console.result("  \(options.canonicalText)")
      }
    }
  }
}
