import ArgumentParser
import Foundation
import Retake

struct SessionExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a session's media or rows into files for other programs.",
    discussion: """
      Media is written as it was recorded, or remuxed into the container of the file extension \
      (mkv, mp4, mov, avi, nut, ts, webm); it is never encoded again. Where the codec or the size \
      changes, a new file begins: yard-1.mkv, yard-2.mkv. A file has one track: the first track, \
      or --track; a note names the others. '-' is standard output for tables.

      An MCAP file has frames (encoded again unless they are JPEG), sensors, results, decisions and \
      goldens as messages for Foxglove, each at its virtual time.

      Examples:
        retake session export yard --media yard.mkv
        retake session export yard --csv frames.csv
        retake session export yard --rows events --json-lines events.jsonl
        retake session export yard --rows decisions --json-lines - | head
        retake session export yard --rows samples --sensor gyroscope --csv gyroscope.csv
        retake session export yard --mcap yard.mcap --golden Goldens/yard/motion
      """)

  @OptionGroup var session: SessionArgument
  @Option(help: ArgumentHelp("A media file to write.", valueName: "file"))
  var media: String?
  @Option(help: ArgumentHelp("A table to write as CSV.", valueName: "file"))
  var csv: String?
  @Option(help: ArgumentHelp("A table to write as JSON lines.", valueName: "file"))
  var jsonLines: String?
  @OptionGroup var bag: BagArguments
  @Option(
    help: "The rows of the table: frames, packets, events, decisions, results, spans or samples.")
  var rows: SessionExport.Rows = .frames
  @Option(
    parsing: .unconditional, help: "The track of the media; the first if not given.",
    transform: Bounded.whole(from: 0))
  var track: Int?
  @Option(
    name: .customLong("run"), parsing: .unconditional,
    help: "The live run of decisions, results and spans; the newest if not given.",
    transform: Bounded.whole(from: 0))
  var liveRun: Int?
  @Option(help: "The sensor whose samples to write; may be left out if there is one.")
  var sensor: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let files = targets
    guard !files.isEmpty else {
      throw ValidationError(
        "no output is named: write --media FILE, --csv FILE, --json-lines FILE or --mcap FILE")
    }
    guard Set(files).count == files.count else {
      throw ValidationError("two outputs have the same file: name a different file for each")
    }
    if media == nil, bag.mcap == nil, track != nil {
      throw ValidationError(
        "--track goes with --media and --mcap; a table has the rows of all tracks")
    }
    if sensor != nil, rows != .samples {
      throw ValidationError("--sensor goes with --rows samples")
    }
    if liveRun != nil, ![.decisions, .results, .spans].contains(rows) {
      throw ValidationError("--run goes with --rows decisions, results or spans")
    }
    if bag.mcap == nil, bag.hasDetails {
      throw ValidationError("--codec and --golden go with --mcap")
    }
    if bag.mcap == "-" { throw ValidationError("--mcap needs a file; only tables can go to '-'") }
    if media == "-" { throw ValidationError("--media needs a file; only tables can go to '-'") }
    if output.json, files.contains("-") {
      throw ValidationError("--json and a table on standard output would mix; leave one out")
    }
  }

  /// The files to write, or `-` for standard output.
  private var targets: [String] { [media, csv, jsonLines, bag.mcap].compactMap(\.self) }

  /// One written file, in `--json`.
  private struct Written: Encodable {
    var file: String
    var rows: String
    var count: Int
    /// Tracks of the session that no media file contains; absent for tables.
    var otherTracks: [Int]?
    /// Present if the track has opacity that the file does not hold.
    var lacksOpacity: Bool?
    /// Other data of the session that the file lacks; absent without such data.
    var notes: [String]?
  }

  func run() throws {
    Console.outliveReaders()
    let path = try session.path(in: try CommandEnvironment.current.project())
    try checkTargets()
    let written = try SessionProgress.shown("exporting", output) { report in
      let export = SessionExport(of: path, report: report)
      var written: [Written] = []
      if let media {
        for file in try export.media(to: media, track: track) {
          written.append(
            Written(
              file: file.file, rows: "media", count: file.packets, otherTracks: file.otherTracks,
              lacksOpacity: file.lacksOpacity ? true : nil,
              notes: file.notes.isEmpty ? nil : file.notes))
        }
      }
      if let mcap = bag.mcap {
        for topic in try bag.write(path, track: track, run: liveRun, report: report) {
          written.append(Written(file: mcap, rows: topic.topic, count: topic.messages))
        }
      }
      for (file, form) in [(csv, SessionExport.Form.csv), (jsonLines, .jsonLines)] {
        guard let file else { continue }
        written.append(
          Written(file: file, rows: rows.rawValue, count: try table(export, form, file)))
      }
      return written
    }
    noteOtherTracks(written)
    noteOpacity(written)
    for note in written.flatMap({ $0.notes ?? [] }) { output.note("note: \(visible(note))") }
    if bag.mcap != nil { noteSensors(of: try SessionReader(opening: path)) }
    if output.json { return try Console.json(written) }
    // Standard output has the table itself.
    for line in written where line.file != "-" {
      if line.rows.hasPrefix("/") {
        Console.result("\(counted(line.count, "message"))  \(visible(line.rows))  \(line.file)")
        continue
      }
      // The names of the row kinds are plurals.
      let noun = line.rows == "media" ? "packet" : String(line.rows.dropLast())
      Console.result("\(counted(line.count, noun))  \(line.file)")
    }
  }

  /// All of them first: a command that fails at its last file would leave the others.
  private func checkTargets() throws {
    for file in targets where file != "-" {
      try SessionFolder.requireOutside(file, isParent: false)
      guard !FileManager.default.fileExists(atPath: file) else {
        throw SessionError.fileExists(path: file)
      }
    }
  }

  /// A file that looks complete must not hide the tracks that it lacks.
  private func noteOtherTracks(_ written: [Written]) {
    guard let others = written.first?.otherTracks, let next = others.first else { return }
    let list = others.map(String.init).joined(separator: ", ")
    output.note(
      "note: track\(others.count == 1 ? "" : "s") \(list) of the session "
        + "\(others.count == 1 ? "is" : "are") left out; write each into a separate file: "
        + "--track \(next)")
  }

  private func noteOpacity(_ written: [Written]) {
    for file in written where file.lacksOpacity == true {
      output.note(
        "note: \(visible(file.file)) has no opacity, which the session's packets have; "
          + "Matroska and WebM keep it: --media FILE.mkv")
    }
  }

  /// A bag has the frames and the results of a pipeline, but no sensors.
  private func noteSensors(of session: SessionReader) {
    guard let first = session.sensors.first else { return }
    output.note(
      "note: the bag has no sensors, and the session has \(counted(session.sensors.count, "sensor")); "
        + "write each into a table: "
        + "--rows samples --sensor \(first.name.shellWord) --csv FILE")
  }

  private func table(
    _ export: SessionExport, _ form: SessionExport.Form, _ file: String
  ) throws -> Int {
    guard file == "-" else {
      return try export.table(rows, as: form, run: liveRun, sensor: sensor, toFile: file)
    }
    return try export.table(rows, as: form, run: liveRun, sensor: sensor) { Console.data($0) }
  }
}

extension SessionExport.Rows: ExpressibleByArgument {}
