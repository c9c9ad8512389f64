import RetakeCore
import RetakeMedia
package import RetakeStore

/// Finds entries and pixel hashes of recorded frames that do not have them yet.
///
/// A recorder begins each stretch with a key packet that does not depend on earlier packets, so a
/// frame's entry is the last key packet at or before its own packet. A recovery point of H.264 is a
/// key packet that does depend on earlier packets: `PixelVerifier` finds the entries of its frames.
package struct MissingPixels {
  private let reader: SessionReader

  package init(_ reader: SessionReader) {
    self.reader = reader
  }

  /// Number of rows per page.
  private static let pageRows = 1_024

  /// The rows of a track that got their entry and hash, or a cause if decoding failed.
  ///
  /// - Parameter goesOn: Called before each stretch; after false, the remaining rows stay
  ///   unchanged.
  package func find(
    track: Int, goesOn: () -> Bool = { true }
  ) throws -> [FrameRecord] {
    var found: [FrameRecord] = []
    var next = 0
    // The entry of the last frame that has one.
    var entry: Int?
    while true {
      let page = try frames(of: track, from: next)
      guard let last = page.last else { return found }
      next = last.sequence + 1
      var rest = page.filter { $0.packet != nil && $0.cause == nil && $0.pixelHash == nil }[...]
      while let first = rest.first?.packet {
        guard goesOn() else { return found }
        // One decoder for all frames of a key packet, instead of one for each frame.
        let key = try keyPacket(track: track, atOrBefore: first)
        var stretch: [FrameRecord] = []
        while let frame = rest.first, let packet = frame.packet,
          try keyPacket(track: track, atOrBefore: packet) == key
        {
          stretch.append(rest.removeFirst())
        }
        let known = page.last { $0.packet ?? first < first && $0.pixelHash != nil }
        entry = known?.entry ?? entry
        let rows = try rows(of: stretch, key: key, behind: entry, track: track)
        entry = rows.last { $0.pixelHash != nil }?.entry ?? entry
        found += rows
      }
      entry = page.last { $0.pixelHash != nil }?.entry ?? entry
    }
  }

  private func frames(of track: Int, from first: Int) throws -> [FrameRecord] {
    try reader.index.store.frames(track: track, from: first, count: Self.pageRows)
  }

  private func keyPacket(track: Int, atOrBefore packet: Int) throws -> Int {
    try reader.index.store.keyPacket(track: track, atOrBefore: packet)
  }

  /// - Parameter entry: The entry of the frames before. This key's frames may need it.
  private func rows(
    of frames: [FrameRecord], key: Int, behind entry: Int?, track: Int
  ) throws -> [FrameRecord] {
    let fetcher = PacketFetcher(table: IndexedTrack(index: reader.index, track: track))
    // A key packet that cannot be read is an error of the frames that need it.
    guard let (packet, view) = try? fetcher.packet(key),
      DecodingStart(of: packet, in: view.stream) == .recovery
    else { return try decode(frames, from: key, track: track) }
    return try follow(frames, key: key, from: min(entry ?? key, key), fetcher)
  }

  private func follow(
    _ frames: [FrameRecord], key: Int, from first: Int, _ fetcher: PacketFetcher
  ) throws -> [FrameRecord] {
    var witness: PixelVerifier?
    var file: MediaFile?
    var sights: [Int: PixelVerifier.Sight] = [:]
    var cause = FrameCause.undecodable
    do {
      for index in first...(frames.last?.packet ?? key) {
        guard let (packet, view) = try fetcher.packet(index) else { break }
        // As `DecodeRun` does: packets after a loss do not refer to packets before it.
        if witness == nil || (file !== view.file && !view.continues) {
          witness = PixelVerifier(stream: view.stream, memory: reader.memory)
        }
        file = view.file
        sights[index] = witness?.sight(of: packet)
      }
    } catch let error as any RetakeError where !error.isAboutMemory {
      cause = error.code
    }
    return frames.map { frame in
      var frame = frame
      let packet = frame.packet ?? key
      frame.entry = sights[packet].map { packet - $0.distance } ?? key
      frame.pixelHash = sights[packet]?.digest
      if frame.pixelHash == nil { frame.cause = cause }
      return frame
    }
  }

  private func decode(
    _ frames: [FrameRecord], from key: Int, track: Int
  ) throws -> [FrameRecord] {
    let table = IndexedTrack(index: reader.index, track: track)
    let run = DecodeRun(
      fetcher: PacketFetcher(table: table), from: key, memory: reader.memory)
    var hashes: [Picture: Digest128] = [:]
    var causes: [Int: String] = [:]
    let end = (frames.last?.packet ?? key) + 1
    do {
      while let outcome = try run.outcome(before: end) { note(outcome, &hashes, &causes) }
      // The decoder still delays the last pictures of the stretch.
      run.finish()
      while let outcome = try run.outcome() { note(outcome, &hashes, &causes) }
    } catch let error as any RetakeError where !error.isAboutMemory {
      // The current packet differs from the recorded packet; the rest of the stretch depends on it.
      for packet in run.next..<max(end, run.next) { causes[packet] = error.code }
    }
    return frames.map { frame in
      var frame = frame
      let packet = frame.packet ?? key
      frame.entry = key
      frame.pixelHash = hashes[Picture(packet: packet, shown: frame.shown)]
      if frame.pixelHash == nil { frame.cause = causes[packet] ?? FrameCause.undecodable }
      return frame
    }
  }

  private struct Picture: Hashable {
    var packet: Int
    var shown: Int
  }

  private func note(
    _ outcome: DecodeOutcome, _ hashes: inout [Picture: Digest128], _ causes: inout [Int: String]
  ) {
    switch outcome {
    case .frame(let frame, let shown):
      if frame.isDamaged {
        causes[frame.packetIndex] = FrameCause.damaged
      } else {
        hashes[Picture(packet: frame.packetIndex, shown: shown)] = frame.frame.pixelDigest
      }
    case .refused(let packet, let cause): causes[packet] = cause.code
    }
  }
}
