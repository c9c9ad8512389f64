package import RetakeMedia

/// A result of a decoder.
package enum DecodeOutcome: Sendable {
  /// The picture, and how many its packet had given before. A picture that is shown again counts
  /// for the packet that it was decoded from.
  case frame(DecodedFrame, shown: Int)
  /// The decoder rejected this packet, or could not finish a frame after it.
  case refused(packet: Int, cause: MediaError)
}
