import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// Rebuilds the index of a session from its media alone, in a separate folder.
struct MediaRebuild {
  /// The folder of the new database; its media is the session's.
  let site: SessionFolder
  /// The readable rows of the old database.
  let salvage: StoreReader.Salvage
  /// The descriptions of the tracks in the old database; nil when unknown.
  let parts: [SegmentTrackRecord]?
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// The result of reading the media.
  struct Outcome: Hashable {
    var frames = 0
    /// Descriptions of the losses.
    var losses: [String] = []
    /// What is not as it was at the import, and no loss.
    var notes: [String] = []
  }

  func run() throws -> Outcome {
    let files = site.mediaOnDisk
    guard !files.isEmpty else { throw SessionError.mediaMissing(file: site.media) }
    var outcome: Outcome
    let originals = files.filter { $0.hasPrefix("media/original") }
    if originals.count > 1 {
      outcome = try appendAgain(originals)
    } else if let original = originals.first {
      outcome = try importAgain(original)
    } else {
      outcome = try RecordedRebuild(
        site: site, facts: facts("recorded"), parts: parts ?? [], report: report
      ).run(files)
    }
    try append(after: outcome.losses)
    return outcome
  }

  /// - Parameter lost: Keys of facts that are no longer right.
  private func facts(_ kind: String, without lost: [String] = []) -> StoreWriter.Facts {
    // The first follow from the media, and are set again.
    let left = ["status", "losses", "closed", TimePlaces.fact] + lost
    let kept = salvage.facts.filter { !left.contains($0.key) }
    let facts = kept.merging(["kind": salvage.facts["kind"] ?? kind]) { $1 }
    return facts.keys.sorted().map { ($0, facts[$0]) }
  }

  private func importAgain(_ media: String) throws -> Outcome {
    let tracks = parts.map { Set($0.map(\.track)) }
    let path = try site.file(media)
    let file = try MediaFile(path: path)
    let demuxer = try MediaDemuxer(path: path)
    _ = try demuxer.videoStream()
    // The import may have selected tracks, and only the old database knows which.
    let streams =
      tracks.map { tracks in
        demuxer.streams.filter { $0.kind == .video && tracks.contains($0.index) }
      } ?? demuxer.videoStreams
    let report = report
    let findings = try PacketIndexer(file: file, streams: streams) {
      report(SessionCheck.Progress(done: $0, total: 0))
    }.run()
    var rows: [(MediaStream, TrackRows)] = []
    let kept = tracks == nil ? findings.filled(streams) : streams
    let shift = TimeShift(kept, packets: findings.packets)
    for stream in kept {
      let indexing = TrackIndexing(
        stream: stream, file: file, packets: findings.packets[stream.index] ?? PacketList(),
        shift: shift, memory: ImageMemory()
      ) { report(SessionCheck.Progress(done: $0.done, total: $0.total ?? 0)) }
      rows.append((stream, try indexing.run()))
    }
    return try write(
      rows, media: [media], losses: findings.losses, footage: [],
      sensors: [
        .init(path: path, source: path, streams: demuxer.streams, shift: shift.clamped)
      ])
  }

  /// The chapters of a recording that were appended, in the order of their names.
  private func appendAgain(_ media: [String]) throws -> Outcome {
    let known = appendedBefore
    let names = known.map(\.names).flatMap { $0.count == media.count ? $0 : nil } ?? media
    // By their place: a track has the number of its stream in the first file.
    var places: [Int]?
    let files = try zip(media, names).map { media, name in
      let demuxer = try MediaDemuxer(path: try site.file(media))
      let streams = demuxer.videoStreams
      let wanted = parts.map { Set($0.map(\.track)) }
      let chosen =
        places ?? streams.indices.filter { wanted?.contains(streams[$0].index) ?? true }
      places = chosen
      return ImportedFile(
        source: name, media: media,
        streams: chosen.filter { streams.indices.contains($0) }.map { streams[$0] },
        all: demuxer.streams)
    }
    let report = report
    let appended = try AppendedFiles(files, in: site, overlap: known?.overlap ?? .keep) {
      report(SessionCheck.Progress(done: $0.done, total: $0.total ?? 0))
    }
    var outcome = try write(
      appended.rows, media: media, losses: appended.losses,
      footage: ChapterNames(names).notes + appended.boundaryNotes, sensors: appended.sensorFiles,
      appended: appended.fact)
    if known == nil, appended.hasRepeatedFrames {
      outcome.notes.append(
        "only the index knew whether frames that repeat were left out (--overlap once); they are "
          + "all in the new one: if they should not be, import the files again")
    }
    return outcome
  }

