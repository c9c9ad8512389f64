import Foundation
import RetakeCore
import RetakeMedia
import RetakeSensors
import RetakeStore

/// Makes a session from a media file: an unchanged copy of the file, and an index of it.
///
/// The session is built in a hidden folder next to its final path, and is renamed when it is
/// complete.
///
/// ```swift
/// let result = try SessionImporter(ImportOptions(file: "clip.mp4", name: "yard")).run()
/// print(result.folder.path, result.status)  // …/Recordings/yard clean
/// for note in result.notes { print("note: \(note)") }
/// ```
public struct SessionImporter: Sendable {
  private let options: ImportOptions
  private let report: @Sendable (ImportProgress) -> Bool
  /// Lower in tests, because making a file with one segment too many needs minutes.
  var segmentsMax = StoreReader.segmentCountMax

  /// - Parameter report: Called with the progress, from any thread, one at a time; returning false
  ///   stops the import.
  public init(
    _ options: ImportOptions, report: @escaping @Sendable (ImportProgress) -> Bool = { _ in true }
  ) {
    self.options = options
    self.report = report
  }

  /// - Throws: `SessionError`, with the media's own codes for an unsuitable file. A failed import
  ///   removes every file that it wrote.
  public func run() throws -> ImportResult {
    let sources = options.files.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath() }
    try requireDistinct(sources)
    let names = ChapterNames(options.files)
    if sources.count > 1 { try names.requireOrder() }
    // Before a folder is made: an unsuitable file leaves no folder, and the error names the user's
    // file.
    let files = try sources.enumerated().map { place, source in
      let (streams, all) = try select(in: source.path)
      return ImportedFile(
        source: source.path, media: Self.mediaName(source, number: sources.count > 1 ? place : nil),
        streams: streams, all: all)
    }
    let requests = try SensorImporting.requests(options.sensors)
    let times = try options.times.map { try FrameTimesFile(parsing: $0) }
    if let times, files[0].streams.count != 1 {
      throw SessionError.timesOfTracks(
        file: files[0].source, times: times.file, tracks: files[0].streams.map(\.index))
    }
    let target = try SessionFolder(
      new: options.name, or: sources[0].deletingPathExtension().lastPathComponent, in: options.into)
    return try SessionBuilder.build(target) { site in
      do {
        for file in files { try bring(file, into: site) }
        return try index(
          files, requests: requests, times: times, names: names, site: site, target: target)
      } catch let error as any RetakeError {
        throw Self.naming(files, notTheirCopiesIn: site.folder, error)
      }
    }
  }

  /// A file that is named twice.
  private func requireDistinct(_ sources: [URL]) throws {
    for (place, source) in sources.enumerated() where sources[..<place].contains(source) {
      throw ErrorFacts.chapterTwice(options.files[place], earlier: source.path)
    }
  }

  /// The streams that become tracks, and all streams of the file.
  private func select(
    in path: String
  ) throws -> (chosen: [MediaStream], all: [MediaStream]) {
    let demuxer = try MediaDemuxer(path: path)
    _ = try demuxer.videoStream()
    let wanted = options.tracks.isEmpty ? demuxer.videoStreams.map(\.index) : options.tracks
    var chosen: [MediaStream] = []
    for track in Set(wanted).sorted() { chosen.append(try demuxer.videoStream(track)) }
    try demuxer.requireWhole(chosen)
    // A missing decoder is reported before anything is written.
    var decodable: [MediaStream] = []
    for stream in chosen {
      do {
        _ = try MediaDecoder(stream: stream, file: path)
        decodable.append(stream)
      } catch {
        // A track without packets needs no decoder, and is skipped with a note.
        guard maySkip(chosen), try Self.isEmpty(stream, in: path) else { throw error }
      }
    }
    return (decodable, demuxer.streams)
  }

  private static func isDecodable(_ stream: MediaStream, in path: String) -> Bool {
    (try? MediaDecoder(stream: stream, file: path)) != nil
  }

  /// Tracks that were not requested by number may be skipped if they have no packets.
  private func maySkip(_ chosen: [MediaStream]) -> Bool {
    options.tracks.isEmpty && chosen.count > 1
  }

  private static func isEmpty(_ stream: MediaStream, in path: String) throws -> Bool {
    let demuxer = try MediaDemuxer(path: path)
    demuxer.select([stream.index])
    // Ends: at the first packet, or at the end of the file.
    while let packet = try demuxer.nextPacket() {
      if packet.stream == stream.index { return false }
    }
    return true
  }

  /// - Parameter number: Of a chapter; nil for a single file.
  private static func mediaName(_ source: URL, number: Int?) -> String {
    // The name is stored and must be safe in any folder, so an unusual extension is omitted.
    let kept = source.pathExtension.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
    }
    let suffix = kept && !source.pathExtension.isEmpty ? "." + source.pathExtension : ""
    // Five digits, as in the names of a recording's segments: they sort in the order of the files.
    let place = number.map { "-" + String(100_000 + $0).dropFirst() } ?? ""
    return "media/original" + place + suffix
  }

  private func bring(_ file: ImportedFile, into site: SessionBuilder) throws {
    guard report(ImportProgress(phase: .copying, done: 0, total: nil)) else {
      throw SessionError.interrupted
    }
    guard !options.link else { return try site.link(file.source, as: file.media) }
    let total = SessionBuilder.byteCount(file.source).map { Int($0) }
    try site.bring(file.source, as: file.media, bytesMax: .max) {
      report(ImportProgress(phase: .copying, done: Int($0), total: total))
    }
  }

  private func index(
    _ files: [ImportedFile], requests: [SensorRequest], times: FrameTimesFile?,
    names: ChapterNames, site: SessionBuilder, target: SessionFolder
  ) throws -> ImportResult {
    var indexed =
      try files.count == 1
      ? index(files[0], in: site.folder) : index(chapters: files, names, in: site.folder)
    let path = try site.folder.file(files[0].media)
    let started = try times.map { try Self.set($0, of: &indexed.rows, in: options.file) } ?? nil
    let rows = indexed.rows
    // Before the file is hashed, because hashing is slow and the file would be rejected in any
    // case.
    try requireGoodFrame(rows, in: path)
    for (_, rows) in rows { try Self.requireTimes(of: rows, in: path) }
    try ImportWriting.requireSegments(of: rows.map(\.1), file: path, most: segmentsMax)
    let standing = SessionStanding(
      damagedFrames: rows.reduce(0) { $0 + $1.1.damaged }, losses: indexed.losses)
    let places = TimePlaces(rows.flatMap(\.1.timeline.places))
    let timesName = times.map { URL(fileURLWithPath: $0.file).lastPathComponent }
    let writing = ImportWriting(
      path: site.folder.database, media: try media(files, in: site.folder),
      facts: facts(standing, indexed, files, times: timesName) + [
        (TimePlaces.fact, places.stored), (SessionDate.fact, started.map { "\($0)" }),
        (StoreReader.Salvage.frameTimesFact, timesName),
      ])
    var (sensors, outcome) = ([SensorTrack](), SensorImporting.Outcome())
    try writing.write(rows) { (samples, frames) in
      outcome = try SensorImporting(options: options, report: report).run(
        requests, indexed.sensorFiles, frames: frames, into: samples)
      sensors = samples.tracks
    }
    let tracks = rows.map { stream, rows in
      ImportResult.Track(
        track: stream.index, codec: stream.codec, width: rows.parts.first?.shape.width ?? 0,
        height: rows.parts.first?.shape.height ?? 0, frames: rows.frameCount,
        damaged: rows.damaged, isRateAssumed: stream.timing == .rateAssumed)
    }
    // Read back, because it is computed from the rows.
    let footage = try SessionReader(
      site.folder, options: ReadOptions(framesPerChain: nil)
    ).footageNotes()
    let trackNotes = rows.flatMap {
      TrackNotes($0.0, $0.1, file: options.file, hasTimes: options.times != nil).texts
    }
    let result = ImportResult(
      folder: target, tracks: tracks, sensors: sensors, status: standing.status,
      notes: indexed.losses + rows.flatMap(\.1.damageNotes) + indexed.notes + trackNotes
        // A kept note is not repeated if a longer note with a command begins with its words.
        + footage.filter { note in !trackNotes.contains { $0.hasPrefix(note) } }
        + unindexed(indexed.all, chosen: rows.map(\.0), read: outcome.read) + outcome.notes,
      times: places.places,
      timeCount: places.count)
    try site.write(
      NotesTemplate.text(result, sources: options.files), to: site.folder.notes)
    return result
  }

  private func media(
    _ files: [ImportedFile], in folder: SessionFolder
  ) throws -> [ImportWriting.Media] {
    try files.map { file in
      let path = try folder.file(file.media)
      let bytes = try MediaFile(path: path).size
      let digest = try mediaDigest(path) {
        report(ImportProgress(phase: .hashing, done: Int($0), total: Int(bytes)))
      }
      return ImportWriting.Media(name: file.media, bytes: bytes, sha256: digest)
    }
  }

  /// The rows of the files, and notes about them.
  private struct Indexed {
    var rows: [(MediaStream, TrackRows)]
    /// All streams of the first file.
    var all: [MediaStream]
    var losses: [String]
    var notes: [String]
    /// Notes that the session keeps.
    var footage: [String] = []
    var chapters: String?
    var sensorFiles: [SensorImporting.File]
  }

  private func index(_ imported: ImportedFile, in folder: SessionFolder) throws -> Indexed {
    let path = try folder.file(imported.media)
    let file = try MediaFile(path: path)
    let streams = imported.streams
    let findings = try PacketIndexer(
      file: file, streams: streams, takesLateStreams: options.tracks.isEmpty
    ) {
      report(ImportProgress(phase: .indexing, done: $0, total: nil))
    }.run()
    let all = imported.all + findings.lateStreams
    let shift = TimeShift(streams + findings.lateStreams, packets: findings.packets)
    return Indexed(
      rows: try rows(findings, streams, of: file, shift: shift), all: all,
      losses: findings.losses, notes: findings.notes + [shift.note].compactMap(\.self),
      sensorFiles: [
        .init(path: path, source: options.file, streams: all, shift: shift.clamped)
      ])
  }

  private func index(
    chapters files: [ImportedFile], _ names: ChapterNames, in folder: SessionFolder
  ) throws -> Indexed {
    let appended = try AppendedFiles(
      files, in: folder, overlap: options.overlap,
      report: report)
    return Indexed(
      rows: appended.rows, all: files[0].all, losses: appended.losses, notes: appended.notes,
      footage: names.notes + appended.boundaryNotes, chapters: appended.fact,
      sensorFiles: appended.sensorFiles)
  }

  /// The rows of each track that is kept.
  private func rows(
    _ findings: PacketIndexer.Findings, _ streams: [MediaStream], of file: MediaFile,
    shift: TimeShift
  ) throws -> [(MediaStream, TrackRows)] {
    let early = maySkip(streams) ? findings.filled(streams) : streams
    let late = findings.lateStreams.filter { Self.isDecodable($0, in: file.path) }
    let memory = ImageMemory()
    var rows: [(MediaStream, TrackRows)] = []
    for stream in early + late {
      let indexing = TrackIndexing(
        stream: stream, file: file, packets: findings.packets[stream.index] ?? PacketList(),
        shift: shift, memory: memory, report: report)
      do {
        let made = try Self.namingEncryption(of: stream, in: file.path) {
          try indexing.run()
        }
        rows.append((stream, made))
      } catch SessionError.noFrames where late.contains(stream) {
        // A late stream without a frame must not cost the streams at the beginning of the file.
      }
    }
    return rows
  }

  /// Times since this are counted from 1970: 2001-09-09.
  private static let epochMin: Int64 = 1_000_000_000_000_000_000

  /// Sets the times of the frames to the times of a file.
  ///
  /// - Returns: the time since 1970 that becomes zero, if the times are counted from 1970.
  private static func set(
    _ times: FrameTimesFile, of rows: inout [(MediaStream, TrackRows)], in file: String
  ) throws -> Int64? {
    guard rows.count == 1, rows[0].1.frameCount == times.nanoseconds.count else {
      throw SessionError.timesCount(
        file: file, times: times.file, count: times.nanoseconds.count,
        frames: rows.first?.1.frameCount ?? 0)
    }
    let first = times.nanoseconds[0]
    let start = first >= epochMin ? first : nil
    rows[0].1.setTimes(times.nanoseconds.map { $0 - (start ?? 0) })
    return start
  }

  private func facts(
    _ standing: SessionStanding, _ indexed: Indexed, _ files: [ImportedFile], times: String?
  ) -> StoreWriter.Facts {
    let rows = indexed.rows
    let footage =
      indexed.footage
      + rows.flatMap { Self.displayNotes($0.0, $0.1) }
      + rows.compactMap { TrackNotes.undecided($0.1) }
      + rows.compactMap { stream, _ in
        times.map { Self.timesNote(of: stream.index, file: $0) }
          ?? TrackNotes.assumedRate(of: stream, track: stream.index)
      }
    return [
      ("kind", "imported"),
      (
        "source",
        options.files.map { URL(fileURLWithPath: $0).lastPathComponent }.joined(separator: ", ")
      ),
      (AppendedFiles.fact, indexed.chapters), (FootageFact.key, FootageFact.stored(footage)),
    ] + ImportWriting.display(of: rows.map { ($0.0.index, $0.0) }) + standing.facts
  }

  static func timesNote(of track: Int, file: String) -> String {
    "track \(track): the times of the frames are from \(file)"
  }

  /// How players show the images, as far as a session does not keep it: angles other than quarter
  /// turns, the display orientation of the images themselves, and fields.
  static func displayNotes(_ stream: MediaStream, _ rows: TrackRows) -> [String] {
    var notes: [String] = []
    if let turn = stream.displayTurn, turn.quarterDegrees == nil {
      notes.append(
        "track \(stream.index): the container says that players \(turn.text); it is shown as it is "
          + "stored")
    }
    if let first = rows.displayTurn, first != stream.displayTurn {
      notes.append(
        "track \(stream.index): its images say that players \(first.text) (display orientation); "
          + "it is shown as the container says")
    }
    return notes + [rows.interlacedNote].compactMap(\.self)
  }

  /// WebM marks only the track as encrypted, so its packets look like garbage to the decoder.
  private static func namingEncryption<Value>(
    of stream: MediaStream, in path: String, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch let error where stream.isEncrypted {
      switch error {
      case is MediaError, SessionError.noFrames: throw MediaError.encrypted(file: path)
      default: throw error
      }
    }
  }

  /// A file without a single replayable frame does not become a session.
  private func requireGoodFrame(
    _ rows: [(MediaStream, TrackRows)], in path: String
  ) throws {
    guard rows.allSatisfy({ $0.1.damaged == $0.1.frameCount }) else { return }
    if rows.contains(where: \.0.isEncrypted) {
      throw MediaError.encrypted(file: path)
    }
    throw SessionError.noGoodFrame(
      file: path, frames: rows.reduce(0) { $0 + $1.1.frameCount },
      cause: rows.lazy.compactMap { $0.1.frame(0).cause }.first)
  }

  /// Times rise, so the first and the last frame have the extremes.
  private static func requireTimes(
    of rows: TrackRows, in path: String
  ) throws {
    let frames = rows.timeline.frames
    func isFar(_ nanoseconds: Int64) -> Bool {
      nanoseconds.magnitude > TimeShift.nanosecondsMax.magnitude
    }
    guard let first = frames.first, let last = frames.last,
      isFar(first.nanoseconds) || isFar(last.nanoseconds),
      let place = frames.indices.first(where: { isFar(frames[$0].nanoseconds) })
    else { return }
    throw SessionError.timesTooFar(
      file: path, frame: FrameID(track: rows.track, sequence: place),
      seconds: frames[place].nanoseconds / 1_000_000_000)
  }

  private func unindexed(
    _ all: [MediaStream], chosen: [MediaStream], read: Set<Int>
  ) -> [String] {
    // Telemetry and sound became sensors.
    let indexed = read.union(chosen.map(\.index))
    return all.filter { !indexed.contains($0.index) }.map {
      if $0.isAttachedPicture {
        return
          "stream \($0.index) (attached picture, \($0.codec)) is kept in the file, not indexed"
      }
      if options.tracks.isEmpty, $0.kind == .video {
        return "track \($0.index) (\($0.codecText)) has no frames and was skipped"
      }
      return
        "stream \($0.index) (\($0.kind.rawValue), \($0.codec)) is kept in the file, not indexed"
    }
  }

  /// The same error, about the file that the user named instead of its copy in a folder that has
  /// been removed.
  private static func naming(
    _ files: [ImportedFile], notTheirCopiesIn folder: SessionFolder, _ error: any RetakeError
  ) -> any Error {
    func source(of copy: String) -> String {
      (files.first { folder.path + "/" + $0.media == copy } ?? files[0]).source
    }
    func isCopy(_ file: String) -> Bool { file.hasPrefix(folder.path) }
    switch error {
    case SessionError.noFrames(let file) where isCopy(file):
      return SessionError.noFrames(file: source(of: file))
    case SessionError.noGoodFrame(let file, let frames, let cause) where isCopy(file):
      return SessionError.noGoodFrame(file: source(of: file), frames: frames, cause: cause)
    case SessionError.timesTooFar(let file, let frame, let seconds) where isCopy(file):
      return SessionError.timesTooFar(file: source(of: file), frame: frame, seconds: seconds)
    case SessionError.tooManySegments(let file, let frame, let most) where isCopy(file):
      return SessionError.tooManySegments(
        file: source(of: file), frame: frame, segmentsMax: most)
    case is MediaError:
      var facts = error.facts
      guard let copy = facts.place?.file, isCopy(copy) else { return error }
      // Advice has the path as a word of the shell, so that form is replaced.
      facts.advice = facts.advice?.replacing(copy.shellWord, with: source(of: copy).shellWord)
      facts.place?.file = source(of: copy)
      return facts
    default: return error
    }
  }
}
