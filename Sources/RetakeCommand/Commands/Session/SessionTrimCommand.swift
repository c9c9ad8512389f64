import ArgumentParser
import Retake

struct SessionTrimCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trim", abstract: "Make a new session of a span of another one's time.",
    discussion: """
      Times count from the session's first frame; --to itself is not in the span. Nothing that was \
      seen outside of the span comes along: packets are copied only where all that they show lies \
      inside, other frames are encoded again without loss. Frames keep their times and their pixels, \
      bit for bit, which is checked before the new session appears.

      Examples:
        retake session trim yard --from 2s --to 5s --into Trimmed
        retake session trim yard --from 500ms --into Trimmed --name yard-late --json
      """)

  @OptionGroup var session: SessionArgument
  @Option(help: ArgumentHelp("Where the span begins, such as 2s or 500ms.", valueName: "time"))
  var from: String?
  @Option(help: ArgumentHelp("Where it ends; the end if not given.", valueName: "time"))
  var to: String?
  @OptionGroup var target: TargetOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard from != nil || to != nil else { throw ValidationError("Say --from, --to, or both") }
    for (option, text) in [("--from", from), ("--to", to)] {
      if let text, Duration(parsing: text) == nil {
        throw ValidationError("'\(option) \(text)' is not like 2s or 500ms")
      }
    }
    let (from, to) = (from.flatMap { Duration(parsing: $0) }, to.flatMap { Duration(parsing: $0) })
    if let to, to <= from ?? .zero {
      throw ValidationError("--to comes behind --from")
    }
  }

  func run() throws {
    let path = try session.path(in: try CommandEnvironment.current.project())
    let options = SessionTrim.Options(
      from: from.flatMap { Duration(parsing: $0) } ?? .zero,
      to: to.flatMap { Duration(parsing: $0) },
      target: target.target)
    let result = try SessionProgress.shown("trimming", output) { report in
      try SessionTrim(of: path, options, report: report).run()
    }
    for note in result.notes { output.note("note: \(visible(note))") }
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
