/// The content of subtitles, by their first entries.
enum SubtitleContent: Equatable {
  case telemetry
  /// Text for people, with its first line.
  case speech(place: Int, text: String)
  /// No entry has text.
  case empty

  /// Entries that decide it.
  private static let entriesMax = 16

  /// Telemetry if at least half of the entries have two usual measurements.
  init(of entries: any SubtitleEntries) throws {
    var entries = entries
    var (count, measured, first) = (0, 0, SubtitleEntry.Line?.none)
    while count < Self.entriesMax, let entry = try entries.next() {
      guard let line = entry.lines.first else { continue }
      count += 1
      first = first ?? line
      // A damaged entry counts as speech here, and is an error later if others are telemetry.
      let fields = (try? SubtitleScanner.fields(of: entry)) ?? []
      if fields.count(where: Self.isUsual) >= 2 { measured += 1 }
    }
    guard let first else {
      self = .empty
      return
    }
    self = 2 * measured >= count ? .telemetry : .speech(place: first.place, text: first.text)
  }

  private static func isUsual(_ field: SubtitleField) -> Bool {
    guard case .number = field.value else { return false }
    return SubtitleField.usual.contains(field.name)
  }
}
