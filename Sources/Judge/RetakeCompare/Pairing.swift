/// Which frames of two runs are the same frame.
package enum Pairing: String, Hashable, Sendable, Codable {
  /// By (track, sequence): two runs of one session.
  case sequence
  /// By (track, presentation time): two runs of different sessions, where one has frames that the
  /// other does not have. A frame without a time is paired by its sequence.
  case presentationTime
}
