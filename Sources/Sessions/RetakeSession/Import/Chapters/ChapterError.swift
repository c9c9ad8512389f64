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

  /// Each file is decoded alone, so a piece that was cut between key frames decodes to no image.
  static func chapterWithoutKeyFrame(_ chapter: Chapter, all: [Chapter]) -> ErrorFacts {
    ErrorFacts(
      "session.append.noKeyFrame",
      "the file has no key frame: its frames need images of the file before, and each file of a "
        + "session is decoded alone",
      at: chapter.source,
      advice: "Join the files into one, and import it: \(joining(all))")
  }

  /// The commands that import the files as one file.
  static func joining(_ chapters: [Chapter]) -> String {
    let words = chapters.map(\.source.shellWord).joined(separator: " ")
    guard chapters.allSatisfy({ chainable.contains($0.format) }) else {
      return "printf \"file '%s'\\n\" \(words) > LIST && ffmpeg -f concat -safe 0 -i LIST -c copy "
        + "OUT.mkv && retake import OUT.mkv"
    }
    let ending = URL(fileURLWithPath: chapters[0].source).pathExtension
    return "cat \(words) > OUT.\(ending) && retake import OUT.\(ending)"
  }

  /// FFmpeg's names of formats whose files may follow one another in one file.
  private static let chainable: Set = ["mpegts", "mpeg", "h264", "hevc", "mpegvideo", "m4v"]

  static func chapterMirrored(_ chapter: Chapter, first: Chapter) -> ErrorFacts {
    ErrorFacts(
      "session.append.mirrored",
      "players mirror one of the two, this file or \(first.name), and a track is mirrored as a "
        + "whole",
      at: chapter.source, advice: "Import the files without --append")
  }
}
