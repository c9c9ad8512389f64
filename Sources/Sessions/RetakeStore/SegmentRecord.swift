/// A stretch of the recording with one set of codec parameters in one media file.
///
/// Segments of one file follow each other: if a track's size or codec changes within a file, a new
/// segment of the same file begins.
package struct SegmentRecord: StoredRow {
  package var index = 0
  /// Relative to the session's folder, with forward slashes.
  package var file = ""
  package var startedNanoseconds: Int64 = 0
  package var isClosed = false
  /// Bytes of the media file that belong to committed packets; the file's size once closed.
  package var bytes: Int64 = 0
  /// Why the segment begins: nil for the first.
  package var reason: String?

  /// The previous segment was long enough, and no packet is lost between the two.
  package static let limitReason = "limit"

  package init() {}

  package init(
    index: Int, file: String, startedNanoseconds: Int64 = 0, isClosed: Bool, bytes: Int64,
    reason: String? = nil
  ) {
    (self.index, self.file, self.startedNanoseconds) = (index, file, startedNanoseconds)
    (self.isClosed, self.bytes, self.reason) = (isClosed, bytes, reason)
  }

  package static let table = Schema.Table(
    "segment", keyCount: 1, of: SegmentRecord())

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("index", &index, "$ >= 0")
    try row.column("file", &file, "$ <> ''")
    try row.time("started_ns", &startedNanoseconds)
    try row.column("closed", &isClosed, "$ IN (0, 1)")
    try row.column("bytes", &bytes, "$ >= 0") { Int64(try $0.count()) }
    try row.column("reason", &reason)
  }
}
