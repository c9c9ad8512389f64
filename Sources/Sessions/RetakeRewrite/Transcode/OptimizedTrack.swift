import RetakeCore
import RetakeSession
import RetakeStore

/// Encodes one track of a replay copy, one file at a time, and writes its rows.
final class OptimizedTrack {
  private let reader: SessionReader
  private let track: Int
  private let site: SessionFolder
  private let encoding: ReplayEncoding
  private let writer: StoreWriter
  private let edit: FrameEdit?
  private var nextSegment = 0
  private var nextPacket = 0
  /// Rows with a cause and a packet; they get a packet without bytes.
  private var damaged: [FrameRecord] = []
  private var open: OptimizedSegment?

  /// - Parameter edit: Changes the frames and their times; nil keeps both.
  init(
    reader: SessionReader, track: Int, site: SessionFolder, encoding: ReplayEncoding,
    writer: StoreWriter, edit: FrameEdit? = nil
  ) {
    (self.reader, self.track, self.site) = (reader, track, site)
    (self.encoding, self.writer, self.edit) = (encoding, writer, edit)
  }

  /// - Throws: `SessionError`; also when a frame that should have pixels cannot be read.
  func write(
    firstSegment: Int, _ account: inout OptimizeAccount, _ progress: inout TrimProgress
  ) throws {
    nextSegment = firstSegment
    try reader.index.store.eachFramePage(track: track) { page in
      for row in page { try take(row, &account, &progress) }
      return true
    }
    // Before the damaged frames, whose packets follow all packets with bytes.
    try closeSegment(&account, &progress)
    guard nextSegment > firstSegment else {
      throw SessionError.noImages(session: reader.folder.path, track: track)
    }
    try writeDamaged()
    account.segments = nextSegment
  }

  private func take(
    _ row: FrameRecord, _ account: inout OptimizeAccount, _ progress: inout TrimProgress
  ) throws {
    try progress.advance()
    let packet = row.packet
    var row = edit?.row(row) ?? row
    guard packet != nil, row.cause == nil else {
      // The total counts each frame twice, read and checked; this one is not checked.
      try progress.advance()
      (row.entry, row.pixelHash, row.shown) = (nil, nil, 0)
      // A frame without a packet needs no number, and can be written now.
      if row.packet == nil { writer.append([row]) } else { damaged.append(row) }
      return
    }
    let original = try reader.frame(FrameID(track: track, sequence: row.sequence))
    let frame = try edit?.pixels(original) ?? original
    let ownPart = try TrimSource.part(of: packet, track: track, in: reader)
    let part = edit?.part(ownPart) ?? ownPart
    if let open, !open.takes(frame, part) { try closeSegment(&account, &progress) }
    if open == nil {
      open = try OptimizedSegment(
        site: site, track: track, number: nextSegment, first: frame, part: part,
        color: reader.color(of: track), encoding: encoding)
    }
    try open?.add(frame, row)
  }

  private func closeSegment(
    _ account: inout OptimizeAccount, _ progress: inout TrimProgress
  ) throws {
    guard let segment = open else { return }
    open = nil
    let rows = try segment.finish(
      session: reader.folder.path, firstPacket: nextPacket, &account, &progress)
    writer.append([rows.segment])
    writer.append([rows.part])
    // One file's rows at a time, so that the rows of a long track need not fit into memory.
    try writer.write(rows.packets)
    try writer.write(rows.frames)
    nextPacket += rows.packets.count
    nextSegment += 1
  }

  /// Appended after all other packets, so that no decoder receives them.
  private func writeDamaged() throws {
    for place in damaged.indices {
      damaged[place].packet = nextPacket
      writer.append([
        PacketRecord(emptyIn: nextSegment - 1, track: track, index: nextPacket)
      ])
      nextPacket += 1
    }
    try writer.write(damaged)
  }
}
