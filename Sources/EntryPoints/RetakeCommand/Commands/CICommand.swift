import ArgumentParser
import Retake

struct CICommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ci", abstract: "Write the job file of a CI service.",
    discussion: """
      Examples:
        retake ci init github
      """,
    subcommands: [CIInitCommand.self])
}
