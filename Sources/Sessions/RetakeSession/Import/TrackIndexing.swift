import RetakeCore
package import RetakeMedia
package import RetakeStore

/// The packets of one stream while it is indexed.
package struct ImportTable: PacketTable {
  package let track: Int
  package let packets: PacketList
  /// By segment; contains the segment of every packet.
  private let views: [Int: SegmentView]

  package init(track: Int, packets: PacketList, views: [Int: SegmentView]) {
    (self.track, self.packets, self.views) = (track, packets, views)
  }

  package func packet(_ index: Int) throws -> PacketRecord? {
    packets.indices.contains(index) ? packets[index] : nil
  }

  package func segment(_ index: Int) throws -> SegmentView {
    guard let view = views[index] else { preconditionFailure("a packet lies in a segment") }
    return view
  }
}

/// Turns the packets of one stream into the rows of a track: decodes it, ranks its frames, finds
/// their entries, and begins a new segment where the images' shape changes.
package struct TrackIndexing {
  let track: Int
  /// Has the time base of all packets.
  let stream: MediaStream
  let views: [Int: SegmentView]
  private(set) var packets: PacketList
  let memory: ImageMemory
  let report: @Sendable (ImportProgress) -> Bool
  private var shift = TimeShift.none

  /// A stream of one file, which is segment 0.
  init(
    stream: MediaStream, file: MediaFile, packets: PacketList, shift: TimeShift = .none,
    memory: ImageMemory, report: @escaping @Sendable (ImportProgress) -> Bool
  ) {
    self.init(
      track: stream.index, stream: stream, views: [0: SegmentView(file: file, stream: stream)],
      packets: packets, memory: memory, report: report)
    self.shift = shift
  }

  package init(
    track: Int, stream: MediaStream, views: [Int: SegmentView], packets: PacketList,
    memory: ImageMemory, report: @escaping @Sendable (ImportProgress) -> Bool
  ) {
    (self.track, self.stream, self.views) = (track, stream, views)
    (self.packets, self.memory, self.report) = (packets, memory, report)
  }

  /// - Throws: `SessionError`; `noFrames` or the decoder's own error when no frame can be decoded.
  package func run() throws -> TrackRows { try rows(of: decode()) }

  private var table: ImportTable { ImportTable(track: track, packets: packets, views: views) }

  /// Decodes the track once, in order.
  ///
  /// - Throws: As `run()`.
  func decode() throws -> TrackFacts {
    let (report, total) = (report, packets.count)
    let decoding = TrackDecoding(table: table, memory: memory) {
      report(ImportProgress(phase: .decoding, done: $0, total: total))
    }
    let facts = try decoding.run()
    // The search for entries has separate memory, so the buffers that wait here for the next image
    // are freed.
    memory.freeWaiting()
    guard !facts.frames.isEmpty else {
      if let refusal = facts.firstRefusal { throw refusal }
      // The first file, so that the error names the same one each time.
      throw SessionError.noFrames(file: views.keys.min().flatMap { views[$0] }?.file.path ?? "")
    }
    return facts
  }

  /// Moves the times of the packets and the images.
  ///
  /// - Parameter ticks: By segment.
  mutating func move(_ ticks: [Int64], _ facts: inout TrackFacts) {
    packets.move(ticks)
    facts.frames.move { ticks[packets.segment($0)] }
  }

  /// - Parameter dropped: Indexes of images that do not become frames.
  func rows(of facts: TrackFacts, without dropped: Set<Int> = []) throws -> TrackRows {
    let timeline = FrameRanking(
      track: track, timeBase: stream.timeBase,
      durationNanoseconds: Self.frameDuration(stream), shift: shift
    ).rank(facts, packets: packets, without: dropped)
    var rows = TrackRows(
      track: track, packets: packets, facts: facts, timeline: timeline,
      streams: views.mapValues(\.stream))
    try findEntries(of: &rows, table: table, damage: damageByPacket(facts))
    return rows
  }

  /// From the container's average rate; 40 ms if it has no rate.
  static func frameDuration(_ stream: MediaStream) -> Int64 {
    guard let rate = stream.averageFrameRate else { return 40_000_000 }
    return Int64(1_000_000_000) * Int64(rate.denominator) / Int64(rate.numerator)
  }

  private func damageByPacket(_ facts: TrackFacts) -> [Int: String] {
    var damage: [Int: String] = [:]
    for place in packets.indices where packets.flags(place).contains(.corrupt) {
      damage[place] = FrameCause.corrupt
    }
    // Without damage, the facts do not have to be built.
    for frame in facts.frames.hasDamage ? facts.frames : FactList() {
      if let code = frame.damage { damage[frame.packet] = damage[frame.packet] ?? code }
    }
    for report in facts.reports where report.isDamage {
      damage[report.packet] = damage[report.packet] ?? FrameCause.reported
    }
    for refusal in facts.refused { damage[refusal.packet] = refusal.code }
    return damage
  }

  private func findEntries(
    of rows: inout TrackRows, table: ImportTable, damage: [Int: String]
  ) throws {
    // This pass uses differently filled memory than the first one. If a decoder leaves part of a
    // damaged image unwritten, the pixels differ, which shows that the frame varies.
    let finder = EntryFinder(
      table: table, memory: ImageMemory(preparation: .poisoned), packets: packets,
      damaged: Set(damage.keys).subtracting(rows.facts.headers.disposable),
      leading: rows.facts.headers.leading,
      delay: views.values.map(\.stream.delay).max() ?? stream.delay,
      decoderBytes: rows.facts.decoderBytes)
    let entries = try entries(of: rows.facts, damage: damage, finder)
    // Damage in the headers names each picture that it reaches, so it does not spread as other
    // damage does.
    let evidence = rows.facts.headers.damages
    for place in rows.timeline.frames.indices {
      let fact = rows.timeline.frames[place].fact
      let packet = rows.packet(ofFrame: place)
      // A rejected packet has no pixels to compare, so its frame gets the nearest key.
      guard fact >= 0 else {
        rows.settle(place, entry: finder.keys[finder.key(atOrBefore: packet)], cause: nil)
        continue
      }
      let found = entries[Int(fact)]
      let entry = found?.packet ?? finder.keys[finder.key(atOrBefore: packet)]
      guard found == nil || found?.crossesDamage == true else {
        rows.settle(place, entry: entry, cause: nil)
        continue
      }
      // The cause is the packet's own damage, else the first on the way from the
      // entry. Without any of these, the pixels were not the same in two decodings.
      let first = finder.damage(from: entry, through: packet)
      rows.settle(
        place, entry: entry,
        cause: evidence[packet]?.rawValue ?? damage[packet] ?? first.flatMap { damage[$0] }
          ?? FrameCause.varies)
    }
  }

  /// Codecs whose decoders write each sample of an image, or report that they did not.
  private static let fillingCodecs: Set = ["h264", "vp9", "av1"]

  /// The entries of the frames without damage of their own.
  private func entries(
    of facts: TrackFacts, damage: [Int: String], _ finder: EntryFinder
  ) throws -> EntryTable {
    let frames = facts.frames
    let wanted = frames.indices.filter {
      damage[frames.packet($0)] == nil && facts.headers.damages[frames.packet($0)] == nil
    }
    .sorted { (frames.packet($0), $0) < (frames.packet($1), $1) }
    func find(_ wanted: [Int]) throws -> EntryTable {
      let (report, total) = (report, wanted.count)
      return try finder.find(wanted, of: frames) {
        report(ImportProgress(phase: .checking, done: $0, total: total))
      }
    }
    // Elsewhere each frame is decoded again: damage that the decoder does not report shows there.
    let isProven =
      views.values.allSatisfy { Self.fillingCodecs.contains($0.stream.codec) }
      && facts.hasSteadyDelay && !facts.isDamaged && damage.isEmpty
    let restarts = isProven ? facts.headers.restarts : []
    guard let sample = EntrySample(wanted, of: frames, restarts: restarts, keys: finder.keys) else {
      return try find(wanted)
    }
    var entries = try find(sample.decoded)
    // If a single picture differs, this decoder does not keep the promise of the stream.
    guard sample.agrees(with: entries) else { return try find(wanted) }
    sample.complete(&entries)
    return entries
  }
}
