import ArgumentParser
import Foundation
import Retake

struct PipelineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipeline", abstract: "Check pipelines, and see examples.",
    discussion: """
      Examples:
        retake pipeline example motion-boxes > motion.json
        retake pipeline check motion.json
        retake pipeline stages
      """,
    subcommands: [
      PipelineCheckCommand.self, PipelineExampleCommand.self, PipelineStagesCommand.self,
    ])
}

struct PipelineCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a pipeline document before anything runs.",
    discussion: """
      Exits with 0 when it can run, with 2 and the place of the first mistake if not.

      Examples:
        retake pipeline check motion.json
        retake pipeline check example:motion-boxes --json
      """)

  @Argument(help: "A JSON file, a case of retake.yml, or example:NAME.")
  var pipeline: String

  @OptionGroup var output: OutputOptions

  func run() throws {
    let environment = CommandEnvironment.current
    let pipeline = try environment.project().pipeline(
      self.pipeline, catalog: environment.registry, given: environment.pipelines)
    if output.json {
      Console.result(try PipelineDocument.json(of: pipeline).canonicalText)
      return
    }
    Console.result("\(pipeline.name)  digest \(pipeline.digest)")
    for node in try pipeline.topologicalOrder() {
      let inputs = pipeline.edges.filter { $0.to == node.id }
      let queue = inputs.map { "\($0.from) → \($0.policy.rawValue) \($0.capacity)" }
      let cost = node.cost.map { "  cost \($0.json.canonicalText)" } ?? ""
      Console.result("  \(node.id)  \(node.kind)\(cost)  \(queue.joined(separator: ", "))")
    }
    let free = pipeline.nodes.filter {
      $0.cost == nil && [.pure, .stateful].contains($0.stage.signature.role)
    }
    if !free.isEmpty {
      output.note(
        "note: without a cost, so 0 in redecide: \(free.map(\.id).joined(separator: ", "))")
    }
  }
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
      Console.result(try PipelineDocument.json(of: pipeline).canonicalText)
    } else if let example = ExamplePipelines.named(name) {
      Console.result(example.document)
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
      if let options = try? registry.make(kind: kind, options: .object([:])).options,
        case .object(let members) = options, !members.isEmpty
      {
        Console.result("  \(options.canonicalText)")
      }
    }
  }
}
