import ArgumentParser
import Foundation
import Retake

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a folder a project: write a retake.yml.",
    discussion: """
      Writes retake.yml with a case for each pipeline of the program, or for the example
      motion-boxes with its document in Pipelines, and lines for .gitignore. Files that exist are
      left as they are. With --swift, the pipeline has a stage in Swift, which 'retake build'
      compiles.

      Examples:
        retake init
        retake init --pipeline Pipelines/detector.json
        retake init --swift mycam
      """)

  @Argument(help: "The folder; made if it is absent.")
  var folder = "."

  @Option(
    name: [.short, .long],
    help: """
      The pipeline of the only case: a JSON file, or example:NAME. If not given, each pipeline of \
      the program has a case.
      """)
  var pipeline: String?

  @Flag(help: "Write a stage in Swift, a pipeline with it, and a package of SwiftPM.")
  var swift = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard pipeline == nil || !swift else {
      throw ValidationError("--swift writes its own pipeline; leave out --pipeline")
    }
  }

  func run() throws {
    let environment = CommandEnvironment.current
    try makeFolder()
    let project = try environment.project(in: folder)
    if let other = project.enclosing {
      output.note("note: this makes a separate project inside the project of \(visible(other))")
    }
    let start = ProjectStart(project)
    let result = try swift ? start.writeSwift() : start.write(pipeline: pipeline)
    if output.json { return try Console.json(result) }
    for file in result.kept { Console.result("kept \(file), which is there already") }
    for file in result.written { Console.result("wrote \(file)") }
    for file in result.leftOut {
      Console.result("left out \(file): to test it, add a case for it to retake.yml")
    }
    if output.quiet { return }
    // Read again, because retake.yml may be new.
    let sessions = try environment.project(in: folder).sessionNames
    let way = folder == "." ? "" : "cd \(folder.shellWord), then: "
    let test = sessions.isEmpty ? "retake import clip.mp4, then: retake test" : "retake test"
    Console.result("next: \(way)\(swift ? "retake build" : test)")
  }

  private func makeFolder() throws {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw SuiteError.notWritable(path: folder, cause: error.systemText)
    }
  }
}
