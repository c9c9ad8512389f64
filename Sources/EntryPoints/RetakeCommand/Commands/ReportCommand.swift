import ArgumentParser
import Foundation
import Retake
import RetakeProcess

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

/// The default browser of the desktop.
enum DesktopBrowser {
  #if os(macOS)
    private static let opener = "open"
  #else
    private static let opener = "xdg-open"
  #endif

  /// Opens the page and does not wait; `false` if no browser was found.
  static func open(_ page: URL) -> Bool {
    guard let found = ChildProcess.path(of: opener) else { return false }
    // A desktop that does not start the browser is not an error: the path is printed.
    return (try? ChildProcess(ChildProcess.Request(found, [page.path]))) != nil
  }
}
