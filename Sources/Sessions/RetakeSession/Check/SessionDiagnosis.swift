/// The findings of the check, and how much it checked.
package struct SessionDiagnosis: Hashable, Sendable, Codable {
  package var path: String
  /// nil when the database cannot be read at all.
  package var status: SessionStatus?
  /// In the order in which they were found: database, files, packets, frames, pixels.
  package var findings: [SessionFinding]
  /// Number of findings that were omitted because there were too many.
  package var omitted: Int
  package var packetsChecked: Int
  package var framesChecked: Int
  /// Number of frames that cannot be replayed, whether the session records that or it was found
  /// now.
  package var damagedFrames: Int
  /// Whether no finding is worse than a warning.
  package var isHealthy: Bool
}
