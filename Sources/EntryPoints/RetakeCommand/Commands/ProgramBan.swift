import ArgumentParser
import Retake

/// For commands that read pipelines.
struct ProgramBan: ParsableArguments {
  @Flag(
    name: .long,
    help: ArgumentHelp(
      "Start no program, whatever retake.yml allows.",
      discussion: """
        A pipeline with a program is an error then (exit code 2). For projects that you have not \
        read, and for CI jobs of pull requests.
        """))
  var noProcesses = false

  /// The project of the working folder.
  func project() throws -> Project {
    var project = try CommandEnvironment.current.project()
    if noProcesses { project.programs = .forbidden }
    return project
  }
}
