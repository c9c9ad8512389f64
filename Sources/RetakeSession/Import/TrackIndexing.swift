import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore

/// The packets of one stream while it is being indexed.
struct ImportTable: PacketTable {
  let track: Int
  let packets: [PacketRecord]
  /// By segment; every packet's is there.
  let views: [Int: SegmentView]

  func packet(_ index: Int) throws(SessionError) -> PacketRecord? {
    packets.indices.contains(index) ? packets[index] : nil
  }

  func segment(_ index: Int) throws(SessionError) -> SegmentView {
    guard let view = views[index] else { preconditionFailure("a packet lies in a segment") }
    return view
  }
}

/// Turns the packets of one stream into the rows of a track: decodes it, ranks its frames, finds
/// their entries, and begins a new segment where the pictures' shape changes.
struct TrackIndexing {
  /// The rows of one track; segment 0 is the file's beginning, others are numbered by the caller.
  struct Rows: Sendable {
    var packets: [PacketRecord]
    var frames: [FrameRecord]
    /// Where the shape of the pictures changes: first packet, and the shape from there on. The
    /// first one is at packet 0.
    var parts: [Part]

    struct Part: Hashable, Sendable {
      var packet: Int
      var shape: DecodedFact.Shape
    }

    var damaged: Int { frames.count { $0.cause != nil } }
  }

  let track: Int
  /// With the time base of all packets.
  let stream: MediaStream
  let views: [Int: SegmentView]
  let packets: [PacketRecord]
  let memory: PictureMemory
  let report: @Sendable (ImportProgress) -> Bool

  /// A stream of one file, which is segment 0.
  init(
    stream: MediaStream, file: MediaFile, packets: [PacketRecord], memory: PictureMemory,
    report: @escaping @Sendable (ImportProgress) -> Bool
  ) {
    self.init(
      track: stream.index, stream: stream, views: [0: SegmentView(file: file, stream: stream)],
      packets: packets, memory: memory, report: report)
  }

  init(
    track: Int, stream: MediaStream, views: [Int: SegmentView], packets: [PacketRecord],
    memory: PictureMemory, report: @escaping @Sendable (ImportProgress) -> Bool
  ) {
    (self.track, self.stream, self.views) = (track, stream, views)
    (self.packets, self.memory, self.report) = (packets, memory, report)
  }

  /// - Throws: `SessionError`; `noFrames` or the decoder's own error when nothing can be decoded.
  func run() throws(SessionError) -> Rows {
    let table = ImportTable(track: track, packets: packets, views: views)
    let facts = try TrackDecoding(table: table, memory: memory) {
      report(ImportProgress(phase: .decoding, done: $0, total: packets.count))
    }.run()
    memory.freeWaiting()
    guard !facts.frames.isEmpty else {
      if let refusal = facts.firstRefusal { throw SessionError(refusal) }
      throw .noFrames(file: views.values.first?.file.path ?? "")
    }
    let damage = damageByPacket(facts)
    var ranked = FrameRanking(
      track: track, timeBase: stream.timeBase,
      durationNanoseconds: Self.frameDuration(stream)
    ).rank(facts, packets: packets)
    try findEntries(
      of: &ranked, table: table, damage: damage, decoderBytes: facts.decoderBytes)
    return Rows(
      packets: packets, frames: ranked.map(\.record), parts: Self.parts(of: facts))
  }

  /// From the container's average rate; 40 ms where it has none.
  static func frameDuration(_ stream: MediaStream) -> Int64 {
    guard let rate = stream.averageFrameRate else { return 40_000_000 }
    return Int64(1_000_000_000) * Int64(rate.denominator) / Int64(rate.numerator)
  }

  private func damageByPacket(_ facts: TrackFacts) -> [Int: String] {
    var damage: [Int: String] = [:]
    for packet in packets where packet.flags.contains(.corrupt) {
      damage[packet.index] = "media.packet.corrupt"
    }
    for frame in facts.frames {
      if let code = frame.damage { damage[frame.packet] = damage[frame.packet] ?? code }
    }
    for refusal in facts.refused { damage[refusal.packet] = refusal.code }
    return damage
  }

  private func findEntries(
    of ranked: inout [FrameRanking.Ranked], table: ImportTable, damage: [Int: String],
    decoderBytes: Int
  ) throws(SessionError) {
    // Other memory than in the first pass: where a decoder leaves a part of a damaged picture as
    // it found it, the pixels differ, and the frame is known to vary.
    let finder = EntryFinder(
      table: table, memory: PictureMemory(preparation: .poisoned), packets: packets,
      damaged: Set(damage.keys), delay: stream.delay, decoderBytes: decoderBytes)
    let wanted = ranked.compactMap { frame -> EntryFinder.Wanted? in
      guard let fact = frame.fact, damage[fact.packet] == nil else { return nil }
      return EntryFinder.Wanted(
        packet: fact.packet, occurrence: fact.occurrence, digest: fact.digest)
    }
    let (report, total) = (report, wanted.count)
    let entries = try finder.find(wanted.sorted { $0.packet < $1.packet }) {
      report(ImportProgress(phase: .checking, done: $0, total: total))
    }
    for place in ranked.indices {
      guard let packet = ranked[place].record.packet else { continue }
      guard let fact = ranked[place].fact else {
        ranked[place].record.entry = finder.keys[finder.key(atOrBefore: packet)]
        continue
      }
      let entry =
        entries[
          EntryFinder.Wanted(
            packet: fact.packet, occurrence: fact.occurrence, digest: fact.digest)]
      ranked[place].record.entry = entry?.packet ?? finder.keys[finder.key(atOrBefore: packet)]
      guard entry == nil || entry?.crossesDamage == true else {
        ranked[place].record.pixelHash = fact.digest
        continue
      }
      let first = finder.damage(
        from: ranked[place].record.entry ?? 0, through: packet)
      ranked[place].record.cause =
        damage[fact.packet] ?? first.flatMap { damage[$0] } ?? "session.frame.varies"
    }
  }

  /// Where, in decode order, the pictures begin to have another size or format.
  static func parts(of facts: TrackFacts) -> [Rows.Part] {
    var parts: [Rows.Part] = []
    let inPacketOrder = facts.frames.sorted {
      ($0.packet, $0.occurrence) < ($1.packet, $1.occurrence)
    }
    for fact in inPacketOrder where parts.last?.shape != fact.shape {
      parts.append(Rows.Part(packet: parts.isEmpty ? 0 : fact.packet, shape: fact.shape))
    }
    return parts
  }
}
