import ArgumentParser
import Retake

struct PipelineStagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stages", abstract: "List the kinds of nodes, with their options.",
    discussion: """
      Each option is printed with its default and an explanation. Explain the options of your own
      stages with 'explanations' of StageOptions.

      Examples:
        retake pipeline stages
        retake pipeline stages motion
        retake pipeline stages --json
        retake pipeline stages --markdown > stages.md
      """)

  @Argument(help: "A kind, or several; all if not given.")
  var kinds: [String] = []

  @Flag(help: "Print a page in Markdown.")
  var markdown = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !(markdown && output.json) else {
      throw ValidationError("--json and --markdown are two forms; leave one out")
    }
  }

  func run() throws {
    let registry = CommandEnvironment.current.registry
    for kind in kinds where registry.signature(of: kind) == nil {
      throw ValidationError(
        "there is no kind of node '\(visible(kind))'. "
          + Suggestion.advice(for: kind, among: registry.kinds))
    }
    let list = StageList(registry, kinds: kinds.isEmpty ? registry.kinds : kinds)
    if output.json {
      Console.data(list.json.canonicalText)
    } else if markdown {
      Console.data(list.markdown)
    } else {
      Console.result(list.text)
    }
  }
}
