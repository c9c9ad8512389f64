/// The rates of a recording.
package struct RecordingRate: Hashable, Sendable, Codable {
  /// Captured frames, including frames without pixels.
  package var framesPerSecond: Double
  /// Bytes of media.
  package var bytesPerSecond: Double
  /// Time until the disk's reserve is reached; nil when unknown.
  package var minutesLeft: Int?
}
