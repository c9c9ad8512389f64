import ArgumentParser
import Retake

/// For commands that run pipelines.
struct ProgramOptions: ParsableArguments {
  @Flag(
    name: .long,
    help: ArgumentHelp(
      "Let pipelines start programs.",
      discussion: """
        A node of kind 'process' runs a program. Without this flag, only programs that retake.yml \
        names are started: allow: {processes: [python3]}.
        """))
  var allowProcesses = false

  @OptionGroup var ban: ProgramBan

  @Flag(
    name: .long,
    help: ArgumentHelp(
      "Let pipelines read images, detections and costs outside of the project.",
      discussion: """
        Images, stored detections, timings and device profiles are otherwise read only in the \
        folder in which the command runs, because a report shows their content.
        """))
  var allowOutside = false

  @Flag(
    name: .long,
    help: ArgumentHelp(
      "Show the output of programs in pipelines.",
      discussion: """
        Each line of their standard output, standard error and log goes to standard error, after \
        the program's name. Without this flag, only an error shows the last lines.
        """))
  var showPrograms = false

  @Flag(
    name: .long,
    help: "Fetch no session from a store: a session that is not in the local cache is an error.")
  var offline = false

  func validate() throws {
    if allowProcesses, ban.noProcesses {
      throw ValidationError("--allow-processes and --no-processes exclude each other: choose one")
    }
  }

  /// The project of the working folder.
  ///
  /// - Parameters:
  ///   - watchdog: Without a watchdog, the time limits of programs are lifted, too: someone may
  ///     look at one of them in a debugger.
  ///   - pipeline: A program that the command line names, which is allowed by that.
  func project(
    _ watchdog: WatchdogOptions? = nil, for pipeline: ProgramPipeline? = nil
  ) throws -> Project {
    var project = try ban.project()
    if let pipeline { project.programs = project.programs.adding(pipeline.program) }
    project.store.isOffline = offline
    if allowProcesses { project.programs = .all }
    if allowOutside { project.places = .asNamed }
    if showPrograms { project.programListener = CommandEnvironment.current.programListener }
    if watchdog?.watchdog == 0 { project.programLimits = .lifted }
    return project
  }
}
