import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// The rows, notes and facts of one recording that several files hold.
struct AppendedFiles {
  /// The key in the table `meta`: JSON with the members `files`, the names of the imported files in
  /// their order, and `overlap`.
  static let fact = "appended"

  let rows: [(MediaStream, TrackRows)]
  let losses: [String]
  /// Remarks about single files.
  let notes: [String]
  /// Where the files meet.
  let boundaryNotes: [String]
  /// Whether a file begins with the last frames of the file before.
  let hasRepeatedFrames: Bool
  /// For the table `meta`.
  let fact: String
  let sensorFiles: [SensorImporting.File]

  /// - Throws: `SessionError` and `ErrorFacts` if the files are not one recording.
  init(
    _ files: [ImportedFile], in folder: SessionFolder, overlap: ImportOptions.Overlap,
    report: @escaping @Sendable (ImportProgress) -> Bool
  ) throws {
    let chapters = try files.map { file in
      try Chapter(
        source: file.source, file: try MediaFile(path: try folder.file(file.media)),
        streams: file.streams
      ) { report(ImportProgress(phase: .indexing, done: $0, total: nil)) }
    }
    let found = try ChapterIndexing(chapters, overlap: overlap, report: report).run()
    rows = found.tracks
    losses = chapters.flatMap { chapter in
      chapter.findings.losses.map { "\(chapter.name): \($0)" }
    }
    notes = chapters.flatMap { chapter in chapter.findings.notes.map { "\(chapter.name): \($0)" } }
    let names = chapters.map(\.name)
    boundaryNotes =
      ChapterNotes(
        names: names, overlap: overlap, boundaries: found.boundaries, track: rows[0].0.index
      ).texts + Self.turnNotes(chapters) + Self.cutNotes(chapters, found.cut)
    hasRepeatedFrames = found.boundaries.contains { $0.repeated > 0 }
    fact =
      JSONValue.object([
        "files": .array(names.map { .string($0) }), "overlap": .string(overlap.rawValue),
      ]).canonicalText
    sensorFiles = files.indices.map {
      SensorImporting.File(
        path: chapters[$0].file.path, source: files[$0].source, streams: files[$0].all,
        shift: -found.moves[$0], start: found.starts[$0],
        continues: found.continues[$0])
    }
  }

  /// Files that were cut between key frames.
  private static func cutNotes(
    _ chapters: [Chapter], _ cut: [ChapterIndexing.Cut]
  ) -> [String] {
    zip(chapters, cut).compactMap { chapter, cut in
      guard cut.packets > 0 else { return nil }
      return "\(chapter.name): its first \(counted(cut.packets, "packet")) decode to no "
        + (cut.hasImages ? "good image" : "image") + ", because each file is decoded alone; to "
        + "have all frames: \(ErrorFacts.joining(chapters))"
    }
  }

  /// Files that players turn otherwise than the first file.
  private static func turnNotes(_ chapters: [Chapter]) -> [String] {
    func text(_ stream: MediaStream) -> String { stream.displayTurn?.text ?? "do not turn it" }
    return chapters.dropFirst().flatMap { chapter in
      zip(chapters[0].streams, chapter.streams).compactMap { first, stream in
        guard first.displayTurn != stream.displayTurn else { return nil }
        return "track \(first.index): players \(text(first)) in \(chapters[0].name), and "
          + "\(text(stream)) in \(chapter.name); the node upright turns each frame as its file "
          + "says"
      }
    }
  }

  /// The names and the choice of an earlier import.
  ///
  /// - Returns: nil if the fact is missing or damaged.
  static func parse(_ fact: String?) -> (names: [String], overlap: ImportOptions.Overlap)? {
    guard let fact, case .object(let members) = try? JSONValue(parsing: Data(fact.utf8)),
      case .array(let files) = members["files"], case .string(let word) = members["overlap"],
      let overlap = ImportOptions.Overlap(rawValue: word)
    else { return nil }
    let names = files.compactMap { (file) -> String? in
      guard case .string(let name) = file else { return nil }
      return name
    }
    return names.count == files.count ? (names, overlap) : nil
  }
}
