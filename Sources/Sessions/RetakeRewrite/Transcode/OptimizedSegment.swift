import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// One media file of a replay copy, while it is written and checked.
final class OptimizedSegment {
  struct Rows {
    var segment: SegmentRecord
    var part: SegmentTrackRecord
    var packets: [PacketRecord]
    var frames: [FrameRecord]
  }

  /// A frame that was encoded, and its expected digests.
  private struct Written {
    var row: FrameRecord
    var digest: Digest128
    var pixelDigest: Digest128
    var isKey: Bool
  }

  private let site: SessionFolder
  private let track: Int
  private let number: Int
  private let name: String
  private let encoding: ReplayEncoding
  /// The original's description at the first frame.
  private let part: SegmentTrackRecord
  /// The first frame as in the original; and as it is encoded.
  private let original: Frame
  private let first: Frame
  private let encoder: MediaEncoder
  private let file: MuxedFile
  private let scaler = MediaScaler()
  private var written: [Written] = []
  private var bytes: Int64 = 0
  private var (lastNanoseconds, lastMilliseconds): (Int64, Int64) = (0, -1)

  /// Limits that make the rows of one file fit into memory, and files fit on any disk.
  private static let framesMax = 4_096
  private static let bytesMax: Int64 = 2 << 30
  /// Encoders and containers do not accept longer jumps; the frame table keeps the true times.
  private static let leapMilliseconds: Int64 = 10_000

  init(
    site: SessionFolder, track: Int, number: Int, first frame: Frame, part: SegmentTrackRecord,
    color: ColorLabels, encoding: ReplayEncoding
  ) throws {
    (self.site, self.track, self.number, self.part) = (site, track, number, part)
    (self.encoding, original) = (encoding, frame)
    first = try Self.converted(frame, encoding, scaler)
    name = TrimMedia(site: site, track: track).name(number, format: encoding.container)
    var settings = encoding.settings(first)
    settings.color = color
    settings.keyFrameInterval = encoding.isIntraOnly ? 1 : ReplayEncoding.groupFrames
    encoder = try MediaEncoder(settings)
    var stream = encoder.stream
    stream.index = 0
    file = try MuxedFile(site.path + "/" + name, format: encoding.container, stream: stream)
  }

  private static func converted(
    _ frame: Frame, _ encoding: ReplayEncoding, _ scaler: MediaScaler
  ) throws -> Frame {
    let format = encoding.format(frame.format)
    guard format != frame.format else { return frame }
    return try scaler.scale(frame, format: format)
  }

  /// Whether the frame belongs in this file.
  func takes(_ frame: Frame, _ part: SegmentTrackRecord) -> Bool {
    written.count < Self.framesMax && bytes < Self.bytesMax && frame.hasShape(of: original)
      // Whether a value was assumed is part of a segment's description, so
      // such frames need another file.
      && part.timeBase == self.part.timeBase && (part.range == nil) == (self.part.range == nil)
      && (part.matrix == nil) == (self.part.matrix == nil)
  }

  func add(_ frame: Frame, _ row: FrameRecord) throws {
    // Counted within the file, because each file has its own encoder.
    let isKey = encoding.isIntraOnly || written.count.isMultiple(of: ReplayEncoding.groupFrames)
    let picture = try Self.converted(frame, encoding, scaler)
    advance(to: row.ptsNanoseconds)
    try write(try encoder.encode(picture, pts: lastMilliseconds, isKey: isKey))
    written.append(
      Written(
        row: row, digest: frame.digest, pixelDigest: frame.pixelDigest, isKey: isKey))
  }

  private func advance(to nanoseconds: Int64) {
    let (step, overflow) = nanoseconds.subtractingReportingOverflow(lastNanoseconds)
    let wanted = overflow ? Self.leapMilliseconds : step / 1_000_000
    lastMilliseconds =
      lastMilliseconds < 0
      // At least 1 ms: frames may have equal times, and muxers demand rising times.
      ? 0 : lastMilliseconds + max(1, min(wanted, Self.leapMilliseconds))
    lastNanoseconds = nanoseconds
  }

  private func write(_ packets: [MediaPacket]) throws {
    for var packet in packets {
      packet.stream = 0
      // An encoder that does not reorder sets no decoding time, and muxers need a decoding time.
      packet.dts = packet.dts ?? packet.pts
      bytes += Int64(packet.size)
      try file.write(packet)
    }
  }

