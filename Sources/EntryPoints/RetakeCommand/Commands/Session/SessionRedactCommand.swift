import ArgumentParser
import Foundation
import Retake

struct SessionRedactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redact",
    abstract: "Make a copy in which the objects that a pipeline finds are unrecognizable.",
    discussion: """
      The pipeline is replayed over the session, and its primary results node receives the boxes. \
      Each box is enlarged, kept for some time before and after, and averaged in large cells. The \
      copy has one track, encoded again, and no sound, sensors, events, notes, dates or names of \
      the original. media/redaction.jsonl in the copy lists the areas of each frame. A detector \
      misses objects: look at the frames that the command calls uncertain before you share the copy.

      Examples:
        retake session redact yard --pipeline faces.json --as yard-public
        retake session redact yard --pipeline faces.json --as yard-public --margin 40 --hold 2s
        retake session redact yard --pipeline faces.json --as yard-public --key parents.key --json
      """)

  @OptionGroup var session: SessionArgument
  @Option(
    name: [.short, .customLong("pipeline")],
    help: "The detector: a JSON file, a case of retake.yml, or example:NAME.")
  var pipeline: String
  @Option(
    name: .customLong("as"), help: ArgumentHelp("The name of the copy.", valueName: "name"))
  var name: String
  @Option(help: "The folder that the copy's folder is made in; Recordings if not given.")
  var into: String?
  @Option(
    name: .long,
    help: "The track to read: a number, or NODE=NUMBER for a pipeline with several sources.")
  var track: [String] = []
  @Option(
    parsing: .unconditional,
    help: "Enlarge each box at each side by this percentage, and by 8 pixels at least.",
    transform: Bounded.whole(0...1_000))
  var margin = 20
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Keep a box this long before an object is found first, and after it is found last.",
      valueName: "time"))
  var hold = "1s"
  @Option(help: "The encoding of the copy: raw, or a preset of record: ffv1, h264, mpeg4, mjpeg.")
  var preset = RecordingPreset.ffv1.rawValue
  @Option(
    help: ArgumentHelp(
      "Name the original by HMAC-SHA-256 of its digest, with the bytes of this file as the key.",
      valueName: "file"))
  var key: String?
  @OptionGroup var programs: ProgramOptions
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    for choice in track where TrackChoice(choice) == nil {
      throw ValidationError("'--track \(choice)' is neither a number nor NODE=NUMBER")
    }
    try TimeArgument.check(hold, of: "--hold")
  }

  func run() throws {
    let encoding = try SessionTranscodeCommand.encoding(preset)
    let project = try programs.project(watchdog)
    let work = try work(in: project, encoding)
    let result = try SessionTranscodeCommand.advisingAs {
      Interruption.listen()
      let line = ProgressLine(isQuiet: output.quiet)
      defer { line.finish() }
      var work = work
      work.progress = { line.update("detecting", done: $0, total: $1) }
      return try work.run { progress in
        line.update("redacting", done: progress.done, total: progress.total)
        return !Interruption.isRequested
      }
    }
    let copy = NewSession(result.path, in: project)
    let own = [copy.noteOfCopy].compactMap(\.self)
    for note in result.notes + own { output.note("note: \(visible(note))") }
    if let advice = Self.advice(result) { output.note(advice) }
    if let advice = copy.adviceOnGoldens(of: try session.path(in: project)) {
      output.note(visibleLines("note: " + advice, keepsColors: false))
    }
    if output.json { return try Console.json(result) }
    Console.result(Self.text(of: result))
  }

  private func work(in project: Project, _ encoding: ReplayEncoding) throws -> RedactionWork {
    var definition =
      project.definition(named: pipeline) ?? CaseDefinition(name: "redact", pipeline: pipeline)
    for choice in track.compactMap({ TrackChoice($0) }) {
      let nodes = choice.nodes(in: try project.pipeline(definition.pipeline))
      guard !nodes.isEmpty else {
        throw ValidationError("--track goes with a pipeline that reads a session")
      }
      for node in nodes { definition.tracks[node] = choice.track }
    }
    var job = ReplayJob(
      project: project, definition: definition, session: try session.path(in: project))
    job.options = watchdog.options()
    job.note = { output.note("note: \($0)") }
    var work = RedactionWork(
      job,
      SessionRedaction.Options(
        target: SessionTarget(into: into ?? project.recordings, name: name), encoding: encoding,
        keyFile: key))
    work.margin = Double(margin) / 100
    work.hold = TimeArgument.parse(hold) ?? work.hold
    return work
  }

  private static let spansMax = 10

  /// The frames that a person has to look at.
  private static func advice(_ result: RedactionResult) -> String? {
    guard let first = result.uncertain.first?.first else { return nil }
    let spans = result.uncertain.prefix(spansMax).map { span in
      span.first == span.last ? "\(span[0])" : "\(span[0])-\(span[1])"
    }
    let rest = result.uncertain.count - spans.count
    return
      "warning: look at \(counted(result.uncertainFrames, "uncertain frame")) before you share "
      + "the copy: \(spans.joined(separator: ", "))\(rest > 0 ? ", and \(rest) more ranges" : "")\n"
      + "  retake view \(result.path.shellWord) --start \(first)   (n, p: the next, the previous one)"
  }

  private static func text(of result: RedactionResult) -> String {
    let damaged = result.damagedFrames > 0 ? ", \(result.damagedFrames) of them damaged" : ""
    let parent = result.parent.map { "\n  parent \($0)" } ?? ""
    return "\(result.status.rawValue)  \(counted(result.frames, "frame"))\(damaged), "
      + "\(counted(result.boxes, "box", "boxes")) found, \(counted(result.areas, "area")) averaged  "
      + "\(result.path)\n  \(counted(result.framesWithoutArea, "frame")) without an area, "
      + "\(result.uncertainFrames) uncertain\(parent)\n  digest \(result.sessionDigest)"
  }
}
