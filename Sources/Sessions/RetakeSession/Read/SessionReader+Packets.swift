import RetakeBuffers
package import RetakeCore
import RetakeMedia

extension SessionReader {
  /// Checks the packets that decoding a frame needs against their checksums, without decoding them.
  /// A damaged packet affects all frames that depend on it.
  ///
  /// - Returns: `false` if only decoding can show whether the frame is intact.
  /// - Throws: `SessionError.mediaMismatch`, `.mediaMissing`, as reading the frame does.
  package func checkPackets(of id: FrameID) throws -> Bool {
    try requireWholeRows()
    guard let record = try index.frame(id), record.cause == nil, let last = record.packet,
      let entry = record.entry, entry <= last
    else { return false }
    let fetcher = PacketFetcher(table: IndexedTrack(index: index, track: id.track))
    for packet in entry...last where !checked.contains(packet, of: id.track) {
      // Without a position, a demuxer would read the file from its beginning for each frame.
      guard try index.packet(track: id.track, index: packet)?.offset != nil else { return false }
      let found = try namingDamage { try fetcher.packet(packet) }
      guard found != nil else { return false }
      checked.insert(packet, of: id.track)
    }
    return true
  }

  /// The stored digest of a frame's pixels; `nil` if no digest was stored.
  package func storedPixelDigest(of id: FrameID) throws -> Digest128? {
    try requireWholeRows()
    return try index.frame(id)?.pixelHash
  }

  /// Number of replayable frames of the tracks that have no stored pixel digest.
  package func undigestedFrames(tracks: some Sequence<Int>) throws -> Int {
    try requireWholeRows()
    return try tracks.reduce(0) { try $0 + index.store.undigestedFrames(track: $1) }
  }

  /// The position of a packet's bytes in its media file; nil if only a demuxer can find them.
  package func packetOffset(track: Int, index: Int) throws -> Int? {
    try self.index.packet(track: track, index: index)?.offset.map { Int($0) }
  }

  /// Identifies the decoder libraries: the same libraries decode the same packets to the same
  /// pixels.
  package static var decoderDigest: Digest128 {
    var hasher = DigestHasher()
    hasher.append("decoding 1")
    for library in MediaLibraries.versions { hasher.append(library) }
    return hasher.finish()
  }
}

/// The packets whose bytes were checked, one bit each. Safe to use from any thread.
final class CheckedPackets: Sendable {
  /// By track, then by packet number divided by 64, because packet numbers may be arbitrary.
  private let words = Locked<[Int: [Int: UInt64]]>([:])

  func contains(_ packet: Int, of track: Int) -> Bool {
    words.withLock { words in
      (words[track]?[packet / 64] ?? 0) & (1 << UInt64(packet % 64)) != 0
    }
  }

  func insert(_ packet: Int, of track: Int) {
    words.withLock { words in
      words[track, default: [:]][packet / 64, default: 0] |= 1 << UInt64(packet % 64)
    }
  }
}
