import ArgumentParser
import Foundation
import Retake

struct ReportCommands: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Open and serve reports in a browser.",
    discussion: """
      Examples:
        retake report open
        retake report serve
      """,
    subcommands: Annexes.commands(of: Self.self, among: [ReportOpenCommand.self]))
}
