import ArgumentParser
import Retake

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make this folder a project: write a retake.yml.",
    discussion: """
      Writes retake.yml with a case for each pipeline of the program, or for the example
      motion-boxes with its document in Pipelines, and lines for .gitignore. Files that exist are
      left as they are.

      Examples:
        retake init
        retake init --pipeline Pipelines/detector.json
      """)

  @Option(
    name: [.short, .long],
    help: """
      The pipeline of the only case: a JSON file, or example:NAME. If not given, each pipeline of \
      the program has a case.
      """)
  var pipeline: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    let environment = CommandEnvironment.current
    let project = try environment.project()
    if let other = project.enclosing {
      output.note("note: this makes a separate project inside the project of \(visible(other))")
    }
    let start = ProjectStart(project)
    let result = try start.write(pipeline: pipeline)
    if output.json { return try Console.json(result) }
    for file in result.kept { Console.result("kept \(file), which is there already") }
    for file in result.written { Console.result("wrote \(file)") }
    for file in result.leftOut {
      Console.result("left out \(file): to test it, add a case for it to retake.yml")
    }
    if output.quiet { return }
    // Read again, because retake.yml may be new.
    let sessions = try environment.project().sessionNames
    Console.result(
      sessions.isEmpty
        ? "next: retake import clip.mp4, then: retake test" : "next: retake test")
  }
}
