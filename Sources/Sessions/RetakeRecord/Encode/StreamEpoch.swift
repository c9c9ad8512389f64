import RetakeMedia

/// The stream of one encoder's packets; frames of another shape begin another epoch.
struct StreamEpoch: Sendable {
  /// Counts the session's epochs from 0.
  var number: Int
  /// As the database and every decoder see it, with the source's time base.
  var stream: MediaStream
  /// Human-readable, such as `640x480 I420`.
  var shape: String
}
