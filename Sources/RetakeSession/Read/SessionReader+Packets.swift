import RetakeCore
import RetakeMedia
import RetakeStore

extension SessionReader {
  /// Holds the stored bytes of a frame's packet against their checksum, without decoding them.
  ///
  /// - Returns: `false` where only a demuxer finds the bytes.
  /// - Throws: `SessionError.mediaMismatch`, `.mediaMissing`.
  package func checkPacket(of id: FrameID) throws(SessionError) -> Bool {
    guard let number = try index.frame(id)?.packet,
      try index.packet(track: id.track, index: number)?.offset != nil
    else { return false }
    let fetcher = PacketFetcher(table: IndexedTrack(index: index, track: id.track))
    fetcher.frame = id
    return try fetcher.packet(number) != nil
  }

  /// Of what decodes frames here: the same packets give the same pixels for as long as it is the same.
  package static var decoderDigest: Digest128 {
    var hasher = DigestHasher()
    hasher.append("decoding 1")
    for library in MediaLibraries.versions { hasher.append(library) }
    return hasher.finish()
  }
}
