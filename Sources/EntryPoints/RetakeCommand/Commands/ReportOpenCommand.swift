import ArgumentParser
import Foundation
import Retake

struct ReportOpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Open a report's page in the browser.",
    discussion: """
      Without a path: the newest report in this folder. The page's path is printed in any case; on
      a machine without a browser that is all.

      Examples:
        retake report open
        retake report open report
      """)

  @Argument(help: "A report's folder, or its page; the newest if not given.")
  var path: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let page = try ReportLibrary.page(at: path, in: project)
    let isOpened = DesktopBrowser.open(page)
    if output.json {
      struct Opened: Encodable {
        var page: String
        var opened: Bool
      }
      try Console.json(Opened(page: page.path, opened: isOpened), isPretty: false)
      return
    }
    Console.result(page.path)
    if !isOpened { output.note("there is no browser here; open the page by hand") }
  }
}
