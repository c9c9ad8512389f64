import ArgumentParser
import Retake

struct SessionTrimCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trim", abstract: "Make a new session from a time span of another one.",
    discussion: """
      Times count from the session's first frame; the span ends before --to. No image from outside \
      of the span is copied: packets are copied if all their frames are inside, and other frames \
      are encoded again without loss. Frames keep their times and their pixels, bit for bit, which \
      is checked before the new session appears.

      Examples:
        retake session trim yard --from 2s --to 5s               # makes Recordings/yard-trim
        retake session trim yard --from 1:30 --name yard-late --into Trimmed --json
      """)

  @OptionGroup var session: SessionArgument
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Where the span begins, such as 2s, 500ms or 1:30.", valueName: "time"))
  var from: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Where it ends; the end if not given.", valueName: "time"))
  var to: String?
  @OptionGroup var target: TargetOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard from != nil || to != nil else { throw ValidationError("Say --from, --to, or both") }
    for (option, text) in [("--from", from), ("--to", to)] {
      try TimeArgument.check(text, of: option)
    }
    let (start, end) = (from.flatMap(TimeArgument.parse), to.flatMap(TimeArgument.parse))
    // Times count from the first frame, where the span begins without --from.
    if let end, end <= start ?? .zero {
      throw ValidationError(
        "'--to \(to ?? "")' is not after '--from \(from ?? "0s")': the span would be empty")
    }
  }

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let path = try session.path(in: project)
    let options = SessionTrim.Options(
      from: from.flatMap(TimeArgument.parse) ?? .zero, to: to.flatMap(TimeArgument.parse),
      target: target.target(for: path, in: project, suffix: "trim"))
    let result = try SessionProgress.shown("trimming", output) { report in
      try SessionTrim(of: path, options, report: report).run()
    }
    let own = [NewSession(result.path, in: project).noteOfCopy].compactMap(\.self)
    for note in result.notes + own { output.note("note: \(visible(note))") }
    if output.json {
      try Console.json(result)
      return
    }
    let seconds = Double(result.durationNanoseconds) / 1e9
    Console.result(
      "\(result.status.rawValue)  \(counted(result.frames, "frame")), \((seconds * 1_000).rounded() / 1_000) s, "
        + "\(counted(result.events, "event"))  \(result.path)")
    Console.result(
      "  \(counted(result.copiedFrames, "frame")) copied, \(result.encodedFrames) encoded without loss, "
        + "\(result.damagedFrames) damaged; all replay as in the original")
    Console.result("  digest \(result.sessionDigest)")
  }
}
