import RetakeCore
import RetakeMedia
import RetakeStore

/// Reads a media file once from end to end and writes down every packet of the chosen streams.
struct PacketIndexer {
  /// What one reading of the file found.
  struct Findings: Sendable {
    /// By stream number; in decode order.
    var packets: [Int: PacketList] = [:]
    /// In words: what of the file is missing or damaged.
    var losses: [String] = []
    /// In words: what a reader should know, and nothing is missing.
    var notes: [String] = []

    /// The streams that have packets; all where none has.
    func filled(_ streams: [MediaStream]) -> [MediaStream] {
      let filled = streams.filter { packets[$0.index]?.isEmpty == false }
      return filled.isEmpty ? streams : filled
    }
  }

  let file: MediaFile
  let streams: [MediaStream]
  /// Told how many packets are done; false stops the import.
  let report: (Int) -> Bool

  /// - Throws: `SessionError.interrupted`, or the media's error when not even one packet is read.
  func run() throws(SessionError) -> Findings {
    let demuxer = try fromMedia { () throws(MediaError) in try MediaDemuxer(path: file.path) }
    demuxer.select(Set(streams.map(\.index)))
    var locators = Dictionary(
      uniqueKeysWithValues: streams.map { ($0.index, PacketLocator(file: file)) })
    var findings = Findings()
    for stream in streams { findings.packets[stream.index] = PacketList() }
    var (done, failuresInRow, failures) = (0, 0, 0)
    var lastFailure: MediaError?
    while failuresInRow < demuxFailureCount {
      let packet: MediaPacket
      do throws(MediaError) {
        guard let next = try demuxer.nextPacket() else { break }
        packet = next
        failuresInRow = 0
      } catch {
        (failures, failuresInRow, lastFailure) = (failures + 1, failuresInRow + 1, error)
        continue
      }
      let place = locators[packet.stream]?.offset(of: packet)
      findings.packets[packet.stream]?.append(Self.record(of: packet, offset: place ?? nil))
      done += 1
      if done.isMultiple(of: Self.reportEvery), !report(done) { throw .interrupted }
    }
    if done == 0, let lastFailure { throw SessionError(lastFailure) }
    if let lastFailure {
      findings.losses.append(
        "the file could not be read on at \(failures) places: \(lastFailure.cause ?? "")")
    }
    if demuxer.format == "mpegts" { findings.forgiveJoints(in: file) }
    findings.losses += Self.corruptPackets(findings.packets)
    findings.losses += ContainerEnd.losses(of: file, format: demuxer.format)
    return findings
  }

  static let reportEvery = 256

  private static func record(of packet: MediaPacket, offset: Int64?) -> PacketRecord {
    PacketRecord(
      track: packet.stream, index: packet.index, segment: 0, ordinal: packet.index,
      pts: packet.pts, dts: packet.dts, duration: packet.duration,
      flags: PacketRecord.Flags(packet.flags), size: packet.size, digest: packet.digest,
      offset: offset, sideData: packet.sideData)
  }

  private static func corruptPackets(_ packets: [Int: PacketList]) -> [String] {
    packets.keys.sorted().compactMap { track in
      let list = packets[track] ?? PacketList()
      let count = list.indices.count { list.flags($0).contains(.corrupt) }
      return count == 0 ? nil : "track \(track): \(count) packets are incomplete"
    }
  }
}

extension PacketIndexer.Findings {
  /// Where pieces of a transport stream were joined a packet is called corrupt that is not.
  fileprivate mutating func forgiveJoints(in file: MediaFile) {
    let counts = packets.values.map { list in
      list.indices.count { list.flags($0).contains(.corrupt) }
    }
    guard let most = counts.max(), most > 0, losses.isEmpty,
      let joints = TransportJoints.count(in: file), joints >= most
    else { return }
    for stream in packets.keys.sorted() { packets[stream]?.clearCorrupt() }
    notes.append(
      "the file was joined of \(joints + 1) pieces, whose packets are all there")
  }
}

/// Finds where a packet's bytes lie in the file.
///
/// Containers claim a place that is exact (MP4), a few bytes early (Matroska, AVI), or of no use
/// (MPEG-TS cuts packets in pieces); only a place where the bytes hash alike counts.
struct PacketLocator {
  let file: MediaFile
  /// How much later than claimed the last packet was.
  private var delta: Int64 = 0
  /// Packets in a row that were nowhere near.
  private var misses = 0

  init(file: MediaFile) {
    self.file = file
  }

  /// Bytes behind the claimed place that are searched.
  private static let windowBytes = 64
  /// After so many packets that are not where they claim, no more are searched for.
  private static let missesMax = 16

  mutating func offset(of packet: MediaPacket) -> Int64? {
    guard let claimed = packet.offset, packet.size > 0, misses < Self.missesMax else { return nil }
    let digest = packet.digest
    if let bytes = read(packet, at: claimed + delta, size: packet.size), bytes.digest == digest {
      misses = 0
      return claimed + delta
    }
    misses += 1
    guard let found = search(packet, from: claimed) else { return nil }
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
    return try? file.packet(
      index: packet.index, pts: nil, dts: nil, flags: [], offset: offset, size: size)
  }
}