  private func write(
    _ found: [(MediaStream, TrackRows)], media: [String], losses: [String], footage: [String],
    sensors: [SensorImporting.File], appended: String? = nil
  ) throws -> Outcome {
    let path = try site.file(media[0])
    var rows = found
    let times = setTimes(of: &rows)
    try ImportWriting.requireSegments(of: rows.map(\.1), file: path)
    let losses = losses + missingOriginals(media) + times.losses
    let standing = SessionStanding(
      damagedFrames: rows.reduce(0) { $0 + $1.1.damaged }, losses: losses)
    let notes =
      footage + rows.flatMap { SessionImporter.displayNotes($0.0, $0.1) } + times.notes
      + (times.notes.isEmpty
        ? rows.compactMap { TrackNotes.assumedRate(of: $0.0, track: $0.0.index) } : [])
    try ImportWriting(
      path: site.database, media: try media.map(described),
      facts: facts(
        "imported",
        without: [FootageFact.key] + (times.losses.isEmpty ? [] : Self.factsOfTimes))
        + standing.facts
        + ImportWriting.display(of: rows.map { ($0.0.index, $0.0) })
        + [
          (TimePlaces.fact, TimePlaces(rows.flatMap(\.1.timeline.places)).stored),
          (AppendedFiles.fact, appended), (FootageFact.key, FootageFact.stored(notes)),
        ]
    ).write(rows) { (samples, frames) in
      // Only the old database knows the options of the import and the omitted streams. Without it,
      // all streams of the media are read.
      guard parts == nil, salvage.sensors.isEmpty else { return }
      let importing = SensorImporting(options: ImportOptions(file: path)) { progress in
        report(SessionCheck.Progress(done: progress.done, total: 0))
      }
      _ = try importing.run([], sensors, frames: frames, into: samples)
    }
    return Outcome(frames: rows.reduce(0) { $0 + $1.1.frameCount }, losses: losses)
  }

  /// Facts that hold only with the times of a separate file: its name, and the date of its first
  /// time.
  private static let factsOfTimes = [StoreReader.Salvage.frameTimesFact, SessionDate.fact]

  /// Sets the times that the frames had from a file (`--times`), if the old index has all of them.
  private func setTimes(
    of rows: inout [(MediaStream, TrackRows)]
  ) -> (notes: [String], losses: [String]) {
    guard let file = salvage.facts[StoreReader.Salvage.frameTimesFact], let track = rows.first?.0
    else { return ([], []) }
    let old = salvage.frames.filter { $0.track == track.index }
    guard rows.count == 1, old.map(\.sequence) == Array(0..<rows[0].1.frameCount) else {
      return (
        [],
        [
          "the times of the frames were from \(file), and only the index had them: they are now "
            + "those of the media; import the media again with --times"
        ]
      )
    }
    rows[0].1.setTimes(old.map(\.ptsNanoseconds))
    return ([SessionImporter.timesNote(of: track.index, file: file)], [])
  }

  /// The names and the choice of the import, by the old index; nil without it.
  private var appendedBefore: (names: [String], overlap: ImportOptions.Overlap)? {
    AppendedFiles.parse(salvage.facts[AppendedFiles.fact])
  }

  /// The files of an appended recording whose numbers are missing in the folder. Without an index,
  /// the loss of the last files does not show.
  private func missingOriginals(_ media: [String]) -> [String] {
    let numbers = media.compactMap { $0.firstMatch(of: #/original-(\d{5})/#).flatMap { Int($0.1) } }
    guard let last = numbers.max() else { return [] }
    let known = appendedBefore?.names.count ?? 0
    return (0..<max(known, last + 1)).filter { !numbers.contains($0) }.map {
      "the file \($0 + 1) of the recording (original-\(String(format: "%05d", $0))) is missing"
    }
  }

  private func described(_ media: String) throws -> ImportWriting.Media {
    let path = try site.file(media)
    let size = try MediaFile(path: path).size
    let digest = try mediaDigest(path) {
      report(
        SessionCheck.Progress(
          done: Int($0 >> 20), total: Int(size >> 20), unit: .megabytes))
    }
    return ImportWriting.Media(name: media, bytes: size, sha256: digest)
  }

  /// Appends the salvaged rows to the rows from the media, whose losses are `losses`.
  private func append(after losses: [String]) throws {
    let writer = try StoreWriter(continuing: site.database)
    var events = salvage.events
    // Ordinals have no gaps, and damaged events are left out.
    for place in events.indices { events[place].ordinal = place }
    writer.append(events)
    writer.append(salvage.runs)
    writer.append(salvage.nodes)
    writer.append(salvage.spans)
    writer.append(salvage.externalEvents)
    writer.append(salvage.decisions)
    writer.append(salvage.results)
    let added = try SampleWriter(writer).append(salvaged: salvage.sensors, salvage.samples)
    if let loss = Self.loss(of: salvage, added) {
      writer.set(SessionStanding(damagedFrames: 0, losses: losses + [loss]).facts)
    }
    try writer.close()
  }

  /// The sensors and samples of the old database that the new database lacks.
  private static func loss(
    of salvage: StoreReader.Salvage, _ added: (sensors: Int, samples: Int)
  ) -> String? {
    let sensors = max(0, salvage.sensorRows - added.sensors)
    let samples = max(0, salvage.sampleRows - added.samples)
    guard sensors > 0 || samples > 0 else { return nil }
    return "the index was damaged: \(sensors) of "
      + "\(counted(salvage.sensorRows, "sensor")) and \(samples) of "
      + "\(counted(salvage.sampleRows, "sample")) are gone"
  }
}
