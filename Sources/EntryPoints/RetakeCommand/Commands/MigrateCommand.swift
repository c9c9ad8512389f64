import ArgumentParser
import Retake

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Replace renamed words in the documents of a project.",
    discussion: """
      Changes retake.yml, pipelines and goldens: only the words, so comments and formatting stay.
      Results and digests stay as they are. Code and scripts with an old word are listed and not
      changed. Projects inside the folder are left out; name each of them.

      Exit codes: 0 rewritten, or nothing to do; 1 with --check, if a document has an old word.

      Examples:
        retake migrate --check
        retake migrate
        retake migrate Examples/CTags --json
      """)

  @Argument(help: "The folder of the project; the current one if not given.")
  var folder: String?

  @Flag(help: "List the files that would be rewritten, without changing them.")
  var check = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let migration = try ProjectMigration(folder: folder ?? CommandEnvironment.current.folder)
    let result = try migration.run(isCheck: check)
    if output.json {
      try Console.json(result)
    } else {
      report(result)
    }
    if check, !result.changes.isEmpty { throw CommandEnd(status: .regression) }
  }

  private func report(_ result: ProjectMigration.Result) {
    for change in result.changes {
      Console.result(visible("\(change.file):\(change.line): \(change.old) → \(change.new)"))
    }
    for file in result.unsearched {
      output.note(visible("warning: \(file) was not searched: invalid JSON, or too large"))
    }
    if result.changes.isEmpty {
      output.note(
        result.unsearched.isEmpty
          ? "no document has an old word" : "no document that was searched has an old word")
    }
    for hint in result.hints {
      output.note(
        visible("hint: \(hint.file):\(hint.line): '\(hint.old)' was renamed to '\(hint.new)'"))
    }
    if result.furtherHints > 0 { output.note("and \(result.furtherHints) other hints") }
    for project in result.otherProjects {
      output.note("next: retake migrate \(project.shellWord), a separate project")
    }
  }
}
