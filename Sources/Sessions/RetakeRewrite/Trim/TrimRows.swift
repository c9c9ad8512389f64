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
  private let runs: [RunRecord]

  init(reader: SessionReader, span: TrimSpan) throws {
    self.reader = reader
    self.span = span
    let store = reader.index.store
    let (all, runs) = try fromStore {
      (try store.events(), try store.runs())
    }
    self.runs = runs
    let carried = Self.carried(all, before: span.times.lowerBound)
    let inside = all.filter { span.times.contains($0.timeNanoseconds) }
    let tracks = Set(span.tracks.map(\.track))
    // Events without a track concern all tracks.
    var events = (carried + inside).filter { $0.track.map { tracks.contains($0) } ?? true }
    // An event's ordinal is its index, without gaps (`SessionEvent`).
    for place in events.indices { events[place].ordinal = place }
    self.events = events
    carriedEvents = carried.count
    leavesDecisions = try fromStore {
      for run in runs {
        if try !store.externalEvents(run: run.run, ordinals: 0..<1).isEmpty { return true }
        if try !store.decisions(run: run.run, ordinals: 0..<1).isEmpty { return true }
        if try !store.results(run: run.run, ordinals: 0..<1).isEmpty { return true }
      }
      return false
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

  func write(_ tracks: [TrimmedTrack], to path: String) throws {
    let facts = try self.facts(tracks)
    let writer = try fromStore {
      let writer = try StoreWriter(creating: path, durability: .building)
      for fact in facts { writer.setMeta(fact.key, fact.value) }
      for track in tracks {
        writer.append(track.segments)
        writer.append(track.parts)
        writer.append(track.packets)
        writer.append(track.frames)
        // One track's rows at a time, so that all of them need not wait in memory.
        try writer.commit()
      }
      writer.append(events)
      for run in runs { try write(run, to: writer) }
      return writer
    }
    try writeSamples(to: SampleWriter(writer))
    _ = try fromStore { try writer.close() }
  }

  /// The samples of the span, and the samples before it that its first frames read: `latest` needs
  /// the last sample, `window` as many as it is long.
  private func writeSamples(to samples: SampleWriter) throws {
    let store = reader.index.store
    for sensor in try fromStore({ try store.sensors() }) {
      let number = try fromSamples {
        try samples.add(
          name: sensor.name, kind: sensor.kind, unit: sensor.unit, channels: sensor.channels,
          source: sensor.source)
      }
      var next = try fromStore {
        let before = try store.samples(
          sensor: sensor.sensor, upTo: span.times.lowerBound - Self.samplesBeforeNanoseconds,
          end: try store.sampleEnd(sensor: sensor.sensor))
        return max(0, before - 1)
      }
      var isPast = false
      while !isPast {
        let page = try fromStore {
          try store.samples(sensor: sensor.sensor, from: next, count: StoreReader.samplePageRows)
        }
        guard let last = page.last else { break }
        next = last.index + 1
        isPast = last.timeNanoseconds >= span.times.upperBound
        try fromSamples {
          for row in page where row.timeNanoseconds < span.times.upperBound {
            try samples.append(
              number, time: row.timeNanoseconds, arrival: row.arrivalNanoseconds, row.numbers)
          }
        }
      }
    }
    try fromSamples { try samples.finish() }
  }

  /// The longest window that the first frame of a trimmed session reads in full.
  private static let samplesBeforeNanoseconds: Int64 = 2_000_000_000

  private func write(_ run: RunRecord, to writer: StoreWriter) throws {
    let store = reader.index.store
    writer.append([run])
    writer.append(try store.nodes(run: run.run))
    var spans: [SpanRecord] = []
    let kept = Dictionary(uniqueKeysWithValues: span.tracks.map { ($0.track, $0.sequences) })
    try store.eachSpan(run: run.run) { row in
      guard let sequences = kept[row.track], sequences.contains(row.sequence) else { return true }
      var row = row
      // Sequences of the new session begin at 0.
      row.sequence -= sequences.lowerBound
      spans.append(row)
      return true
    }
    // Not the run's inputs and decisions: a decision core that begins in the middle has other
    // queues and other busy stages than the live one had, so it would decide otherwise.
    writer.append(spans)
    try writer.commit()
  }

  private func facts(
    _ tracks: [TrimmedTrack]
  ) throws -> [(key: String, value: String)] {
    let standing = SessionStanding(
      damagedFrames: tracks.reduce(0) { $0 + $1.frames.count { $0.cause != nil } })
    let (kind, source, digest) = try fromStore {
      let store = reader.index.store
      return (try store.meta("kind"), try store.meta("source"), try store.digest())
    }
    let origin = TrimOrigin(session: reader.folder.name, digest: digest, times: span.times)
    var facts: [(key: String, value: String)] = [
      ("kind", kind ?? "recorded"), ("source", source ?? reader.folder.name),
      (TrimOrigin.fact, origin.text),
    ]
    facts += standing.facts
    facts += try keptFacts()
    if let times = try self.times() { facts.append((TimePlaces.fact, times)) }
    let colors = ColorFacts(reader.tracks.map { ($0.track, $0.color) }).stored
    if let colors { facts.append((ColorFacts.fact, colors)) }
    let mirrored = MirroredTracks(reader.tracks.filter(\.isMirrored).map(\.track)).stored
    if let mirrored { facts.append((MirroredTracks.fact, mirrored)) }
    return facts
  }

  /// Facts that stay true of a part: it has the original's time line, and so its date.
  private func keptFacts() throws -> [(key: String, value: String)] {
    let keys = [SessionDate.fact, SessionDate.uncertaintyFact, SessionNote.fact]
    return try fromStore {
      var facts: [(key: String, value: String)] = []
      for key in keys {
        if let value = try reader.index.store.meta(key) { facts.append((key, value)) }
      }
      return facts
    }
  }

  /// The places in the span where time does not simply increase.
  private func times() throws -> String? {
    let stored = try fromStore {
      try reader.index.store.meta(TimePlaces.fact)
    }
    guard let all = stored.flatMap({ TimePlaces(stored: $0) }) else { return nil }
    let kept = Dictionary(uniqueKeysWithValues: span.tracks.map { ($0.track, $0.sequences) })
    let places = all.places.compactMap { place -> TimePlace? in
      guard let sequences = kept[place.track], sequences.contains(place.frame) else { return nil }
      var place = place
      place.frame -= sequences.lowerBound
      return place
    }
    return TimePlaces(places).stored
  }

  /// The user's notes of the original, after a line about the origin.
  var notes: String {
    let seconds = Double(span.durationNanoseconds) / 1e9
    let own = reader.folder.notesText
    return "Trimmed from the session \(reader.folder.name): \(seconds) s.\n\n" + (own ?? "")
  }
}
