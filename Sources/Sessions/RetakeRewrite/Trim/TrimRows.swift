import Foundation
import RetakeCore
import RetakeSession
import RetakeStore

/// The rows of a trimmed session that are not media: facts, events and runs of the span.
struct TrimRows {
  private let reader: SessionReader
  private let span: TrimSpan
  let events: [EventRecord]
  /// Number of `events` that carry a device state from before the span.
  let carriedEvents: Int
  /// Whether the original has inputs, decisions or results of live runs, which are not copied.
  let leavesDecisions: Bool
  /// By track.
  private let sequences: [Int: ClosedRange<Int>]

  init(reader: SessionReader, span: TrimSpan) throws {
    (self.reader, self.span) = (reader, span)
    let store = reader.index.store
    let all = try store.events()
    let carried = Self.carried(all, before: span.times.lowerBound)
    let inside = all.filter { span.times.contains($0.timeNanoseconds) }
    let sequences = Dictionary(uniqueKeysWithValues: span.tracks.map { ($0.track, $0.sequences) })
    // Events without a track concern all tracks.
    var events = (carried + inside).filter { $0.track.map { sequences[$0] != nil } ?? true }
    // An event's ordinal is its index, without gaps (`SessionEvent`).
    for place in events.indices { events[place].ordinal = place }
    (self.events, self.sequences) = (events, sequences)
    carriedEvents = carried.count
    leavesDecisions = try store.runs().contains { run in
      try !store.externalEvents(run: run.run, ordinals: 0..<1).isEmpty
        || !store.decisions(run: run.run, ordinals: 0..<1).isEmpty
        || !store.results(run: run.run, ordinals: 0..<1).isEmpty
    }
  }

  /// The last device event of each kind before the span, moved to its beginning, because a state
  /// such as heat does not end where a trim begins.
  private static func carried(_ events: [EventRecord], before time: Int64) -> [EventRecord] {
    var last: [String: EventRecord] = [:]
    for event in events where event.source == DeviceEvent.source && event.timeNanoseconds < time {
      last[event.kind] = event
    }
    // Sorted, because a Dictionary's order would reach the ordinals.
    return last.keys.sorted().compactMap { kind in
      var event = last[kind]
      event?.timeNanoseconds = time
      return event
    }
  }

  /// The longest window that the first frame of a trimmed session reads in full.
  private static let samplesBeforeNanoseconds: Int64 = 2_000_000_000

  func write(_ tracks: [TrimmedTrack], to path: String) throws {
    let store = reader.index.store
    let writer = try StoreWriter(building: path, facts: try facts(tracks))
    for track in tracks {
      writer.append(track.segments)
      writer.append(track.parts)
      try writer.write(track.packets)
      try writer.write(track.frames)
    }
    writer.append(events)
    // Not the runs' inputs and decisions: a decision core that begins in the middle has other
    // queues and other busy stages than the live one had, so it would decide otherwise.
    try writer.copy(RunRecord.self, from: store)
    try writer.copy(NodeRecord.self, from: store)
    try writer.copy(from: store) { (row: inout SpanRecord) in
      guard let sequence = sequence(row.sequence, of: row.track) else { return false }
      row.sequence = sequence
      return true
    }
    // Also the samples before the span that its first frames read: `latest` needs the last one,
    // `window` as many as it is long.
    let start = span.times.lowerBound - Self.samplesBeforeNanoseconds
    try SampleWriter(writer).copy(from: store, in: start..<span.times.upperBound)
    try writer.close()
  }

  /// A frame's number in the trimmed session, which begins at 0; nil outside the span.
  private func sequence(_ original: Int, of track: Int) -> Int? {
    guard let kept = sequences[track], kept.contains(original) else { return nil }
    return original - kept.lowerBound
  }

  private func facts(_ tracks: [TrimmedTrack]) throws -> StoreWriter.Facts {
    let store = reader.index.store
    let standing = SessionStanding(
      damagedFrames: tracks.reduce(0) { $0 + $1.frames.count { $0.cause != nil } })
    let origin = TrimOrigin(
      session: reader.folder.name, digest: try store.digest(), times: span.times)
    // The time line, and so its date, is still that of the original.
    let kept = [SessionDate.fact, SessionDate.uncertaintyFact, SessionNote.fact]
    let colors = ColorFacts(reader.tracks.map { ($0.track, $0.color) })
    let mirrored = MirroredTracks(reader.tracks.filter(\.isMirrored).map(\.track))
    var facts: StoreWriter.Facts = [
      ("kind", try store.meta("kind") ?? "recorded"),
      ("source", try store.meta("source") ?? reader.folder.name),
      (TrimOrigin.fact, origin.text), (TimePlaces.fact, try times()),
      (FootageFact.key, FootageFact.stored(try footage())),
      (ColorFacts.fact, colors.stored), (MirroredTracks.fact, mirrored.stored),
    ]
    for key in kept { facts.append((key, try store.meta(key))) }
    return standing.facts + facts
  }

  /// The places in the span where time does not simply increase.
  private func times() throws -> String? {
    let stored = try reader.index.store.meta(TimePlaces.fact)
    guard let all = stored.flatMap({ TimePlaces(stored: $0) }) else { return nil }
    let places = all.places.compactMap { place -> TimePlace? in
      guard let frame = sequence(place.frame, of: place.track) else { return nil }
      var place = place
      place.frame = frame
      return place
    }
    return TimePlaces(places).stored
  }

  /// The stored notes that hold for the span.
  private func footage() throws -> [String] {
    let store = reader.index.store
    return try FootageFact.notes(
      stored: try store.meta(FootageFact.key), ofPart: Set(sequences.keys)
    ) { id in
      guard let number = sequence(id.sequence, of: id.track), let frame = try store.frame(id) else {
        return nil
      }
      return (number, frame.ptsNanoseconds &- span.origin)
    }
  }

  /// The user's notes of the original, after a line about the origin.
  func notes() throws -> String {
    let seconds = Double(span.durationNanoseconds) / 1e9
    let own = try reader.folder.notesText()
    return "Trimmed from the session \(reader.folder.name): \(seconds) s.\n\n" + (own ?? "")
  }
}
