import GRDB
package import RetakeCore

extension StoreReader {
  /// The digest of a canonical dump of tracks, packet hashes, frames, events and samples, which
  /// define a session.
  ///
  /// With `tracks`, only of these tracks and all events and samples: the input of a case. It omits
  /// data that can be recomputed from the media (entries, pixel hashes, offsets) and the location
  /// of the media (files, times of segments), so that a session keeps its digest when it is copied,
  /// linked or optimized.
  package func digest(tracks selected: [Int]? = nil) throws -> Digest128 {
    let parts = Dictionary(grouping: try segmentTracks(), by: \.track)
    // Sorted, because the digest must not depend on a Dictionary's order: goldens store it.
    let tracks = parts.keys.sorted().filter { selected?.contains($0) ?? true }
    var hasher = DigestHasher()
    // Goldens store this digest: any change of a field or of the order makes
    // all of them stale. docs/formats/session.md, Checksums, is the definition.
    hasher.append("session 1")
    for track in tracks {
      hasher.append("track")
      hasher.append(track)
      for part in parts[track] ?? [] { Self.append(part, to: &hasher) }
      hasher.append("packets")
      try each("WHERE track = ? ORDER BY \"index\"", [track]) { (packet: PacketRecord) in
        hasher.append(packet.index)
        hasher.append(packet.segment)
        hasher.append(packet.digest)
        return true
      }
      hasher.append("frames")
      try each("WHERE track = ? ORDER BY sequence", [track]) { (frame: FrameRecord) in
        Self.append(frame, to: &hasher)
        return true
      }
    }
    hasher.append("events")
    try each("ORDER BY ordinal") { (event: EventRecord) in
      Self.append(event, to: &hasher)
      return true
    }
    try appendSensors(to: &hasher)
    return hasher.finish()
  }

  private static func append(_ frame: FrameRecord, to hasher: inout DigestHasher) {
    hasher.append(frame.sequence)
    append(frame.pts, to: &hasher)
    hasher.append(frame.ptsNanoseconds)
    hasher.append(frame.arrivalNanoseconds)
    append(frame.packet.map { Int64($0) }, to: &hasher)
    hasher.append(frame.cause ?? "")
    hasher.append(frame.assumed.rawValue)
  }

  private static func append(_ value: Int64?, to hasher: inout DigestHasher) {
    // The byte keeps NULL and 0 apart.
    hasher.append(UInt8(value == nil ? 0 : 1))
    hasher.append(value ?? 0)
  }

  private static func append(_ part: SegmentTrackRecord, to hasher: inout DigestHasher) {
    hasher.append(part.segment)
    hasher.append(part.codec)
    append(part.profile.map { Int64($0) }, to: &hasher)
    // -1 keeps NULL and an empty blob apart.
    hasher.append(part.extradata?.count ?? -1)
    hasher.append(part.extradata ?? [])
    for number in [
      part.width, part.height, part.rotationDegrees, part.aspectNumerator, part.aspectDenominator,
      Int(part.timeBase.numerator), Int(part.timeBase.denominator), part.delay,
    ] {
      hasher.append(number)
    }
    for text in [part.pixelFormat, part.range ?? "", part.matrix ?? ""] { hasher.append(text) }
  }

  private static func append(_ event: EventRecord, to hasher: inout DigestHasher) {
    hasher.append(event.ordinal)
    hasher.append(event.timeNanoseconds)
    append(event.track.map { Int64($0) }, to: &hasher)
    for text in [event.source, event.kind, event.json] { hasher.append(text) }
  }
}
