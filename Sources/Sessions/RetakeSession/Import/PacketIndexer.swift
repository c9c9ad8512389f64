import RetakeCore
package import RetakeMedia
import RetakeStore

/// Reads a media file once from beginning to end and records every packet of the selected streams.
package struct PacketIndexer {
  /// The result of one pass over the file.
  package struct Findings: Sendable {
    /// By stream number; in decode order.
    package var packets: [Int: PacketList] = [:]
    /// Descriptions of missing or damaged data.
    var losses: [String] = []
    /// Remarks that do not concern losses.
    var notes: [String] = []
    /// Video streams that first appear after the beginning of the file, in the order of their
    /// numbers; their packets are among `packets`.
    var lateStreams: [MediaStream] = []

    /// The streams that have packets; all streams if there are no packets.
    func filled(_ streams: [MediaStream]) -> [MediaStream] {
      let filled = streams.filter { packets[$0.index]?.isEmpty == false }
      return filled.isEmpty ? streams : filled
    }
  }

  private let file: MediaFile
  private let streams: [MediaStream]
  private let takesLateStreams: Bool
  private let report: (Int) -> Bool

  /// - Parameters:
  ///   - takesLateStreams: Also record the packets of video streams that are revealed later.
  ///   - report: Called with the number of packets done; false stops the import.
  package init(
    file: MediaFile, streams: [MediaStream], takesLateStreams: Bool = false,
    report: @escaping (Int) -> Bool
  ) {
    (self.file, self.streams, self.report) = (file, streams, report)
    self.takesLateStreams = takesLateStreams
  }

  /// - Throws: `SessionError.interrupted`, or the media's error when not even one packet could be
  ///   read.
  package func run() throws -> Findings {
    let demuxer = try MediaDemuxer(path: file.path)
    demuxer.select(Set(streams.map(\.index)))
    var locators = Dictionary(
      uniqueKeysWithValues: streams.map { ($0.index, PacketLocator(file: file)) })
    var findings = Findings()
    let gaps = demuxer.format == "mpegts" ? TransportGaps(file) : nil
    let matroska = Self.isMatroska(demuxer.format) ? try matroskaStructure() : nil
    var inDamage: [Int: [Int]] = [:]
    var atGaps: [Int: PacketsAtGaps] = [:]
    for stream in streams { findings.packets[stream.index] = PacketList() }
    var (done, failuresInRow, failures) = (0, 0, 0)
    var lastFailure: MediaError?
    // After damage, a demuxer may continue, or fail at one place for ever. So errors in a row are
    // bounded, and a good packet resets them.
    while failuresInRow < demuxFailureCount {
      let packet: MediaPacket
      do {
        guard let next = try demuxer.nextPacket() else { break }
        packet = next
        failuresInRow = 0
      } catch let error as MediaError {
        (failures, failuresInRow, lastFailure) = (failures + 1, failuresInRow + 1, error)
        continue
      }
      if takesLateStreams { findings.meetLate(packet.stream, of: demuxer) }
      let place = locators[packet.stream]?.offset(of: packet)
      findings.packets[packet.stream]?.append(Self.record(of: packet, offset: place ?? nil))
      if let offset = packet.offset, matroska?.isDamaged(at: offset) == true {
        inDamage[packet.stream, default: []].append(packet.index)
      }
      if let gaps {
        atGaps[
          packet.stream,
          default: PacketsAtGaps(demuxer.number(of: packet.stream).map(gaps.places) ?? [])
        ].add(packet.index, offset: packet.offset)
      }
      done += 1
      if done.isMultiple(of: Self.reportEvery), !report(done) { throw SessionError.interrupted }
    }
    if done == 0, let lastFailure { throw lastFailure }
    if let lastFailure {
      findings.losses.append(
        "the file could not be read on at \(counted(failures, "place")): "
          + (lastFailure.cause ?? ""))
    }
    // First: this sets and clears flags that count as losses below.
    if demuxer.format == "mpegts", !findings.forgiveJoints(in: file, atGaps) {
      findings.moveFlags(to: atGaps)
    }
    let flv = Self.isFLV(demuxer.format) ? FLVStructure(file) : nil
    let missing =
      matroska?.losses ?? flv?.losses
      ?? ContainerEnd.losses(
        of: file, format: demuxer.format,
        packetBytes: streams.first.flatMap { findings.packets[$0.index]?.first?.size })
    if let matroska { findings.markPackets(before: matroska.doubts, in: file) }
    findings.losses += Self.corruptPackets(findings.packets) + missing
    findings.markPackets(inDamage)
    if let flv { findings.markPackets(afterHoles: flv.holes, of: streams) }
    return findings
  }

  /// The packets of a stream that lack bytes, by their indexes; nil if the flags of the packets are
  /// the only evidence.
  ///
  /// - Parameter isFlagged: Whether a packet of the stream has the flag. Otherwise the packets are
  ///   read only if the container shows gaps.
  package static func incompletePackets(
    of stream: MediaStream, in path: String, format: String, isFlagged: Bool
  ) -> Set<Int>? {
    guard let file = try? MediaFile(path: path), isFlagged || hasGaps(file, format: format),
      let found = try? PacketIndexer(file: file, streams: [stream], report: { _ in true }).run(),
      let packets = found.packets[stream.index]
    else { return nil }
    return Set(packets.indices.filter { packets.flags($0).contains(.corrupt) })
  }

  /// Losses that the container of a file shows: a cut end, and holes in the file.
  package static func losses(
    ofFile path: String, format: String, packetBytes: Int?
  ) -> [String] {
    guard let file = try? MediaFile(path: path) else { return [] }
    return ContainerEnd.losses(of: file, format: format, packetBytes: packetBytes)
  }

  private func matroskaStructure() throws(SessionError) -> MatroskaStructure {
    var isStopped = false
    let structure = MatroskaStructure(file) {
      isStopped = !report(0)
      return !isStopped
    }
    if isStopped { throw .interrupted }
    return structure
  }

  private static func hasGaps(_ file: MediaFile, format: String) -> Bool {
    if format == "mpegts" { return !TransportGaps(file).isEmpty }
    if isFLV(format) { return !FLVStructure(file).holes.isEmpty }
    return isMatroska(format) && !MatroskaStructure(file).isWhole
  }

  private static func isFLV(_ format: String) -> Bool { format == "flv" || format == "live_flv" }

  private static func isMatroska(_ format: String) -> Bool { format.hasPrefix("matroska") }

  static let reportEvery = 256

  private static func record(of packet: MediaPacket, offset: Int64?) -> PacketRecord {
    PacketRecord(
      track: packet.stream, index: packet.index, segment: 0, ordinal: packet.index,
      pts: packet.pts, dts: packet.dts, duration: packet.duration,
      flags: PacketRecord.Flags(packet.flags), size: packet.size, digest: packet.digest,
      offset: offset, sideData: packet.sideData)
  }

  static func corruptPackets(_ packets: [Int: PacketList]) -> [String] {
    // Sorted, because a Dictionary's order would reach the stored losses and NOTES.md.
    packets.keys.sorted().compactMap { track in
      let list = packets[track] ?? PacketList()
      let count = list.indices.count { list.flags($0).contains(.corrupt) }
      let what = counted(count, "packet is incomplete", "packets are incomplete")
      return count == 0 ? nil : "track \(track): \(what)"
    }
  }
}

