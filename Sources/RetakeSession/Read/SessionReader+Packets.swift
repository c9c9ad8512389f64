import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore

extension SessionReader {
  /// Holds the stored bytes of all packets that decoding a frame takes against their checksums, without
  /// decoding them: a packet that is damaged takes the frames with it that hang on it.
  ///
  /// - Returns: `false` where only decoding can tell.
  /// - Throws: `SessionError.mediaMismatch`, `.mediaMissing`, as reading the frame does.
  package func checkPackets(of id: FrameID) throws(SessionError) -> Bool {
    try requireWholeRows()
    guard let record = try index.frame(id), record.cause == nil, let last = record.packet,
      let entry = record.entry, entry <= last
    else { return false }
    let fetcher = PacketFetcher(table: IndexedTrack(index: index, track: id.track))
    for packet in entry...last where !checked.contains(packet, of: id.track) {
      guard try index.packet(track: id.track, index: packet)?.offset != nil else { return false }
      let found = try namingDamage { () throws(SessionError) in try fetcher.packet(packet) }
      guard found != nil else { return false }
      checked.insert(packet, of: id.track)
    }
    return true
  }

  /// The stored digest of a frame's pixels; `nil` where none was stored.
  package func storedPixelDigest(of id: FrameID) throws(SessionError) -> Digest128? {
    try requireWholeRows()
    return try index.frame(id)?.pixelHash
  }

  /// How many frames of some tracks can be replayed and have no stored digest of their pixels.
  package func undigestedFrames(tracks: some Sequence<Int>) throws(SessionError) -> Int {
    try requireWholeRows()
    return try fromStore { () throws(StoreError) in
      var count = 0
      for track in tracks { count += try index.store.undigestedFrames(track: track) }
      return count
    }
  }

  /// Where a packet's bytes lie in its media file; nil where only a demuxer finds them.
  package func packetOffset(track: Int, index: Int) throws(SessionError) -> Int? {
    try self.index.packet(track: track, index: index)?.offset.map { Int($0) }
  }

  /// Of what decodes frames here: the same packets give the same pixels for as long as it is the same.
  package static var decoderDigest: Digest128 {
    var hasher = DigestHasher()
    hasher.append("decoding 1")
    for library in MediaLibraries.versions { hasher.append(library) }
    return hasher.finish()
  }
}

/// The packets whose bytes were compared with their checksum, a bit for each. Safe from any thread.
final class CheckedPackets: Sendable {
  /// By track, then by a packet's number divided by 64: a number may be anything.
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
