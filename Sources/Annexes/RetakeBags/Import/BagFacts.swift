import RetakeCore
import RetakeSession
import RetakeStore

/// The facts about a session that was made from a bag, for its database and for people.
struct BagFacts {
  let result: BagImportResult
  let standing: SessionStanding
  let source: String
  let origin: BagOrigin
  let places: TimePlaces
  /// Notes that `session info` repeats.
  let footage: [String]

  /// For the table `meta`.
  var rows: StoreWriter.Facts {
    [
      ("kind", "imported"), ("source", source), (BagTopics.fact, bag.canonicalText),
      (FootageFact.key, FootageFact.stored(footage)), (TimePlaces.fact, places.stored),
      (SessionDate.fact, started),
    ] + standing.facts
  }

  /// nil for a bag whose clock does not count from 1970, such as the export of a session without a
  /// date or a simulation: its times begin near 0.
  private var started: String? {
    origin.nanoseconds.flatMap { $0.magnitude < Self.undatedNanoseconds ? nil : "\($0)" }
  }

  /// A year.
  private static let undatedNanoseconds: UInt64 = 365 * 86_400 * 1_000_000_000

  /// docs/formats/session.md, meta.
  private var bag: JSONValue {
    let tracks = result.tracks.map { track -> JSONValue in
      .object([
        "track": .integer(Int64(track.track)), "topic": .string(track.topic),
        "type": .string(track.type), "encoding": .string(track.encoding),
      ])
    }
    let leftOut = result.leftOut.map { topic -> JSONValue in
      .object([
        "topic": .string(topic.topic), "type": .string(topic.type),
        "reason": .string(topic.reason),
      ])
    }
    let sensors = result.sensors.map { topic -> JSONValue in
      .object([
        "sensors": .array(topic.sensors.map { .string($0) }), "topic": .string(topic.topic),
        "type": .string(topic.type),
      ])
    }
    return .object([
      "tracks": .array(tracks), "sensors": .array(sensors), "leftOut": .array(leftOut),
    ])
  }

  /// NOTES.md.
  var notesText: String {
    var lines = ["# \(result.folder.name)", "", "Imported from `\(code(source))`.", ""]
    for track in result.tracks {
      lines.append(
        "- Track \(track.track): `\(code(track.topic))`, \(track.encoding), "
          + "\(counted(track.frames, "frame"))")
    }
    for topic in result.sensors {
      lines.append(
        "- Sensors \(topic.sensors.joined(separator: ", ")): `\(code(topic.topic))`, "
          + "\(counted(topic.samples, "sample"))")
    }
    for topic in result.leftOut {
      lines.append("- Left out: `\(code(topic.topic))`: \(topic.reason)")
    }
    for text in result.losses + result.notes + places.places.prefix(Self.timesMax).map(\.text) {
      lines.append("- " + text.prefix(1).uppercased() + text.dropFirst())
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let timesMax = 10

  /// A name comes from outside: a backtick or a line end would end the code span.
  private func code(_ text: String) -> String {
    String(text.map { $0 == "`" || $0.isNewline ? "'" : $0 })
  }
}
