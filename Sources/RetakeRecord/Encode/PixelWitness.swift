import RetakeBuffers
import RetakeCore
import RetakeMedia

/// Decodes each packet right after encoding: the pixels that count are those of the media.
///
/// The decoder is flushed at each key packet, so a frame's pixels are always those that decoding
/// from that packet gives: the packet is the frame's entry.
final class PixelWitness {
  private let stream: MediaStream
  private let memory = PictureMemory()
  private var decoder: MediaDecoder?
  private var isWatching = false
  private var count = 0

  init(stream: MediaStream) {
    self.stream = stream
  }

  /// The digest of the decoded frame's visible bytes. It is nil when the decoder did not return the
  /// frame at once, or when there was no time to decode the last key packet.
  func digest(of packet: MediaPacket, hasTime: Bool) -> Digest128? {
    if packet.flags.contains(.key) {
      isWatching = hasTime
      // Without a decoder the hashes are missing until the close; the recording is as good.
      if decoder == nil { decoder = try? MediaDecoder(stream: stream, memory: memory) }
      decoder?.flush()
    }
    guard isWatching, let decoder else { return nil }
    var numbered = packet
    // A new connection counts its packets from 0 again, and the decoder tells frames apart by these
    // numbers.
    numbered.index = count
    count += 1
    guard let frames = try? decoder.decode(numbered), frames.count == 1,
      let frame = frames.first, frame.packetIndex == numbered.index, !frame.isDamaged
    else {
      // Without this packet, the following images would not be those of the media.
      isWatching = false
      return nil
    }
    return frame.frame.pixelDigest
  }
}
