#if Bags
  import Foundation
  import Retake

  /// `retake import` of a bag.
  struct BagImport {
    let file: String
    let name: String?
    let into: String
    let topics: [String]
    let rate: TimeBase?
    let namesNext: Bool
    let output: OutputOptions

    func run() throws {
      let line = ProgressLine(isQuiet: output.quiet)
      let importer = BagImporter(
        BagImportOptions(path: file, name: name, into: into, topics: topics, rate: rate)
      ) { progress in
        line.update(progress.phase.rawValue, done: progress.done, total: progress.total)
        return !Interruption.isRequested
      }
      defer { line.finish() }
      let result = try importer.run()
      line.finish()
      for note in result.losses + result.notes { output.note("note: \(visible(note))") }
      ImportAdvice.noteFootage(result.folder, output)
      // Read back, so that the output shows the stored session.
      let info = try SessionReader(opening: result.folder.path).info()
      for note in info.notes ?? [] { output.note("note: \(visible(note))") }
      for line in TimeText.lines(
        info.times ?? [], of: info.timeCount ?? 0, max: TimeText.importMax)
      { output.note("note: \(visible(line))") }
      if output.json {
        try Console.json(Printed(info: info, result: result))
      } else {
        Console.result(text(of: result, info))
      }
    }

    /// The session object of `session info`, with the topics and the notes of the import.
    private struct Printed: Encodable {
      var info: SessionInfo
      var result: BagImportResult

      private enum Key: String, CodingKey {
        case leftOut, notes, topics
      }

      func encode(to encoder: any Encoder) throws {
        // All encode into one object.
        try info.encode(to: encoder)
        var object = encoder.container(keyedBy: Key.self)
        var topics = object.nestedUnkeyedContainer(forKey: .topics)
        for track in result.tracks { try topics.encode(track) }
        for sensors in result.sensors { try topics.encode(sensors) }
        try object.encode(result.leftOut, forKey: .leftOut)
        try object.encode(
          result.losses + result.notes + (info.notes ?? []), forKey: .notes)
      }
    }

    private func text(of result: BagImportResult, _ info: SessionInfo) -> String {
      var lines = ["\(result.folder.name)  \(result.status.rawValue)  \(result.folder.path)"]
      for (track, known) in zip(result.tracks, info.tracks) {
        lines.append(
          "  track \(track.track)  \(visible(track.topic))  \(visible(track.encoding))  "
            + "\(known.width)x\(known.height)  " + SpanText.of(known)
            + (track.damaged > 0 ? "  \(track.damaged) damaged" : ""))
      }
      for topic in result.sensors {
        lines.append(
          "  sensor \(visible(topic.sensors.joined(separator: ", ")))  \(visible(topic.topic))  "
            + counted(topic.samples, "sample")
            + (topic.damaged > 0 ? "  \(topic.damaged) damaged" : ""))
      }
      for topic in result.leftOut {
        lines.append("  left out  \(visible(topic.topic)): \(visible(topic.reason))")
      }
      if namesNext {
        lines.append("next: \(ImportAdvice.next(result.folder, into: into))")
      }
      return lines.joined(separator: "\n")
    }
  }
#endif