extension PacketIndexer.Findings {
  /// Begins a list for the packets of a video stream that is not known yet.
  fileprivate mutating func meetLate(_ index: Int, of demuxer: MediaDemuxer) {
    guard packets[index] == nil, let stream = demuxer.lateStream(index), stream.kind == .video,
      !stream.isAttachedPicture
    else { return }
    packets[index] = PacketList()
    lateStreams = (lateStreams + [stream]).sorted { $0.index < $1.index }
  }

  /// Clears the corrupt flag of packets that libavformat set only because transport streams were
  /// joined.
  ///
  /// - Returns: whether all counters leap only at joints.
  fileprivate mutating func forgiveJoints(
    in file: MediaFile, _ atGaps: [Int: PacketsAtGaps]
  ) -> Bool {
    let flagged = packets.values.map(Self.flagged)
    // Without a leap, the file need not be read again.
    guard flagged.contains(where: { !$0.isEmpty }) || atGaps.values.contains(where: \.hasPlaces)
    else { return true }
    let most = flagged.map(\.count).max() ?? 0
    // Each joint explains at most one marked packet of a stream. More marks than joints, or places
    // that could not be read, are losses.
    guard losses.isEmpty, let joints = TransportJoints.count(in: file), joints >= most else {
      return false
    }
    for stream in packets.keys.sorted() {
      for place in packets[stream].map(Self.flagged) ?? [] {
        packets[stream]?.setCorrupt(false, at: place)
      }
    }
    if most > 0 {
      notes.append("the file was joined of \(joints + 1) pieces, whose packets are all there")
    }
    return true
  }

