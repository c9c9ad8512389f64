/// A line that a decoder wrote to FFmpeg's log.
package struct DecoderReport: Hashable, Sendable {
  /// The packet that was being decoded, as it was numbered for the decoder.
  package var packet: Int
  package var line: String
  /// Whether the line reports pixels that differ from the encoded pixels. Other lines are remarks.
  package var isDamage: Bool
}
