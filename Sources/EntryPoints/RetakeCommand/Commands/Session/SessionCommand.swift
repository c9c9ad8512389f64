import ArgumentParser
import Foundation
import Retake

struct SessionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "session",
    abstract: "List, note, check, repair, trim, convert and export sessions.",
    discussion: """
      Examples:
        retake session list
        retake session info yard --json
        retake session note yard 'gate 3, rain'
        retake session check yard --deep
        retake session trim yard --from 2s --to 5s --into Trimmed
        retake session transcode yard --into Fast
        retake session redact yard --pipeline faces.json --as yard-public
      """,
    subcommands: [
      SessionListCommand.self, SessionInfoCommand.self, SessionNoteCommand.self,
      SessionCheckCommand.self,
      SessionRecoverCommand.self, SessionSnapshotCommand.self, SessionTrimCommand.self,
      SessionJoinCommand.self,
      SessionTranscodeCommand.self, SessionRedactCommand.self, SessionExportCommand.self,
      SessionPackCommand.self,
      SessionUnpackCommand.self, SessionMigrateCommand.self,
    ])
}

struct SessionListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the sessions of a folder.",
    discussion: """
      Examples:
        retake session list
        retake session list --from /mnt/footage --json
      """)

  @Option(help: "The folder with the sessions.")
  var from = "Recordings"

  @OptionGroup var output: OutputOptions

  func run() throws {
    let stored = SessionPointer.names(in: from)
    if output.json {
      let listed = try SessionList(in: from).items.map { ListedSession($0) }
      let folders = Set(listed.map(\.name))
      let pointers = stored.filter { !folders.contains($0) }.map { ListedSession(stored: $0) }
      return try Console.json(listed + pointers)
    }
    // A line needs few rows of a session, however long it is. The JSON has all that `info` has.
    let items = try SessionList.summaries(in: from)
    guard !items.isEmpty || !stored.isEmpty else {
      output.note("no sessions in \(from)\n  Make one: retake import FILE")
      return
    }
    for item in items { Console.result(Self.line(item.folder, item.summary)) }
    let folders = Set(items.map { $0.folder.name })
    for name in stored where !folders.contains(name) {
      Console.result("\(name)  in a store: retake store pull \(name)")
    }
  }

  private static func line(
    _ folder: SessionFolder, _ summary: Result<SessionSummary, any Error>
  ) -> String {
    switch summary {
    case .success(let info):
      let seconds = Double(info.durationNanoseconds) / 1e9
      let tracks = info.tracks.map { "\($0.width)x\($0.height) \(visible($0.codec))" }
      let labels = [info.started, info.note].compactMap(\.self).map { "  " + visible($0) }
      return
        "\(visible(info.name))  \(info.status.rawValue)  \(counted(info.frames, "frame"))  "
        + "\((seconds * 10).rounded() / 10) s  " + tracks.joined(separator: ", ")
        + labels.joined()
        + (info.status == .unclosed
          ? "  close it: retake session recover \(folder.path.shellWord)" : "")
    case .failure(let error):
      let facts = error.facts
      return "\(visible(folder.name))  unreadable: \(visible(facts.message))"
        + (facts.cause.map { visible(" (\($0))") } ?? "")
    }
  }
}

/// A session in `session list --json`.
private struct ListedSession: Encodable {
  var name: String
  var info: SessionInfo?
  var error: String?
  /// Whether only a pointer is here, and the session is in a store.
  var isStored: Bool?

  init(stored name: String) { (self.name, isStored) = (name, true) }

  init(_ item: SessionList.Item) {
    name = item.folder.name
    switch item.info {
    case .success(let info): self.info = info
    case .failure(let error): self.error = error.causeText
    }
  }
}

struct SessionInfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Show the content of a session.",
    discussion: """
      Examples:
        retake session info yard
        retake session info Recordings/yard --json
      """)

  @OptionGroup var session: SessionArgument
  @OptionGroup var output: OutputOptions

  func run() throws {
    let path = try session.path(in: try CommandEnvironment.current.project())
    let reader = try SessionReader(opening: path)
    let info = try reader.info()
    if output.json {
      try Console.json(info)
      return
    }
    Console.result(visible("\(info.name)  \(info.status.rawValue), \(info.kind)  \(info.path)"))
    if info.status == .unclosed {
      Console.result("  close it: retake session recover \(info.path.shellWord)")
    }
    for track in info.tracks { Console.result(visible("  " + Self.text(of: track))) }
    Console.result(
      "  \(counted(info.frames.captured, "frame")), \(info.frames.damaged) damaged, "
        + "\(info.frames.payloadMissing) without pixels, \(counted(info.events, "event")), "
        + ByteText.of(info.bytes))
    if let source = info.source { Console.result("  source: \(visible(source))") }
    if let started = info.started { Console.result("  recorded: \(started)") }
    if let note = info.note { Console.result("  note: \(visible(note))") }
    for sensor in reader.sensors { Console.result("  " + SensorText.line(sensor)) }
    // For a damaged session, everything that can be read is shown.
    if let events = try? reader.events(), !events.isEmpty {
      Console.result("  events: \(visible(Self.kinds(of: events)))")
    }
    if let runs = try? reader.liveRuns(), !runs.isEmpty {
      let isTrimmed = (try? reader.isTrimmed()) ?? false
      Console.result(
        "  \(counted(runs.count, "live run"))"
          + (isTrimmed ? ", only stage times (trimmed)" : "; --mode reproduce replays them"))
    }
    if let losses = info.losses { Console.result("  incomplete: \(visible(losses))") }
    for note in info.notes ?? [] { Console.result("  note: \(visible(note))") }
    // All of them: an import shows ten, and this is where the others are.
    for line in TimeText.lines(info.times ?? [], of: info.timeCount ?? 0, max: .max) {
      Console.result("  time: \(line)")
    }
    Console.result("  digest \(info.sessionDigest)")
  }

  /// `source.back 1, source.stalled 1`.
  private static func kinds(of events: [SessionEvent]) -> String {
    let counts = Dictionary(events.map { ($0.kind, 1) }, uniquingKeysWith: +)
    return counts.keys.sorted().map { "\($0) \(counts[$0] ?? 0)" }.joined(separator: ", ")
  }

  private static func text(of track: SessionInfo.Track) -> String {
    var color = "\(track.format.rawValue) \(track.range.rawValue) \(track.matrix.rawValue)"
    // Only the properties that the file declares, without assumptions.
    if let transfer = track.transfer { color += " transfer \(visible(transfer))" }
    if let primaries = track.primaries { color += " primaries \(visible(primaries))" }
    if let matrix = track.otherMatrix { color += " matrix \(visible(matrix)) is not known" }
    let assumed =
      track.assumed.isEmpty ? "" : " (assumed: \(track.assumed.joined(separator: ", ")))"
    let mirror = track.mirrored == true ? "  mirrored left to right" : ""
    let rotation =
      mirror
      + (track.rotationDegrees == 0
        ? "" : "\(mirror.isEmpty ? " " : ",") turned \(track.rotationDegrees)° clockwise")
    let topic = track.topic.map { "  \(visible($0))" } ?? ""
    let hidden =
      track.hidesLosses == true ? "  (does not show whether an image was lost)" : ""
    return "track \(track.track)\(topic)  \(track.codec)  \(track.width)x\(track.height)  \(color)"
      + "\(assumed)  \(SpanText.of(track))\(rotation)\(hidden)"
  }
}
