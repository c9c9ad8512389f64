import RetakeBuffers
import RetakeCore
import RetakeMedia

/// A decoder at some position of a track, and the pictures it returned last.
///
/// Only one thread at a time uses it.
final class FrameRun: PictureRun {
  /// Identifies a picture of a packet.
  struct Picture: Hashable, Sendable {
    var packet: Int
    /// Number of pictures that the decoder returns for the packet before this one.
    var shown: Int
    /// The packet from which decoding reproduces the picture exactly.
    var entry: Int
  }

  let track: Int
  private let index: SessionIndex
  private let run: DecodeRun
  /// The last requested sequence.
  private var served = -1
  /// Pictures that were returned before the requested one, newest last.
  private var stash: [(packet: Int, shown: Int, frame: DecodedFrame)] = []

  /// Whether it encountered invalid bytes and cannot continue.
  private var isSpent = false

  var position: RunPosition {
    RunPosition(
      start: run.start, next: run.next, served: served, isSpent: isSpent,
      bytesHeld: run.bytesHeld + stash.reduce(0) { $0 + $1.frame.frame.visibleBytes },
      decoderBytes: run.decoderBytes,
      stash: stash.map { RunPosition.Stashed(packet: $0.packet, shown: $0.shown) })
  }

  private static let stashMax = 4
  /// Packets after a picture's own packet that are decoded before the picture is considered lost,
  /// unless it may be shown long after it was decoded.
  private static let lookaheadMax = 96

  init(track: Int, index: SessionIndex, run: DecodeRun) {
    self.track = track
    self.index = index
    self.run = run
  }

  /// The picture, or nil when the decoder does not return it although it received all its packets.
  func decode(_ picture: Picture, id: FrameID) throws -> Frame? {
    served = max(served, id.sequence)
    if let place = stash.firstIndex(where: {
      $0.packet == picture.packet && $0.shown == picture.shown
    }) {
      return stash.remove(at: place).frame.frame
    }
    run.fetcher.frame = id
    var failure: (any Error)?
    var limit = picture.packet + Self.lookaheadMax
    while true {
      let outcome: DecodeOutcome?
      do {
        outcome = try run.outcome(before: limit)
      } catch let error where failure == nil && run.next > picture.packet && !error.isAboutMemory {
        // An error after the picture's own packet need not prevent showing the picture.
        failure = error
        isSpent = true
        // The picture may already be in the decoder; draining returns it without more packets.
        run.finish()
        continue
      }
      guard let outcome else {
        let last = try lastLimit(of: picture)
        // Before `limit`, the track itself has ended, and more packets cannot come.
        guard failure == nil, run.next == limit, limit < last else { break }
        limit = last
        continue
      }
      guard case .frame(let frame, let shown) = outcome else { continue }
      if frame.packetIndex == picture.packet, shown == picture.shown { return frame.frame }
      stash.append((frame.packetIndex, shown, frame))
      if stash.count > Self.stashMax { stash.removeFirst() }
    }
    if let failure { throw failure }
    return nil
  }

  /// One more than the last packet that can show a picture. A decoder that hides pictures or shows
  /// them again discards them at a key packet.
  private func lastLimit(of picture: Picture) throws -> Int {
    let limit = picture.packet + Self.lookaheadMax
    let record = try index.packet(track: track, index: picture.packet)
    let codec = record.flatMap { index.parts[track]?[$0.segment]?.codec } ?? ""
    // Most codecs return a picture soon after its packet, so a lost picture is noticed early.
    guard picture.shown > 0 || MediaStream.mayHidePictures(codec) else { return limit }
    let key = try index.store.keyPacket(track: track, after: picture.packet)
    return key.map { max(limit, $0 + Self.lookaheadMax) } ?? .max
  }
}
