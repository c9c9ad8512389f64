import Foundation
import RetakeCore

/// The errors of files that do not make one recording.
extension ErrorFacts {
  /// The names show chapters of a camera in another order.
  static func chapterOrder(_ files: [String], ordered: [String]) -> ErrorFacts {
    ErrorFacts(
      "session.append.order", "the files are not in the order of their chapters",
      cause: "their names show the order "
        + ordered.map { URL(fileURLWithPath: $0).lastPathComponent }.joined(separator: ", "),
      at: files.first,
      advice: "retake import \(ordered.map(\.shellWord).joined(separator: " ")) --append",
      kind: .usage)
  }

  /// Two files have the same video.
  static func chapterTwice(_ file: String, earlier: String) -> ErrorFacts {
    ErrorFacts(
      "session.append.twice", "the file has the same frames as \(earlier)", at: file,
      advice: "Name each file of the recording once", kind: .usage)
  }

  static func chapterTracks(
    _ chapter: Chapter, first: Chapter
  ) -> ErrorFacts {
    ErrorFacts(
      "session.append.tracks",
      "the file has \(counted(chapter.streams.count, "video track")), and \(first.name) has "
        + "\(first.streams.count)",
      at: chapter.source,
      advice: "Choose the track of all files with --track, or import the files without --append")
  }

  static func chapterMirrored(_ chapter: Chapter, first: Chapter) -> ErrorFacts {
    ErrorFacts(
      "session.append.mirrored",
      "players mirror one of the two, this file or \(first.name), and a track is mirrored as a "
        + "whole",
      at: chapter.source, advice: "Import the files without --append")
  }
}
