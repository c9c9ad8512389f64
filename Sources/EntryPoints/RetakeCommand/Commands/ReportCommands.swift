import ArgumentParser
import Foundation
import Retake

struct ReportCommands: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Open, serve and publish reports.",
    discussion: """
      Examples:
        retake report open
        retake report publish site
        retake report serve
      """,
    subcommands: Annexes.commands(
      of: Self.self, among: [ReportOpenCommand.self, ReportPublishCommand.self]))
}
