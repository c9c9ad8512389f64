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
    func track(_ original: Int) -> Int { tracks[original] ?? original }

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

  func notes() throws -> String {
    let names = parts.map(\.reader.folder.name)
    let offset = Double(alignment.offsetNanoseconds) / 1e6
    var text =
      "Joined from the sessions \(names[0]) and \(names[1]), on the clock of \(names[0]): "
      + "\(offset) ms, \(alignment.driftPPM) ppm, by \(alignment.method).\n"
    for part in parts {
      guard let own = try part.reader.folder.notesText() else { continue }
      text += "\n## \(part.reader.folder.name)\n\n\(own)\n"
    }
    return text
  }

  // MARK: Media

  func bring(
    to site: SessionBuilder, link: Bool, report: @Sendable (SessionCheck.Progress) -> Bool
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
            SessionCheck.Progress(
              done: Int(done >> 20), total: Int(bytes >> 20), unit: .megabytes))
        }
      }
    }
  }

  // MARK: Rows

  func write(to path: String) throws {
    let writer = try StoreWriter(building: path, facts: try facts())
    for part in parts { try write(part, to: writer) }
    writer.append(try events())
    let samples = SampleWriter(writer)
    for part in parts { try samples.copy(from: part.reader.index.store) { part.time($0) } }
    try writer.close()
  }

  private func write(_ part: Part, to writer: StoreWriter) throws {
    let store = part.reader.index.store
    let media = Set(part.reader.mediaFiles())
    try writer.copy(from: store) { (row: inout FileRecord) in
      defer { row.path = part.name(row.path) }
      return media.contains(row.path)
    }
    try writer.copy(from: store) { (row: inout SegmentRecord) in
      row.index += part.firstSegment
      row.file = part.name(row.file)
      row.startedNanoseconds = part.time(row.startedNanoseconds)
      return true
    }
    try writer.copy(from: store) { (row: inout SegmentTrackRecord) in
      row.segment += part.firstSegment
      row.track = part.track(row.track)
      return true
    }
    try writer.copy(from: store) { (row: inout PacketRecord) in
      row.segment += part.firstSegment
      row.track = part.track(row.track)
      return true
    }
    try writer.copy(from: store) { (row: inout FrameRecord) in
      row.track = part.track(row.track)
      guard part.fit != nil else { return true }
      row.ptsNanoseconds = part.time(row.ptsNanoseconds)
      row.arrivalNanoseconds = part.time(row.arrivalNanoseconds)
      row.assumed.insert(.moved)
      return true
    }
  }

  /// In the order of their times on the common clock.
  private func events() throws -> [EventRecord] {
    let all = try parts.flatMap { part in
      try part.reader.index.store.events().map { row in
        var row = row
        row.track = row.track.map(part.track)
        row.timeNanoseconds = part.time(row.timeNanoseconds)
        return row
      }
    }
    // Events with equal times are in the order of the sessions, and within a session in the order
    // of their ordinals.
    let order = all.indices.sorted {
      (all[$0].timeNanoseconds, $0) < (all[$1].timeNanoseconds, $1)
    }
    return order.enumerated().map { ordinal, place in
      var row = all[place]
      row.ordinal = ordinal
      return row
    }
  }

  private func facts() throws -> StoreWriter.Facts {
    let stores = parts.map(\.reader.index.store)
    let names = parts.map(\.reader.folder.name)
    func each(_ key: String) throws -> [(name: String, value: String?)] {
      try zip(names, stores).map { ($0, try $1.meta(key)) }
    }
    // What a part lacks, the joined session lacks, too.
    let incomplete = try parts.count { try $0.reader.sessionStatus() != .clean }
    let standing = SessionStanding(
      damagedFrames: 0, missingFrames: incomplete,
      losses: try each("losses").compactMap { part in part.value.map { "\(part.name): \($0)" } })
    let isRecorded = try each("kind").contains { $0.value == "recorded" }
    let sources = try each("source").map { $0.value ?? $0.name }.joined(separator: " + ")
    let notes = try each(SessionNote.fact).compactMap(\.value).filter { !$0.isEmpty }
    let joined = JSONValue.object([
      "sessions": .array(names.map { .string($0) }),
      "digests": .array(try stores.map { .string("\(try $0.digest())") }),
      "method": .string(alignment.method), "driftPPM": .number(alignment.driftPPM),
      "offsetNanoseconds": .integer(alignment.offsetNanoseconds),
      "confidence": .number(alignment.confidence),
    ])
    let tracks = parts.flatMap { part in part.reader.tracks.map { (part.track($0.track), $0) } }
    // The time line is that of the first session.
    let dates = [SessionDate.fact, SessionDate.uncertaintyFact]
    var facts: StoreWriter.Facts = [
      ("kind", isRecorded ? "recorded" : "imported"), ("source", sources),
      (Self.fact, joined.canonicalText),
      (ColorFacts.fact, ColorFacts(tracks.map { ($0, $1.color) }).stored),
      (MirroredTracks.fact, MirroredTracks(tracks.filter(\.1.isMirrored).map(\.0)).stored),
      (TimePlaces.fact, try times()),
      (FootageFact.key, FootageFact.stored(try parts.flatMap(footage))),
      (SessionNote.fact, notes.isEmpty ? nil : notes.joined(separator: " + ")),
    ]
    for key in dates { facts.append((key, try stores.first?.meta(key))) }
    return standing.facts + facts
  }

  /// The places of both sessions where time does not simply increase.
  private func times() throws -> String? {
    let places = try parts.flatMap { part -> [TimePlace] in
      let stored = try part.reader.index.store.meta(TimePlaces.fact)
      return (stored.flatMap { TimePlaces(stored: $0) }?.places ?? []).map { place -> TimePlace in
        var place = place
        place.track = part.track(place.track)
        return place
      }
    }
    return TimePlaces(places).stored
  }

  /// The stored notes about the files and tracks of a part, with their new times and numbers.
  private func footage(_ part: Part) throws -> [String] {
    let start = try parts.flatMap { part in
      try part.reader.index.tracks.compactMap { track in
        try part.reader.index.store.ends(track: track).map { part.time($0.firstNanoseconds) }
      }
    }.min()
    let store = part.reader.index.store
    return try FootageFact.notes(stored: try store.meta(FootageFact.key)) { id in
      try store.frame(id).map { row in
        (
          FrameID(track: part.track(id.track), sequence: id.sequence),
          part.time(row.ptsNanoseconds) &- (start ?? 0)
        )
      }
    } others: { note in
      guard let match = note.prefixMatch(of: /track (\d+):/), let track = Int(match.1) else {
        return nil
      }
      return "track \(part.track(track)):" + note[match.range.upperBound...]
    }
  }
}
