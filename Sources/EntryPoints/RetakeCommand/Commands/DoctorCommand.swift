import ArgumentParser
import Retake

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check this machine's setup, and print the command that fixes each problem.",
    discussion: """
      Exits with 0 if every requirement is met, with 2 otherwise. In a project, the pipeline and the
      files of each case are read, too.

      Example:
        retake doctor
      """)

  @OptionGroup var output: OutputOptions

  func run() throws {
    let environment = CommandEnvironment.current
    let checks = MachineDoctor(models: environment.registry.annexes.models) {
      try environment.project()
    }.run()
    if output.json {
      try Console.json(checks)
    } else {
      for check in checks { Console.result(Self.line(check)) }
    }
    // An advisable part is not required.
    if checks.contains(where: { [.missing, .invalid].contains($0.state) }) {
      throw CommandEnd(status: .error)
    }
  }

  private static func line(_ check: MachineDoctor.Check) -> String {
    let mark =
      switch check.state {
      case .present: "ok      "
      case .advisable: "advised "
      case .missing: "missing "
      case .invalid: "invalid "
      }
    let line = "\(mark)\(check.name)  \(visible(check.detail))"
    return check.command.map { "\(line)\n        \(visible($0))" } ?? line
  }
}
