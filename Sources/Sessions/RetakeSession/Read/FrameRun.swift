import RetakeCore
import RetakeMedia

/// A decoder at some position of a track, and the pictures it returned last.
///
/// Only one thread at a time uses it.
final class FrameRun {
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
  private(set) var isSpent = false

  /// Memory of its decoder and its stash, in bytes.
  var bytesHeld: Int {
    run.bytesHeld + stash.reduce(0) { $0 + $1.frame.frame.visibleBytes }
  }

  /// Peak memory of its decoder, in bytes.
  var decoderBytes: Int { run.decoderBytes }

  private static let stashMax = 4
  /// Packets after a picture's own packet that are decoded before the picture is considered lost,
  /// unless it may be shown long after it was decoded.
  private static let lookaheadMax = 96

  init(track: Int, index: SessionIndex, run: DecodeRun) {
    self.track = track
    self.index = index
    self.run = run
  }

  /// The number of packets to decode until this run returns the picture.
  ///
  /// - Returns: nil if the run cannot return the exact picture, or if decoding from the picture's
  ///   entry is sooner.
  func distance(to picture: Picture, sequence: Int) -> Int? {
    // A decoder returns pictures in order: a picture before the last request has passed, unless it
    // is stashed.
    guard sequence > served || isStashed(picture) else { return nil }
    // A run that began after the entry may return other pixels. A run that has not reached the
    // entry would decode more than a new run.
    guard run.start <= picture.entry, picture.entry <= run.next else { return nil }
    return max(0, picture.packet - run.next)
  }

  private func isStashed(_ picture: Picture) -> Bool {
    stash.contains { $0.packet == picture.packet && $0.shown == picture.shown }
  }

  /// The picture, or nil when the decoder does not return it although it received all its packets.
  func decode(_ picture: Picture, id: FrameID) throws -> DecodedFrame? {
    served = max(served, id.sequence)
    if let place = stash.firstIndex(where: {
      $0.packet == picture.packet && $0.shown == picture.shown
    }) {
      return stash.remove(at: place).frame
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
      if frame.packetIndex == picture.packet, shown == picture.shown { return frame }
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
