/// A file of subtitles that belongs to one media file of a recording in several files.
package struct SubtitleChapter: Hashable, Sendable {
  var file: String
  /// Nanoseconds that are subtracted from each time.
  var shift: Int64
  /// Earlier entries repeat the file before, on the recording's time line; nil if nothing repeats.
  var start: Int64?

  package init(file: String, shift: Int64, start: Int64?) {
    (self.file, self.shift, self.start) = (file, shift, start)
  }
}
