import ArgumentParser
import Retake

struct SessionCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check every checksum and reference of a session.",
    discussion: """
      Names each damaged row, packet and frame, with advice. Exits with 0 if the session is as it \
      was stored, even if the session itself records that frames are missing; with 2 if data is \
      damaged. A frame that ends the restricted process costs the check its group of pictures.

      Examples:
        retake session check yard
        retake session check yard --deep --json
      """)

  @OptionGroup var session: SessionArgument
  @Flag(help: "Also decode every frame and compare its pixels.")
  var deep = false
  @Option(
    help: ArgumentHelp(
      """
      Read the session in a process that can reach only it, and has a limit of memory: if the \
      system can restrict it (auto), or else with an error (always).
      """, valueName: "auto|always|never"))
  var sandbox = SandboxChoice.auto
  @OptionGroup var output: OutputOptions

  func run() throws {
    if SandboxedProcess.current != nil { return try SandboxedCheck.serve(check) }
    let path = try session.path(in: try CommandEnvironment.current.project())
    let isRestricted = try SandboxedProcess.isUsed(sandbox, for: path) { output.note($0) }
    let diagnosis =
      try isRestricted
      ? SandboxedCheck(path: path, decodes: deep).run() : check(path, losses: []) { _ in }
    if output.json {
      try Console.json(diagnosis)
    } else {
      report(diagnosis)
    }
    if !diagnosis.isHealthy { throw CommandEnd(status: .error) }
  }

  private func check(
    _ path: String, losses: [DecodingPlace.Loss],
    willDecode: @escaping @Sendable (DecodingPlace) throws -> Void
  ) throws -> SessionDiagnosis {
    try SessionProgress.shown("checking", output, megabytes: "checking MiB") { report in
      do {
        return try SessionCheck(
          path: path, decodes: deep, losses: losses, willDecode: willDecode, report: report
        ).run()
      } catch SessionError.interrupted {
        // A check writes no file.
        var facts = SessionError.interrupted.facts
        facts.message = "interrupted; the check is incomplete"
        throw facts
      }
    }
  }

  private func report(_ diagnosis: SessionDiagnosis) {
    for finding in diagnosis.findings {
      Console.result("\(finding.severity.rawValue): \(visible(finding.message)) [\(finding.code)]")
      if let advice = finding.advice { Console.result("  \(visible(advice))") }
    }
    if diagnosis.omitted > 0 { Console.result("and \(diagnosis.omitted) more") }
    Console.result(Self.verdict(diagnosis))
  }

  private static func verdict(_ diagnosis: SessionDiagnosis) -> String {
    let checked =
      diagnosis.framesChecked > 0
      ? "\(counted(diagnosis.packetsChecked, "packet")) and "
        + "\(counted(diagnosis.framesChecked, "frame")) checked"
      : "\(counted(diagnosis.packetsChecked, "packet")) checked; --deep also decodes the frames"
    let lost =
      diagnosis.damagedFrames > 0
      ? "; \(counted(diagnosis.damagedFrames, "frame")) cannot be replayed" : ""
    guard diagnosis.isHealthy else { return "damaged: \(checked)\(lost)" }
    // Another status is not damage: the session itself records the data that it lacks.
    guard let status = diagnosis.status, status != .clean else {
      return "intact: \(checked)\(lost)"
    }
    return "\(status.rawValue), and as it was stored: \(checked)\(lost)"
  }
}