  /// Moves the flags to the packets that lack bytes. A demuxer with a parser hands the flag of a
  /// PES packet to the picture that ends where the next picture begins: the previous picture.
  fileprivate mutating func moveFlags(to atGaps: [Int: PacketsAtGaps]) {
    for stream in packets.keys.sorted() {
      guard let list = packets[stream], !list.isEmpty else { continue }
      var gaps = atGaps[stream]
      gaps?.finish()
      var incomplete = gaps?.found ?? []
      for place in Self.flagged(list) where !incomplete.contains(place) {
        if incomplete.contains(place + 1) { continue }
        // No counter shows the gap: either of the two packets may lack bytes.
        incomplete.formUnion([place, min(place + 1, list.endIndex - 1)])
      }
      for place in list.indices {
        packets[stream]?.setCorrupt(incomplete.contains(place), at: place)
      }
    }
  }

  /// Marks the packets whose bytes end in a hole, or begin with one: the missing bytes are part of
  /// them.
  fileprivate mutating func markPackets(before holes: [Int64], in file: MediaFile) {
    guard !holes.isEmpty else { return }
    var spans: [(range: Range<Int64>, stream: Int, place: Int)] = []
    for (stream, list) in packets {
      for place in list.indices {
        let packet = list[place]
        guard let offset = packet.offset, packet.size > 0 else { continue }
        spans.append((offset..<offset + Int64(packet.size), stream, place))
      }
    }
    spans.sort { $0.range.lowerBound < $1.range.lowerBound }
    for hole in holes {
      // The packet of a block whose head is the first thing in the hole counts, too.
      guard
        let last = spans.last(where: { $0.range.lowerBound < hole + Self.headBytesMax }),
        last.range.lowerBound >= hole || abs(last.range.upperBound - hole) <= Self.tailBytesMax,
        last.range.lowerBound >= hole || !Self.isWhole(last.range, before: hole, in: file)
      else { continue }
      packets[last.stream]?.setCorrupt(true, at: last.place)
    }
  }

  /// Marks the packets that are in damaged clusters, because each of them may be the damaged one.
  ///
  /// A stream whose key frames are all there would have no frame left, so its packets keep their
  /// flags, and only the note says that they are in doubt.
  ///
  /// - Parameter inDamage: By stream; in the order of the packets.
  fileprivate mutating func markPackets(_ inDamage: [Int: [Int]]) {
    for stream in inDamage.keys.sorted() {
      guard let places = inDamage[stream], let first = places.first, let list = packets[stream]
      else { continue }
      let doubted = Set(places)
      let hasGoodKey = list.indices.contains {
        !doubted.contains($0) && list.flags($0).contains(.key)
          && !list.flags($0).contains(.corrupt)
      }
      if hasGoodKey { for place in places { packets[stream]?.setCorrupt(true, at: place) } }
      let text =
        places.count == 1
        ? "packet \(first) is in a damaged cluster"
        : "\(places.count) packets are in damaged clusters, the first of them packet \(first)"
      losses.append(
        "track \(stream): \(text)"
          + (hasGoodKey ? "" : "; any frame may be damaged, as no key frame is elsewhere"))
    }
  }

