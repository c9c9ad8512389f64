package import RetakeCore

/// Why a program was not started, or why its stage could not be made.
package enum ForeignError: RetakeError, Hashable {
  /// Neither retake.yml nor the command line allows the program.
  case notAllowed(String)
  /// A pipeline that came with a session would start the program.
  case neverAllowed(String)
  /// The command line forbids all programs.
  case forbidden(String)
  case notFound(String)
  case notStarted(String, cause: String)
  /// The library that shows virtual time to a program is not installed.
  case noFakeClock(String)
  /// The program did not answer to the first message as it must.
  ///
  /// - Parameter hasWords: Whether the cause has its last lines, which say why.
  case notReady(String, cause: String, hasWords: Bool)

  package var facts: ErrorFacts {
    switch self {
    case .notAllowed(let name):
      ErrorFacts(
        "process.notAllowed",
        "the program '\(name)' may not be started: a document starts only programs that are allowed",
        advice: "Write allow: {processes: [\(JSONValue.quoted(name))]} in retake.yml, or add "
          + "--allow-processes to the command")
    case .neverAllowed(let name):
      ErrorFacts(
        "process.neverAllowed",
        "the program '\(name)' may not be started: a pipeline in a session starts no programs",
        advice: "Name the pipeline's own file: --pipeline FILE")
    case .forbidden(let name):
      ErrorFacts(
        "process.forbidden",
        "the program '\(name)' may not be started: --no-processes forbids all programs",
        advice: "Leave out --no-processes if you trust the program and its pipeline")
    case .notFound(let name):
      ErrorFacts(
        "process.notFound", "there is no program '\(name)'",
        advice: name.contains("/")
          ? "Write its path from the working folder, and make the file executable"
          : "Install it, or write its path")
    case .notStarted(let name, let cause):
      ErrorFacts(
        "process.notStarted", "the program '\(name)' could not be started", cause: cause,
        advice: "Check that it runs from a shell in this folder")
    case .noFakeClock(let name):
      ErrorFacts(
        "process.noFakeClock",
        "the program '\(name)' needs a virtual clock, but libfaketime is not installed",
        advice: "Install it: apt-get install libfaketime; or leave out clock: preload")
    case .notReady(let name, let cause, let hasWords):
      ErrorFacts(
        "process.notReady", "the program '\(name)' did not become ready", cause: cause,
        advice: hasWords
          ? "Fix the error in its last lines, in the program or in the options of its node; "
            + "--show-programs shows all of its lines"
          : "Start it by itself in this folder to see its errors; in Python it has to end with "
            + "retake.main(…), and 'output' of the node and of the stage are the same")
    }
  }
}