  /// Closes the file, reads it back and compares every frame with the original's.
  func finish(
    session: String, firstPacket: Int, _ account: inout OptimizeAccount,
    _ progress: inout TrimProgress
  ) throws -> Rows {
    try write(try encoder.finish())
    try file.finish()
    let path = site.path + "/" + name
    let (media, demuxed) = try (MediaFile(path: path), MediaDemuxer(path: path).videoStream())
    var packets =
      try PacketIndexer(file: media, streams: [demuxed]) { _ in true }.run()
      .packets[demuxed.index].map(Array.init) ?? []
    // The rows below are paired with the packets by their place.
    guard packets.count == written.count else {
      throw differs(session, written.first?.row, "it has \(counted(packets.count, "packet"))")
    }
    var stream = encoder.stream
    // As the container returns it, because readers open the decoder with the container's extradata.
    (stream.index, stream.extradata) = (demuxed.index, demuxed.extradata)
    let part = self.part(as: stream)
    var decoded = MediaStream(part)
    // A fact of the session, not of its segments.
    decoded.isMirrored = original.isMirrored
    for place in packets.indices {
      let row = written[place].row
      (packets[place].track, packets[place].segment) = (track, number)
      // The file's times are shortened (`leapMilliseconds`); rows have the true times.
      (packets[place].pts, packets[place].dts) = (row.pts, row.pts)
      packets[place].flags = written[place].isKey ? .key : []
    }
    let check = OptimizedCheck(
      table: ImportTable(
        track: track, packets: PacketList(packets),
        views: [number: SegmentView(file: media, stream: decoded)]),
      keys: written.indices.filter { written[$0].isKey }, isIntraOnly: encoding.isIntraOnly)
    var hashes: [Digest128] = []
    try check.run { (place, frame) in
      try progress.advance()
      hashes.append(try hash(of: frame, place, session, &account))
    }
    guard hashes.count == written.count else {
      throw differs(session, written[hashes.count].row, "it is not decoded")
    }
    return rows(part, packets, hashes, bytes: media.size, firstPacket: firstPacket)
  }

  /// Checks the pixels, and returns their digest.
  private func hash(
    of frame: Frame, _ place: Int, _ session: String, _ account: inout OptimizeAccount
  ) throws -> Digest128 {
    let expected = written[place]
    guard frame.hasShape(of: first) else {
      throw differs(session, expected.row, "its decoded image has another size or format")
    }
    let isEqual = frame.pixelDigest == expected.pixelDigest && frame.digest == expected.digest
    // A lossless encoder may only return other pixels if they had to be converted before.
    guard isEqual || !encoding.isLossless || first.format != original.format else {
      throw differs(session, expected.row, "its pixels are others")
    }
    if !isEqual { account.differingFrames += 1 }
    return frame.pixelDigest
  }

  private func differs(_ session: String, _ row: FrameRecord?, _ cause: String) -> SessionError {
    .optimizeDiffers(
      session: session, frame: FrameID(track: track, sequence: row?.sequence ?? 0), cause: cause)
  }

  private func part(as stream: MediaStream) -> SegmentTrackRecord {
    var part = SegmentTrackRecord(encoded: stream, like: first, segment: number, track: track)
    part.pixelFormat = stream.pixelFormatName
    (part.streamIndex, part.timeBase) = (stream.index, self.part.timeBase)
    // Properties that the original did not specify remain assumed; frames are checked with that
    // assumption.
    let assumed = MediaStream(self.part)
    if self.part.range == nil, first.range == assumed.range { part.range = nil }
    if self.part.matrix == nil, first.matrix == assumed.matrix { part.matrix = nil }
    return part
  }

  private func rows(
    _ part: SegmentTrackRecord, _ packets: [PacketRecord], _ hashes: [Digest128], bytes: Int64,
    firstPacket: Int
  ) -> Rows {
    var (packets, frames, key) = (packets, [FrameRecord](), firstPacket)
    for place in packets.indices {
      let index = firstPacket + place
      packets[place].index = index
      if written[place].isKey { key = index }
      var row = written[place].row
      (row.packet, row.entry, row.pixelHash) = (index, key, hashes[place])
      // The original's packet may have shown several images; here each image has its own packet.
      row.shown = 0
      frames.append(row)
    }
    let segment = SegmentRecord(
      index: number, file: name, startedNanoseconds: frames.first?.ptsNanoseconds ?? 0,
      isClosed: true, bytes: bytes, reason: "encoded again for replay")
    return Rows(segment: segment, part: part, packets: packets, frames: frames)
  }
}

/// Decodes the written file, each group with a new decoder.
private struct OptimizedCheck {
  let table: ImportTable
  /// The first packets of groups, in ascending order.
  let keys: [Int]
  let isIntraOnly: Bool
  private let memory = ImageMemory()

  init(table: ImportTable, keys: [Int], isIntraOnly: Bool) {
    (self.table, self.keys, self.isIntraOnly) = (table, keys, isIntraOnly)
  }

  /// Passes on the frames in order; ends at the first frame that is not decoded.
  func run(_ body: (Int, Frame) throws -> Void) throws {
    // A group is decoded alone, as a replay may read it. One run through the
    // file would hide that it needs the group before.
    let starts = isIntraOnly ? [0] : keys
    var next = 0
    for (place, start) in starts.enumerated() {
      let end = place + 1 < starts.count ? starts[place + 1] : table.packets.count
      let run = DecodeRun(fetcher: PacketFetcher(table: table), from: start, memory: memory)
      while let outcome = try run.outcome(before: end) {
        guard try take(outcome, &next, body) else { return }
      }
      run.finish()
      while let outcome = try run.outcome() {
        guard try take(outcome, &next, body) else { return }
      }
      guard next == end else { return }
    }
  }

  private func take(
    _ outcome: DecodeOutcome, _ next: inout Int,
    _ body: (Int, Frame) throws -> Void
  ) throws -> Bool {
    guard case .frame(let frame, _) = outcome, frame.packetIndex == next, !frame.isDamaged else {
      return false
    }
    try body(next, frame.frame)
    next += 1
    return true
  }
}
