import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// The rows and media files of one track of a trimmed session.
struct TrimmedTrack {
  let track: Int
  private(set) var segments: [SegmentRecord] = []
  private(set) var parts: [SegmentTrackRecord] = []
  private(set) var packets: [PacketRecord] = []
  private(set) var frames: [FrameRecord] = []
  private(set) var encodedFrames = 0
  private(set) var unreadableFrames = 0
  private let firstSegment: Int
  /// Rows whose pixels could not be read, with the reason.
  private var failed: [FrameRecord] = []
  private var firstFailure: (any Error)?
  /// The new index of each copied packet.
  private var copied: [Int: Int] = [:]

  /// Writes the media to `site`; the rows are complete afterwards.
  init(
    reader: SessionReader, track: TrimSpan.Track, site: SessionFolder, firstSegment: Int,
    copies: Bool, origin: Int64, progress: inout TrimProgress
  ) throws {
    self.track = track.track
    self.firstSegment = firstSegment
    let source = TrimSource(reader: reader, track: track)
    let rows = try source.rows()
    let plan = try source.plan(rows, copies: copies)
    let media = TrimMedia(site: site, track: track.track)
    var waiting = rows.filter { track.sequences.contains($0.sequence) }
    for (place, run) in plan.runs.enumerated() {
      // Before the run, so that files and packets stay in the order of the track.
      try encode(&waiting, plan, before: place, source, media, origin, &progress)
      guard try copy(run, source, media, origin) else {
        throw SessionError.trimDiffers(
          session: reader.folder.path, frame: FrameID(track: track.track, sequence: 0),
          cause: "no container keeps its packets as they are")
      }
    }
    try encode(&waiting, plan, before: plan.runs.count, source, media, origin, &progress)
    guard !segments.isEmpty else { throw nothingToShow(in: reader, from: track.sequences) }
    // Last, because unreadable frames get packets without bytes, which no
    // decoder should meet on its way to others.
    let entries = Self.earlierEntries(of: waiting, plan)
    for row in waiting {
      frames.append(remaining(row, plan, entries))
      try progress.advance()
    }
    for row in failed { frames.append(unreadable(row)) }
    frames.sort { $0.sequence < $1.sequence }
    for place in frames.indices { frames[place].sequence -= track.sequences.lowerBound }
  }

  /// A track without media has no shape, so a session made from it would have no frames.
  private func nothingToShow(
    in reader: SessionReader, from sequences: ClosedRange<Int>
  ) -> any Error {
    firstFailure
      ?? SessionError.noPixels(
        session: reader.folder.path, frame: FrameID(track: track, sequence: sequences.lowerBound),
        cause: "no frame of its track in that span has any")
  }

  /// The row of a frame whose packet was copied, or that has no pixels.
  private mutating func remaining(
    _ row: FrameRecord, _ plan: TrimPlan, _ entries: [Int: Int]
  ) -> FrameRecord {
    guard plan.fates[row.sequence] == .copied, let packet = row.packet.flatMap({ copied[$0] })
    else { return unreadable(row) }
    var row = row
    row.entry = row.entry.flatMap { copied[entries[$0] ?? $0] }
    row.packet = packet
    return row
  }

  /// The entry of the group before, by the entry of the last group of each run.
  ///
  /// A file ends with the run, and a decoder of H.264 that begins at the last group and is drained
  /// so early may drop the image at which it began.
  private static func earlierEntries(of rows: [FrameRecord], _ plan: TrimPlan) -> [Int: Int] {
    let starts = rows.compactMap { $0.entry == $0.packet ? $0.packet : nil }.sorted()
    var earlier: [Int: Int] = [:]
    for run in plan.runs {
      let own = starts.filter { run.packets.contains($0) }.suffix(2)
      if own.count == 2, let last = own.last { earlier[last] = own.first }
    }
    return earlier
  }

  private mutating func unreadable(_ row: FrameRecord) -> FrameRecord {
    var row = row
    unreadableFrames += 1
    row.entry = nil
    row.pixelHash = nil
    guard row.packet != nil else { return row }
    (row.packet, row.shown) = (placeholder(), 0)
    row.cause = row.cause ?? "session.media.mismatch"
    return row
  }

  /// A packet without bytes for an unreadable frame, so that the frame counts as failed, not as
  /// shed.
  private mutating func placeholder() -> Int? {
    guard let segment = segments.last?.index else { return nil }
    let index = packets.count
    packets.append(PacketRecord(emptyIn: segment, track: track, index: index))
    return index
  }

  /// Encodes the frames that come before a run, one file for each shape.
  private mutating func encode(
    _ waiting: inout [FrameRecord], _ plan: TrimPlan, before place: Int, _ source: TrimSource,
    _ media: TrimMedia, _ origin: Int64, _ progress: inout TrimProgress
  ) throws {
    var mine = waiting.filter { plan.fates[$0.sequence] == .encoded(before: place) }[...]
    waiting.removeAll { plan.fates[$0.sequence] == .encoded(before: place) }
    // A frame with another shape ends a file; it waits here and begins the next one.
    var ready: (FrameRecord, Frame)?
    while true {
      if ready == nil { ready = try readable(&mine, source, &progress) }
      guard let first = ready else { return }
      let segment = firstSegment + segments.count
      var rows: [FrameRecord] = [first.0]
      var failure: (FrameRecord, Frame)?
      let (piece, stream) = try media.encode(
        first: first.1, color: source.color, segment: segment, origin: origin
      ) {
        guard let next = try readable(&mine, source, &progress) else { return nil }
        guard next.1.hasShape(of: first.1) else {
          failure = next
          return nil
        }
        rows.append(next.0)
        return next.1
      }
      ready = failure
      try add(piece, of: rows, as: stream, like: first.1, segment: segment, source)
    }
  }

