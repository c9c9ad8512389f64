import RetakeBuffers
import RetakeCore
import RetakeMedia

/// Decodes what was just encoded: the pixels that count are those of the media.
///
/// The decoder begins anew at each key packet, so a frame's pixels are by construction the ones
/// that decoding from that packet gives: the packet is the frame's entry.
final class PixelWitness {
  private let stream: MediaStream
  private let memory = PictureMemory()
  private var decoder: MediaDecoder?
  private var isWatching = false
  private var count = 0

  init(stream: MediaStream) {
    self.stream = stream
  }

  /// The digest of the decoded frame's visible bytes; nil when the decoder did not give the frame
  /// at once, or was left out since the last key packet because time was short.
  func digest(of packet: MediaPacket, hasTime: Bool) -> Digest128? {
    if packet.flags.contains(.key) {
      isWatching = hasTime
      if decoder == nil { decoder = try? MediaDecoder(stream: stream, memory: memory) }
      decoder?.flush()
    }
    guard isWatching, let decoder else { return nil }
    var numbered = packet
    numbered.index = count
    count += 1
    guard let frames = try? decoder.decode(numbered), frames.count == 1,
      let frame = frames.first, frame.packetIndex == numbered.index, !frame.isDamaged
    else {
      // Without this packet the pictures that follow are not those of the media.
      isWatching = false
      return nil
    }
    return frame.frame.pixelDigest
  }
}
