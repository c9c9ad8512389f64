import ArgumentParser
import Foundation
import Retake

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Make a session from a video file, a folder of images or a bag.",
    discussion: """
      A video file is kept byte for byte and indexed by packet and frame, each with a checksum.
      Measurements of the camera (GPMF, a drone's text track) and its sound become sensors, which
      stages read by their time.
      In a bag of ROS 2 (.db3, .mcap, or their folder), a bag of ROS 1 (.bag) or another MCAP file,
      each topic with images becomes a track, and each topic with numbers (sensor_msgs/msg/Imu)
      becomes sensors. Folders of images with their times (EuRoC, TUM, KITTI, names that are times)
      become a track for each camera, with the tables of numbers as sensors.
      With --append the files are one recording, as the chapters of an action camera are: one
      session with one track, whose times, sound and telemetry continue from file to file.

      Examples:
        retake import clip.mp4
        retake import *.mp4
        retake import GX010042.MP4 GX020042.MP4 GX030042.MP4 --append
        retake import dashcam.mkv --name night-drive --track 0
        retake import huge.mp4 --link
        retake import clip.mp4 --sensor imu.csv:time=t,unit=us,offset=-250ms
        retake import DJI_0001.MP4 --sensor DJI_0001.SRT
        retake import video.h264 --times video.pts
        retake import run.mcap --topic /camera/image_raw
        retake import V1_01_easy/mav0
        retake import frames --rate 30
      """)

  enum Overlap: String, CaseIterable, ExpressibleByArgument {
    case keep, once

    var choice: ImportOptions.Overlap { self == .once ? .once : .keep }
  }

  @Argument(
    help: "Video files, folders of images, or files or folders of bags.", completion: .file())
  var files: [String]

  @Option(help: "The session's name; the file's name without its extension if not given.")
  var name: String?

  @Flag(help: "The files are one recording, in this order: make one session of them.")
  var append = false

  @Option(
    help: ArgumentHelp(
      """
      With --append, for files that begin with the last frames of the file before: 'keep' them, with \
      a note, or have them 'once'.
      """, valueName: "keep|once"))
  var overlap: Overlap?

  @Option(help: "The folder that the session's folder is made in.")
  var into = "Recordings"

  @Option(
    help: "A video track to index, by its stream number; repeat for several. All if not given.")
  var track: [Int] = []

  @Option(
    help: ArgumentHelp(
      """
      A file of samples on the same clock: CSV, JSON lines, GPX, NMEA, or a drone's subtitles \
      (SRT); repeat for several. After the name: time=COLUMN, unit=s|ms|us|ns|date, \
      offset=TIME|start, columns=A+B, name=, kind=, value-unit=, format=.
      """, valueName: "file[:key=value,...]"))
  var sensor: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      A file with the time of each frame, for a stream without times: mkvmerge's timestamp format \
      v2, or a table. After the name: time=COLUMN, unit=s|ms|us|ns|date.
      """, valueName: "file[:key=value,...]"))
  var times: String?

  @Flag(inversion: .prefixedNo, help: "Import the camera's measurements, if the file has any.")
  var telemetry = true

  @Flag(inversion: .prefixedNo, help: "Make a sensor of the sound: its waveform by time.")
  var sound = true

  @Option(
    help:
      """
      A topic of a bag to import, by its name; repeat for several. All with images or numbers if \
      not given.
      """)
  var topic: [String] = []

  @Option(
    help: "Images a second, for a folder of images that are numbered and have no times.")
  var rate: Double?

  @Flag(help: "Link to the file rather than copying it.")
  var link = false

  @Option(
    help: ArgumentHelp(
      """
      Read files in a process that can reach only them and the new sessions, and has a limit of \
      memory: if the system can restrict it (auto), or else with an error (always).
      """, valueName: "auto|always|never"))
  var sandbox = SandboxChoice.auto

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard append || files.count == 1 || name == nil && times == nil && sensor.isEmpty else {
      throw ValidationError(
        "--name, --times and --sensor are for one file; import each alone, or all as one recording "
          + "with --append")
    }
    guard append || overlap == nil else {
      throw ValidationError("--overlap is for files that are appended; add --append")
    }
    try validateKinds()
    for file in files { try validate(file) }
    if append { try validateAppend() }
  }

  /// Files that are imported otherwise: images of one folder, and measurements.
  private func validateKinds() throws {
    func ending(_ file: String) -> String { URL(fileURLWithPath: file).pathExtension.lowercased() }
    if files.count > 1, files.allSatisfy({ MediaFolder.imageEndings.contains(ending($0)) }) {
      let parent = NSString(string: files[0]).deletingLastPathComponent
      let folder = parent.isEmpty ? "." : parent
      throw ValidationError(
        "these are \(files.count) images; import their folder: retake import \(folder.shellWord) "
          + "--rate N, with N images a second")
    }
    if let file = files.first(where: { ["gpx", "nmea", "srt"].contains(ending($0)) }) {
      throw ValidationError(
        "'\(file)' has measurements or text, and no video; import it with its video: retake import "
          + "VIDEO --sensor \(file.shellWord)")
    }
  }

  private func validateAppend() throws {
    guard files.count > 1 else {
      throw ValidationError("--append makes one session of several files; name all of them")
    }
    if let other = files.first(where: { Annexes.importer(of: $0) != nil }) {
      throw ValidationError(
        "--append is for video files, and '\(other)' is a bag or a folder; import it alone")
    }
  }

  private func validate(_ file: String) throws {
    // The name of a file may look like an address.
    guard file.contains("://"), !FileManager.default.fileExists(atPath: file) else {
      if let importer = Annexes.importer(of: file) { return try importer.validate(self) }
      guard topic.isEmpty || !FileManager.default.fileExists(atPath: file) else {
        throw ValidationError(
          "--topic is for bags; tracks of a video file are chosen with --track")
      }
      guard rate == nil || !FileManager.default.fileExists(atPath: file) else {
        throw ValidationError("--rate is for folders of images; a video file has times of its own")
      }
      return
    }
    let start = "'\(file)' is an address, but import reads files. "
    if file.hasPrefix("file://") {
      throw ValidationError(
        start + "Write its path: retake import \(String(file.dropFirst("file://".count)).shellWord)"
      )
    }
    throw ValidationError(
      start + "Download the file first, or record the stream: retake record \(file.shellWord)")
  }

  func run() throws {
    Interruption.listen()
    if SandboxedProcess.current != nil {
      return try SandboxedProcess.serve { line in
        guard let place = Int(line), files.indices.contains(place) else {
          throw CommandEnd(status: .error)
        }
        try read(files[place])
      }
    }
    let reader = SandboxedReader(self)
    defer { reader.close() }
    guard files.count > 1, !append else { return try run(0, reader) }
    noteChapters()
    noteEqualNames()
    var failed: [String] = []
    for (place, file) in files.enumerated() where !Interruption.isRequested {
      output.note("\(place + 1) of \(files.count): \(visible(file))")
      // A failed file does not end the others.
      let status = try CommandEnd.status { try run(place, reader) }
      if status != .passed { failed.append(file) }
    }
    if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
    guard !failed.isEmpty else { return }
    output.note(
      "\(files.count - failed.count) of \(counted(files.count, "file")) imported; not imported:")
    for file in failed { output.note("  " + visible(file)) }
    throw CommandEnd(status: .error)
  }

  /// Whether the next command is named: of many files, it would be a line for each.
  var namesNext: Bool { !output.quiet && (files.count == 1 || append) }

  /// Files that look like chapters become one session only with --append.
  private func noteChapters() {
    for group in ChapterName.groups(of: files) {
      let advice =
        group.count > Self.namedMax
        ? "to make one session of them, add --append: \(Self.named(group))"
        : "to make one session of them: retake import "
          + "\(group.map(\.shellWord).joined(separator: " ")) --append"
      output.note(
        "note: \(counted(group.count, "file")) look like chapters of one recording, by their names; "
          + advice)
    }
  }

  /// Only the first of the files that have the same session name can be imported in one call.
  private func noteEqualNames() {
    let names = files.map { file in
      try? SessionFolder.sanitized(
        name: URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent)
    }
    let groups = Dictionary(grouping: zip(names, files)) { $0.0 }
    let equal = Set(names.compactMap(\.self)).sorted().filter { (groups[$0]?.count ?? 0) > 1 }
    for name in equal.prefix(Self.namedMax) {
      output.note(
        "note: the session name '\(name)' is made from \(Self.named((groups[name] ?? []).map(\.1))); "
          + "import each with a name: retake import FILE --name NAME")
    }
  }

  /// Names in one note.
  private static let namedMax = 10

  private static func named(_ files: [String]) -> String {
    let shown = files.prefix(namedMax).map { visible($0) }.joined(separator: ", ")
    return files.count > namedMax ? "\(shown) and \(files.count - namedMax) more" : shown
  }

  /// - Parameter place: The number of the file.
  private func run(_ place: Int, _ reader: SandboxedReader) throws {
    guard try SandboxedReader.isUsed(by: self, for: files[place]) else {
      return try read(files[place])
    }
    try reader.run(place)
  }

  private func read(_ file: String) throws {
    if let importer = Annexes.importer(of: file) { return try importer.run(self, file) }
    let line = ProgressLine(isQuiet: output.quiet)
    let importer = SessionImporter(
      ImportOptions(
        file: file, appending: append ? Array(files.dropFirst()) : [],
        overlap: overlap?.choice ?? .keep,
        name: name, into: into, tracks: track, link: link, sensors: sensor, times: times,
        hasTelemetry: telemetry, hasSound: sound)
    ) { progress in
      line.update(progress.phase.rawValue, done: progress.done, total: progress.total)
      return !Interruption.isRequested
    }
    defer { line.finish() }
    let result = try importer.run()
    line.finish()
    for note in result.notes { output.note("note: \(note)") }
    for line in TimeText.lines(result.times, of: result.timeCount, max: TimeText.importMax) {
      output.note("note: \(line)")
    }
    ImportAdvice.noteFootage(result.folder, output)
    // Read back, so that the output shows the stored session.
    let info = try SessionReader(opening: result.folder.path).info()
    if output.json {
      try Console.json(Printed(info: info, notes: result.notes))
    } else {
      Console.result(text(of: result, info))
    }
  }

  /// The session object of `session info`, with the notes of the import.
  private struct Printed: Encodable {
    var info: SessionInfo
    var notes: [String]

    private enum Key: String, CodingKey {
      case notes
    }

    func encode(to encoder: any Encoder) throws {
      // Both encode into one object, so `notes` is a member next to the members of the session.
      try info.encode(to: encoder)
      var object = encoder.container(keyedBy: Key.self)
      try object.encode(notes, forKey: .notes)
    }
  }

  private func text(of result: ImportResult, _ info: SessionInfo) -> String {
    var lines = ["\(result.folder.name)  \(result.status.rawValue)  \(result.folder.path)"]
    for (track, known) in zip(result.tracks, info.tracks) {
      lines.append(
        "  track \(track.track)  \(track.codec)  \(track.width)x\(track.height)  "
          + SpanText.of(known) + (track.isRateAssumed ? " (a guess)" : "")
          + (track.damaged > 0 ? "  \(track.damaged) damaged" : ""))
      if let turn = known.displayText, !output.quiet {
        lines.append(
          "    players \(turn); stages get the pixels as they are stored, or upright after a node 'upright'"
        )
      }
    }
    lines += result.sensors.map { "  " + SensorText.line($0) }
    if namesNext {
      lines.append("next: \(ImportAdvice.next(result.folder, into: into))")
    }
    return lines.joined(separator: "\n")
  }
}

/// Notes about a new session.
enum ImportAdvice {
  /// A project that cannot be read must not make an import fail.
  static func noteFootage(_ folder: SessionFolder, _ output: OutputOptions) {
    let project = try? CommandEnvironment.current.project()
    if let note = project.flatMap({ NewSession(folder.path, in: $0).noteOfFootage }) {
      output.note("note: \(visible(note))")
    }
  }

  /// The project's own cases, if they run on the new session.
  static func next(_ folder: SessionFolder, into: String) -> String {
    guard into == "Recordings" else {
      return "retake replay \(quotedPath(of: folder, into: into)) --pipeline example:motion-boxes"
    }
    let selection = Selection(sessions: [folder.name])
    let project = try? CommandEnvironment.current.project()
    // The advice must not fail: without a valid project, or a case that fits, it names an example.
    let hasCases = project.map { (try? selection.resolve(in: $0))?.isEmpty == false } ?? false
    return hasCases
      ? "retake test \(folder.name)"
      : "retake replay \(folder.name) --pipeline example:motion-boxes"
  }

  /// A session outside Recordings cannot be found by its name alone.
  private static func quotedPath(of folder: SessionFolder, into: String) -> String {
    // A shell has no escape inside single quotes: they end, an escaped one follows, they begin
    // again.
    "'" + "\(into)/\(folder.name)".replacing("'", with: "'\\''") + "'"
  }
}
