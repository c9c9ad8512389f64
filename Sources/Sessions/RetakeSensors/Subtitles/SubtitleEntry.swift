/// An entry of subtitles.
struct SubtitleEntry {
  struct Line {
    /// The line in the file, from 1, or the byte in the packet.
    var place: Int
    var text: String
  }

  /// The line with the times, from 1, or the packet of the track, from 0.
  var place: Int
  /// The start, in nanoseconds of the file's clock.
  var time: Int64
  var lines: [Line] = []
}

/// Reads entries one after another: from a file, or from a track of a media file.
protocol SubtitleEntries {
  /// The word for the place of an entry.
  static var placeName: String { get }
  /// The next entry; nil at the end.
  mutating func next() throws -> SubtitleEntry?
  /// Damage at a place of an entry.
  func damage(_ problem: SubtitleProblem, in entry: SubtitleEntry) -> SensorError
}

/// A line of an entry that cannot be read.
struct SubtitleProblem: Error, Equatable {
  /// As in `SubtitleEntry.Line`.
  var place: Int
  var problem: String
  /// Whether the problem is in the value of one field, so that other fields can be read.
  var isOfField = true
}
