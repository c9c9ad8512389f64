import RetakeCore

/// A stretch of the recording with one set of codec parameters in one media file.
///
/// Segments of one file follow each other: if a track's size or codec changes within a file, a new
/// segment of the same file begins.
package struct SegmentRecord: Hashable, Sendable {
  package var index: Int
  /// Relative to the session's folder, with forward slashes.
  package var file: String
  package var startedNanoseconds: Int64
  package var isClosed: Bool
  /// Bytes of the media file that belong to committed packets; the file's size once closed.
  package var bytes: Int64
  /// Why the segment begins: nil for the first.
  package var reason: String?

  /// The previous segment was long enough, and no packet is lost between the two.
  package static let limitReason = "limit"

  package init(
    index: Int, file: String, startedNanoseconds: Int64 = 0, isClosed: Bool, bytes: Int64,
    reason: String? = nil
  ) {
    self.index = index
    self.file = file
    self.startedNanoseconds = startedNanoseconds
    self.isClosed = isClosed
    self.bytes = bytes
    self.reason = reason
  }
}
