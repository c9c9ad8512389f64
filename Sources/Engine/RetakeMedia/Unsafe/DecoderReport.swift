import CFFmpeg
import RetakeBuffers

/// A line that a decoder wrote to FFmpeg's log.
package struct DecoderReport: Hashable, Sendable {
  /// The packet that was being decoded, as it was numbered for the decoder.
  package var packet: Int
  package var line: String
  /// Whether the line says that pixels are not those that were encoded. Other lines are remarks.
  package var isDamage: Bool
}
