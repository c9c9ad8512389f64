import ArgumentParser
import Foundation
import Retake

struct ReportPublishCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Add a report to a static site over branches and days.",
    discussion: """
      The site is a folder: any web server shows it, and so does a browser from disk. Its first page
      has a row for each run, with the commands that accept each change. Several jobs can publish to
      one folder at once. Branch and commit come from the variables of the CI service, or from git:
      the commit that was checked out when the report was made.

      Examples:
        retake test --report report
        retake report publish /mnt/site
        retake report publish site --report report --branch main
        retake trend /mnt/site

      Exit codes: 0 published, 2 error, 130 interrupted: the run was not added.
      """)

  @Argument(help: "The folder of the site; it is created if it is missing.")
  var site: String

  @Option(help: "The report's folder; the newest report if not given.")
  var report: String?

  @Option(help: "The branch of the run.")
  var branch: String?

  @Option(help: "The commit of the run.")
  var commit: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    Interruption.listen()
    let project = try CommandEnvironment.current.project()
    for folder in [site, site + "/runs", site + "/images"] { try project.requireOwn(folder) }
    let document = try ReportLibrary.document(at: report, in: project)
    let revision = try PublishedRevision(
      branch: branch, commit: commit, at: document.generatedAt, in: project)
    if let note = revision.note { output.note("note: \(note)") }
    let folder = URL(fileURLWithPath: project.path(site), isDirectory: true)
    let page = try ReportSite(folder).publish(
      document, branch: revision.branch, commit: revision.commit
    ) {
      if Interruption.isRequested { throw RuntimeError.interrupted }
    }
    if output.json {
      struct Published: Encodable {
        var page: String
        var branch: String
        var commit: String?
      }
      try Console.json(
        Published(page: page.path, branch: revision.branch, commit: revision.commit),
        isPretty: false)
    } else {
      Console.result(page.path)
    }
  }
}