  /// The next readable frame, with its pixel digest. An unreadable frame gets the reason as its
  /// cause.
  private mutating func readable(
    _ rows: inout ArraySlice<FrameRecord>, _ source: TrimSource, _ progress: inout TrimProgress
  ) throws -> (FrameRecord, Frame)? {
    while var row = rows.popFirst() {
      try progress.advance()
      do {
        let frame = try source.frame(row.sequence)
        row.pixelHash = frame.pixelDigest
        return (row, frame)
      } catch let error as SessionError {
        guard error.isDamage else { throw error }
        if firstFailure == nil { firstFailure = error }
        row.cause = error.code
        failed.append(row)
      }
    }
    return nil
  }

  private mutating func add(
    _ piece: TrimMedia.Piece, of rows: [FrameRecord], as stream: MediaStream, like frame: Frame,
    segment: Int, _ source: TrimSource
  ) throws {
    guard piece.packets.count == rows.count else {
      throw SessionError.trimDiffers(
        session: source.reader.folder.path,
        frame: FrameID(track: track, sequence: rows.first?.sequence ?? 0),
        cause: "the encoder returned \(counted(piece.packets.count, "packet")) for "
          + counted(rows.count, "frame"))
    }
    segments.append(
      SegmentRecord(
        index: segment, file: piece.name, startedNanoseconds: rows.first?.ptsNanoseconds ?? 0,
        isClosed: true, bytes: piece.bytes, reason: "encoded again, without loss"))
    var part = SegmentTrackRecord(encoded: stream, like: frame, segment: segment, track: track)
    // Rows keep their own pts, so they keep their time base.
    part.timeBase = try source.part(of: rows.first?.packet).timeBase
    parts.append(part)
    for (var row, var packet) in zip(rows, piece.packets) {
      (packet.track, packet.index, packet.segment) = (track, packets.count, segment)
      (packet.pts, packet.dts, packet.flags) = (row.pts, row.pts, .key)
      (row.packet, row.entry, row.shown) = (packet.index, packet.index, 0)
      packets.append(packet)
      frames.append(row)
    }
    encodedFrames += rows.count
  }

  /// - Returns: false when no container preserves the packets.
  private mutating func copy(
    _ run: TrimPlan.Run, _ source: TrimSource, _ media: TrimMedia, _ origin: Int64
  ) throws -> Bool {
    let segment = firstSegment + segments.count
    let records = try source.packets(run.packets)
    var part = try source.part(of: run.packets.lowerBound)
    let fetcher = source.fetcher()
    // The file's times begin near zero; the rows' times do not change.
    let start = Timestamp(nanoseconds: origin).pts(in: part.timeBase)
    var stream = MediaStream(part)
    stream.color = source.color
    let piece = try media.copy(
      records, stream: stream, segment: segment, origin: start
    ) { packet in
      guard let found = try fetcher.packet(packet) else {
        preconditionFailure("the index has every packet of a run")
      }
      return found.packet
    }
    guard let piece else { return false }
    let started = records.first?.pts.flatMap { Timestamp(pts: $0, timeBase: part.timeBase) }
    segments.append(
      SegmentRecord(
        index: segment, file: piece.name, startedNanoseconds: started?.nanoseconds ?? origin,
        isClosed: true, bytes: piece.bytes, reason: segments.isEmpty ? nil : "copied"))
    (part.segment, part.streamIndex) = (segment, 0)
    parts.append(part)
    for (var record, place) in zip(records, piece.packets) {
      // Entries of later frames name these packets by their old numbers.
      copied[record.index] = packets.count
      (record.index, record.segment) = (packets.count, segment)
      (record.ordinal, record.offset) = (place.ordinal, place.offset)
      packets.append(record)
    }
    return true
  }
}

extension Frame {
  /// Whether one encoder accepts both frames.
  func hasShape(of other: Frame) -> Bool {
    format == other.format && width == other.width && height == other.height
      && range == other.range && matrix == other.matrix && sampleAspect == other.sampleAspect
      && rotationDegrees == other.rotationDegrees && isMirrored == other.isMirrored
  }
}

extension PacketRecord {
  /// A packet without bytes, for a frame that cannot be read.
  init(emptyIn segment: Int, track: Int, index: Int) {
    self.init(
      track: track, index: index, segment: segment, ordinal: index, pts: nil, dts: nil,
      duration: 0, flags: .corrupt, size: 0, digest: Digest128(of: [UInt8]()),
      // True for any file: the digest is that of no bytes, which are at every offset.
      offset: 0)
  }
}

extension SegmentTrackRecord {
  init(encoded stream: MediaStream, like frame: Frame, segment: Int, track: Int) {
    self.init(
      segment: segment, track: track, streamIndex: 0, codec: stream.storedCodec,
      profile: stream.profile, extradata: stream.extradata.isEmpty ? nil : stream.extradata,
      width: frame.width, height: frame.height, pixelFormat: frame.format.ffmpegName,
      range: frame.range.rawValue, matrix: frame.matrix.rawValue,
      rotationDegrees: frame.rotationDegrees,
      aspectNumerator: Int(frame.sampleAspect.numerator),
      aspectDenominator: Int(frame.sampleAspect.denominator), timeBase: stream.timeBase,
      delay: stream.delay)
  }
}