  /// Marks the first packet after each hole, unless it has a key frame: a picture that it refers to
  /// may be in the hole. Only for streams whose headers do not show a lost picture.
  fileprivate mutating func markPackets(
    afterHoles holes: [Range<Int64>], of streams: [MediaStream]
  ) {
    for stream in streams where StreamEvidence.isSilent(stream.codec) {
      guard let list = packets[stream.index] else { continue }
      var (next, found) = (0, [Int]())
      for hole in holes {
        while next < list.endIndex, list[next].offset ?? -1 < hole.lowerBound { next += 1 }
        guard next < list.endIndex, found.last != next, !list.flags(next).contains(.key) else {
          continue
        }
        found.append(next)
        packets[stream.index]?.setCorrupt(true, at: next)
      }
      guard let first = found.first else { continue }
      let more = found.count > 1 ? "; \(found.count) such packets in all" : ""
      losses.append(
        "track \(stream.index): packet \(first) may refer to a picture that is not read\(more)")
    }
  }

  /// Longer than the head of a block.
  private static let headBytesMax: Int64 = 32
  /// Upper bound of the bytes that a group of blocks has after its block.
  private static let tailBytesMax: Int64 = 64

  /// Zeros that begin after a packet have replaced no byte of it.
  private static func isWhole(_ range: Range<Int64>, before hole: Int64, in file: MediaFile) -> Bool
  {
    let end = min(range.upperBound, hole)
    guard let before = try? file.bytes(8, at: max(0, end - 8)),
      let behind = try? file.bytes(8, at: hole)
    else { return false }
    return behind.allSatisfy { $0 == 0 } && before.contains { $0 != 0 }
  }

  private static func flagged(_ list: PacketList) -> [Int] {
    list.indices.filter { list.flags($0).contains(.corrupt) }
  }
}

/// Finds the position of a packet's bytes in the file.
///
/// The position that a container reports may be exact (MP4), a few bytes early (Matroska, AVI) or
/// useless (MPEG-TS splits packets). A position counts only if the bytes there have the same hash.
struct PacketLocator {
  let file: MediaFile
  /// Distance from the reported to the actual position of the last packet.
  private var delta: Int64 = 0
  /// Packets in a row that were not found near the reported position.
  private var misses = 0

  init(file: MediaFile) {
    self.file = file
  }

  /// Number of bytes after the reported position that are searched.
  private static let windowBytes = 64
  /// The search stops after this many packets in a row that were not found.
  private static let missesMax = 16

  mutating func offset(of packet: MediaPacket) -> Int64? {
    guard let claimed = packet.offset, packet.size > 0, misses < Self.missesMax else { return nil }
    let digest = packet.digest
    // A container that reports early positions does so by the same distance for most packets.
    if let bytes = read(packet, at: claimed + delta, size: packet.size), bytes.digest == digest {
      misses = 0
      return claimed + delta
    }
    misses += 1
    guard let found = search(packet, from: claimed) else { return nil }
    // The search compares only the beginning.
    guard let bytes = read(packet, at: found, size: packet.size), bytes.digest == digest else {
      return nil
    }
    delta = found - claimed
    misses = 0
    return found
  }

  private func search(_ packet: MediaPacket, from claimed: Int64) -> Int64? {
    let available = file.size - claimed
    let count = min(Int64(Self.windowBytes + packet.size), available)
    guard count >= packet.size, let window = read(packet, at: claimed, size: Int(count)) else {
      return nil
    }
    let head = packet.bytes.prefix(Self.windowBytes)
    let bytes = window.bytes
    for start in 0...(Int(count) - packet.size) where bytes[start...].starts(with: head) {
      return claimed + Int64(start)
    }
    return nil
  }

  private func read(_ packet: MediaPacket, at offset: Int64, size: Int) -> MediaPacket? {
    guard offset >= 0, offset + Int64(size) <= file.size else { return nil }
    // Bytes that cannot be read here are not found here; the packet is then read by a demuxer.
    return try? file.packet(
      index: packet.index, pts: nil, dts: nil, flags: [], offset: offset, size: size)
  }
}
