import RetakeMedia

/// A file that is imported.
struct ImportedFile: Sendable {
  /// The file that the user named; errors and notes name it.
  let source: String
  /// The copy or link in the session's folder, relative to it.
  let media: String
  /// The streams that become tracks.
  let streams: [MediaStream]
  let all: [MediaStream]
}
