import ArgumentParser
import Foundation
import Retake

struct SessionJoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Put the frames of two cameras on one clock.",
    discussion: """
      Makes a session with the tracks of both. The first session keeps its times; the times of the \
      second are moved by an offset and a drift, which are measured from the sound of both, from \
      lights that both cameras saw switch on and off, or from the wall clocks of their recorders.

      Examples:
        retake session join left right --align audio
        retake session join left right --align flash --compare
        retake session join left right --align offset --offset=-237ms --drift 80 --name both
      """)

  enum Align: String, CaseIterable, ExpressibleByArgument {
    case wall, audio, flash, offset
  }

  @Argument(help: "The session whose clock is kept: its name in Recordings, or its folder.")
  var first: String
  @Argument(help: "The session whose times are moved.")
  var second: String
  @Option(help: "How the clocks are compared: wall, audio, flash or offset.")
  var align: Align
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --align offset: the first clock's time when the second shows zero, such as -237ms.",
      valueName: "time"))
  var offset: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --align offset: how much faster the first clock runs, in parts per million.",
      valueName: "ppm"))
  var drift: Double?
  @Flag(help: "Compare the clocks, and make no session.")
  var compare = false
  @Flag(help: "Join even if the confidence is below 0.5.")
  var force = false
  @Flag(help: "Link to the media rather than copying it.")
  var link = false
  @OptionGroup var target: TargetOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard align == .offset else {
      guard offset == nil, drift == nil else {
        throw ValidationError("--offset and --drift go with --align offset")
      }
      return
    }
    guard let offset else { throw ValidationError("Say how far they are apart: --offset 237ms") }
    guard Self.nanoseconds(offset) != nil else {
      throw ValidationError("'\(offset)' is not a time; use for example 237ms or -1.5s")
    }
    guard abs(drift ?? 0) <= 1_000 else {
      throw ValidationError("--drift is at most 1000 parts per million, not \(drift ?? 0)")
    }
  }

  private static func nanoseconds(_ text: String) -> Int64? {
    let isNegative = text.hasPrefix("-")
    guard let duration = Duration(parsing: isNegative ? text.dropFirst() : text[...]) else {
      return nil
    }
    return isNegative ? -duration.nanoseconds : duration.nanoseconds
  }

  private var method: SessionJoin.Method {
    switch align {
    case .wall: .wall
    case .audio: .audio
    case .flash: .flash
    case .offset:
      .offset(offset.flatMap(Self.nanoseconds) ?? 0, driftPPM: drift ?? 0)
    }
  }

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let (one, two) = (try project.sessionPath(first), try project.sessionPath(second))
    let result = try SessionProgress.shown("joining", output) { report in
      let join = SessionJoin(one, two, method: method, report: report)
      guard !compare else { return try join.compare() }
      return try join.run(
        to: target.target(for: one, in: project, suffix: "joined"), link: link, isForced: force)
    }
    for note in result.notes ?? [] { output.note("note: \(visible(note))") }
    if output.json { return try Console.json(result) }
    let found = result.alignment
    let seen = found.observations > 0 ? ", " + counted(found.observations, "observation") : ""
    Console.result(
      "offset \(Double(found.offsetNanoseconds) / 1e6) ms, drift \(found.driftPPM) ppm, "
        + "confidence \(found.confidence) (\(found.method)\(seen))")
    guard let path = result.path else { return }
    Console.result("joined  \(counted(result.frames ?? 0, "frame"))  \(visible(path))")
    for track in result.tracks ?? [] {
      Console.result(
        visible("  track \(track.track)  track \(track.original) of \(track.session)"))
    }
  }
}
