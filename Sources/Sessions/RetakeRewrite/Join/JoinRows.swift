import Foundation
import RetakeCore
import RetakeSensors
import RetakeSession
import RetakeStore

/// The rows and the media of a joined session.
struct JoinRows {
  private let parts: [Part]
  private let alignment: SessionJoin.Alignment
  let tracks: [SessionJoin.Track]

  /// The fact of `meta` that names the joined sessions and the method.
  static let fact = "joined"

  /// One of the two sessions, and where its rows go.
  private struct Part {
    var reader: SessionReader
    /// Before the names of its media.
    var prefix: String
    var tracks: [Int: Int]
    var firstSegment: Int
    /// nil for the session whose clock is kept.
    var fit: ClockFit?

    func time(_ nanoseconds: Int64) -> Int64 { fit?.time(nanoseconds) ?? nanoseconds }

    /// `media/original.mp4` as `media/a-original.mp4`.
    func name(_ file: String) -> String {
      guard let slash = file.lastIndex(of: "/") else { return prefix + file }
      return String(file[...slash]) + prefix + file[file.index(after: slash)...]
    }
  }

  init(
    first: SessionReader, second: SessionReader, fit: ClockFit, alignment: SessionJoin.Alignment
  ) {
    let own = first.index.tracks
    let behind = (own.max() ?? -1) + 1
    let moved = second.index.tracks.enumerated().map { ($1, behind + $0) }
    parts = [
      Part(
        reader: first, prefix: "a-", tracks: Dictionary(uniqueKeysWithValues: own.map { ($0, $0) }),
        firstSegment: 0, fit: nil),
      Part(
        reader: second, prefix: "b-", tracks: Dictionary(uniqueKeysWithValues: moved),
        firstSegment: (first.index.segments.keys.max() ?? -1) + 1, fit: fit),
    ]
    self.alignment = alignment
    tracks =
      own.map { .init(track: $0, session: first.folder.name, original: $0) }
      + moved.map { .init(track: $1, session: second.folder.name, original: $0) }
  }

  var notes: String {
    let names = parts.map(\.reader.folder.name)
    let offset = Double(alignment.offsetNanoseconds) / 1e6
    var text =
      "Joined from the sessions \(names[0]) and \(names[1]), on the clock of \(names[0]): "
      + "\(offset) ms, \(alignment.driftPPM) ppm, by \(alignment.method).\n"
    for part in parts {
      guard let own = part.reader.folder.notesText else { continue }
      text += "\n## \(part.reader.folder.name)\n\n\(own)\n"
    }
    return text
  }

  // MARK: Media

  func bring(
    to site: SessionBuilder, link: Bool, report: @Sendable (SessionDoctor.Progress) -> Bool
  ) throws {
    for part in parts {
      for file in part.reader.mediaFiles() {
        let path = try part.reader.folder.file(file)
        guard let bytes = SessionBuilder.byteCount(path) else {
          throw SessionError.mediaMissing(file: path)
        }
        guard !link else {
          try site.link(path, as: part.name(file))
          continue
        }
        try site.bring(path, as: part.name(file), bytesMax: .max) { done in
          report(
            SessionDoctor.Progress(
              done: Int(done >> 20), total: Int(bytes >> 20), unit: .megabytes))
        }
      }
    }
  }

  // MARK: Rows

  func write(to path: String) throws {
    let facts = try self.facts()
    let writer = try fromStore {
      let writer = try StoreWriter(creating: path, durability: .building)
      for fact in facts { writer.setMeta(fact.key, fact.value) }
      for part in parts { try write(part, to: writer) }
      try writeEvents(to: writer)
      try writer.commit()
      return writer
    }
    let samples = SampleWriter(writer)
    for part in parts { try write(samples: part, to: samples) }
    _ = try fromStore { try writer.close() }
  }

  private func write(_ part: Part, to writer: StoreWriter) throws {
    let store = part.reader.index.store
    let media = Set(part.reader.mediaFiles())
    writer.append(
      try store.files().filter { media.contains($0.path) }.map {
        FileRecord(path: part.name($0.path), role: $0.role, sha256: $0.sha256)
      })
    for var segment in try store.segments() {
      segment.index += part.firstSegment
      segment.file = part.name(segment.file)
      segment.startedNanoseconds = part.time(segment.startedNanoseconds)
      writer.append([segment])
    }
    for var track in try store.segmentTracks() {
      track.segment += part.firstSegment
      track.track = part.tracks[track.track] ?? track.track
      writer.append([track])
    }
    for (track, number) in part.tracks.sorted(by: { $0.key < $1.key }) {
      try write(track: track, as: number, of: part, to: writer)
    }
  }

