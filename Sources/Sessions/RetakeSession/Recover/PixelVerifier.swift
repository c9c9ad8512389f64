package import RetakeCore
package import RetakeMedia

/// Decodes the packets of a recording in order: the digests must be of the pixels in the media.
///
/// A decoder that begins at a packet returns the pixels of that entry, by construction. At a key
/// packet that decodes exactly the decoder starts again. At a recovery point a second decoder
/// starts as well, and replaces the first decoder at the first picture that both return with equal
/// pixels.
package final class PixelVerifier {
  /// The decoded picture of a packet, as a digest.
  package struct Sight: Hashable, Sendable {
    /// Of the picture's visible bytes.
    package var digest: Digest128
    /// How many packets before this one decoding began.
    package var distance: Int
  }

  /// A decoder, and where it began.
  private struct Lane {
    var decoder: MediaDecoder
    var start: Int
    /// Whether the decoder returns no picture before it has recovered.
    var recovers: Bool
  }

  private let stream: MediaStream
  private let memory: ImageMemory
  private var lane: Lane?
  /// Begun at a later packet than `lane`.
  private var later: Lane?
  /// Decoders without a lane; at most two.
  private var idle: [MediaDecoder] = []
  private var count = 0

  /// Packets within which a decoder has to recover; then another recovery point is tried.
  private static let recoveryPacketsMax = 600

  package init(stream: MediaStream, memory: ImageMemory = ImageMemory()) {
    (self.stream, self.memory) = (stream, memory)
  }

  /// - Returns: nil when the decoder did not return the picture at once and without damage, or when
  ///   there was no time to decode since the last key packet.
  package func sight(of packet: MediaPacket, hasTime: Bool = true) -> Sight? {
    var numbered = packet
    // A new connection counts its packets from 0 again, and the decoder tells frames apart by these
    // numbers.
    numbered.index = count
    count += 1
    begin(at: numbered, hasTime: hasTime)
    let digest = look(at: numbered, with: &lane)
    let other = look(at: numbered, with: &later)
    if let other, digest == nil || digest == other {
      if let lane { idle.append(lane.decoder) }
      (lane, later) = (later, nil)
    }
    guard let lane, let digest = digest ?? other else { return nil }
    return Sight(digest: digest, distance: numbered.index - lane.start)
  }

  private func begin(at packet: MediaPacket, hasTime: Bool) {
    let start = DecodingStart(of: packet, in: stream)
    guard start != .never else { return }
    if start == .exact || !hasTime {
      release(&lane)
      release(&later)
    }
    guard hasTime else { return }
    if let waiting = later, packet.index - waiting.start > Self.recoveryPacketsMax {
      release(&later)
    }
    if lane == nil {
      lane = makeLane(at: packet.index, recovers: start == .recovery)
    } else if later == nil {
      later = makeLane(at: packet.index, recovers: true)
    }
  }

  /// Without a decoder the hashes are missing until the close; the recording is as good.
  private func makeLane(at index: Int, recovers: Bool) -> Lane? {
    guard let decoder = idle.popLast() ?? (try? MediaDecoder(stream: stream, memory: memory)) else {
      return nil
    }
    decoder.flush()
    return Lane(decoder: decoder, start: index, recovers: recovers)
  }

  private func release(_ lane: inout Lane?) {
    if let decoder = lane?.decoder { idle.append(decoder) }
    lane = nil
  }

  private func look(at packet: MediaPacket, with lane: inout Lane?) -> Digest128? {
    guard let current = lane else { return nil }
    let frames = try? current.decoder.decode(packet)
    if current.recovers, frames?.isEmpty == true { return nil }
    guard let frames, frames.count == 1, let frame = frames.first,
      frame.packetIndex == packet.index, !frame.isDamaged
    else {
      // Without this packet, the following images would differ from the images of the media.
      release(&lane)
      return nil
    }
    lane?.recovers = false
    return frame.frame.pixelDigest
  }
}
