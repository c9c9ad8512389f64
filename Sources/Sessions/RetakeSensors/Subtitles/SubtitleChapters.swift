/// The entries of several files of subtitles, one after another, on the recording's time line.
struct SubtitleChapters: SubtitleEntries {
  static let placeName = SubtitleFile.placeName
  private var current: SubtitleFile
  private var chapter: SubtitleChapter
  private var later: ArraySlice<SubtitleChapter>
  /// Of the last entry: a file may end after the next one begins.
  private var latest = Int64.min

  init(_ first: SubtitleChapter, then later: ArraySlice<SubtitleChapter>) throws {
    (chapter, self.later) = (first, later)
    current = try SubtitleFile(first.file)
  }

  mutating func next() throws -> SubtitleEntry? {
    // Ends: each turn reads an entry, or begins the next file.
    while true {
      guard var entry = try current.next() else {
        guard let following = later.popFirst() else { return nil }
        (chapter, current) = (following, try SubtitleFile(following.file))
        continue
      }
      entry.time = entry.time &- chapter.shift
      guard entry.time >= max(latest, chapter.start ?? .min) else { continue }
      latest = entry.time
      return entry
    }
  }

  func damage(_ problem: SubtitleProblem, in entry: SubtitleEntry) -> SensorError {
    current.damage(problem, in: entry)
  }
}