  private func write(
    track: Int, as number: Int, of part: Part, to writer: StoreWriter
  ) throws {
    let store = part.reader.index.store
    var next = 0
    while case let page = try store.packets(track: track, from: next, count: 4_096),
      let last = page.last
    {
      next = last.index + 1
      writer.append(
        page.map { row in
          var row = row
          row.track = number
          row.segment += part.firstSegment
          return row
        })
      try writer.commit()
    }
    next = 0
    while case let page = try store.frames(track: track, from: next, count: 4_096),
      let last = page.last
    {
      next = last.sequence + 1
      writer.append(
        page.map { row in
          var row = row
          row.track = number
          guard part.fit != nil else { return row }
          row.ptsNanoseconds = part.time(row.ptsNanoseconds)
          row.arrivalNanoseconds = part.time(row.arrivalNanoseconds)
          row.assumed.insert(.moved)
          return row
        })
      try writer.commit()
    }
  }

  /// In the order of their times on the common clock.
  private func writeEvents(to writer: StoreWriter) throws {
    var events: [EventRecord] = []
    for part in parts {
      events += try part.reader.index.store.events().map { row in
        var row = row
        row.track = row.track.map { part.tracks[$0] ?? $0 }
        row.timeNanoseconds = part.time(row.timeNanoseconds)
        return row
      }
    }
    // Events with equal times are in the order of the sessions, and within a session in the order
    // of their ordinals.
    let order = events.indices.sorted {
      (events[$0].timeNanoseconds, $0) < (events[$1].timeNanoseconds, $1)
    }
    writer.append(
      order.enumerated().map { ordinal, place in
        var row = events[place]
        row.ordinal = ordinal
        return row
      })
  }

  private func write(samples part: Part, to samples: SampleWriter) throws {
    let store = part.reader.index.store
    for sensor in try fromStore({ try store.sensors() }) {
      let number = try fromSamples {
        try samples.add(
          name: samples.freeName(sensor.name), kind: sensor.kind, unit: sensor.unit,
          channels: sensor.channels, source: sensor.source)
      }
      var next = 0
      while case let page = try fromStore({
        try store.samples(sensor: sensor.sensor, from: next, count: StoreReader.samplePageRows)
      }), let last = page.last {
        next = last.index + 1
        try fromSamples {
          for row in page {
            try samples.append(
              number, time: part.time(row.timeNanoseconds),
              arrival: part.time(row.arrivalNanoseconds), row.numbers)
          }
        }
      }
    }
    try fromSamples { try samples.finish() }
  }

  private func facts() throws -> [(key: String, value: String)] {
    var (sources, losses, digests) = ([String](), [String](), [Digest128]())
    var (incomplete, isRecorded) = (0, false)
    var (notes, dates) = ([String](), [(key: String, value: String)]())
    for part in parts {
      // Losses of a part are losses of the joined session, too.
      if try part.reader.sessionStatus() != .clean { incomplete += 1 }
      let store = part.reader.index.store
      try fromStore {
        sources.append(try store.meta("source") ?? part.reader.folder.name)
        if let lost = try store.meta("losses") {
          losses.append("\(part.reader.folder.name): \(lost)")
        }
        digests.append(try store.digest())
        let kind = try store.meta("kind")
        isRecorded = isRecorded || kind == "recorded"
        if let note = try store.meta(SessionNote.fact), !note.isEmpty { notes.append(note) }
        // The time line is the first session's time line.
        guard part.reader.folder == parts.first?.reader.folder else { return }
        for key in [SessionDate.fact, SessionDate.uncertaintyFact] {
          if let value = try store.meta(key) { dates.append((key, value)) }
        }
      }
    }
    let colors = ColorFacts(
      parts.flatMap { part in
        part.reader.tracks.map { (part.tracks[$0.track] ?? $0.track, $0.color) }
      }
    ).stored
    let mirrored = MirroredTracks(
      parts.flatMap { part in
        part.reader.tracks.filter(\.isMirrored).map { part.tracks[$0.track] ?? $0.track }
      }
    ).stored
    let joined = JSONValue.object([
      "sessions": .array(parts.map { .string($0.reader.folder.name) }),
      "digests": .array(digests.map { .string("\($0)") }),
      "method": .string(alignment.method), "driftPPM": .number(alignment.driftPPM),
      "offsetNanoseconds": .integer(alignment.offsetNanoseconds),
      "confidence": .number(alignment.confidence),
    ])
    var facts: [(key: String, value: String)] = [
      ("kind", isRecorded ? "recorded" : "imported"),
      ("source", sources.joined(separator: " + ")), (Self.fact, joined.canonicalText),
    ]
    facts += SessionStanding(damagedFrames: 0, missingFrames: incomplete, losses: losses).facts
    if let colors { facts.append((ColorFacts.fact, colors)) }
    if let mirrored { facts.append((MirroredTracks.fact, mirrored)) }
    facts += dates
    if !notes.isEmpty { facts.append((SessionNote.fact, notes.joined(separator: " + "))) }
    return facts
  }
}
