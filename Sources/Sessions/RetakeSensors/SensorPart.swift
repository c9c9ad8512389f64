package import RetakeMedia

/// A stream of measurements or sound in one media file of a recording.
package struct SensorPart: Sendable {
  /// The file that is read.
  let path: String
  /// The path that errors name: the file that the user named, if `path` is a copy of it.
  let file: String
  package let stream: MediaStream
  /// Nanoseconds that are subtracted from each time.
  let shift: Int64
  /// Earlier samples repeat the file before, on the recording's time line; nil if
  /// nothing repeats.
  let start: Int64?
  /// Whether the file begins where the file before ends.
  let continues: Bool

  package init(
    path: String, file: String, stream: MediaStream, shift: Int64 = 0, start: Int64? = nil,
    continues: Bool = false
  ) {
    (self.path, self.file, self.stream) = (path, file, stream)
    (self.shift, self.start, self.continues) = (shift, start, continues)
  }
}
