import RetakeMedia
import RetakeSession

/// An encoded frame.
struct EncodedFrame: Sendable {
  var epoch: StreamEpoch
  /// Its times are in the container's time base.
  var packet: MediaPacket
  /// The decoded picture's digest; nil when it is not known yet.
  var sight: PixelVerifier.Sight?
  /// Packets without frames that a decoder needs before this packet; the first is a key packet.
  var rollIn: [MediaPacket] = []
  /// See `OriginalPacket`; the close of the recording settles it.
  var doubt: String?
}
