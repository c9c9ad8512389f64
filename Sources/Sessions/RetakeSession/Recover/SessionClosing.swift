import Foundation
import RetakeCore
package import RetakeStore

/// Closes the database of a folder whose rows end with a recorder's last commit. Finds damaged
/// media, and adds the entries and hashes that the recorder had no time for.
package struct SessionClosing {
  private let folder: SessionFolder
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  package init(
    folder: SessionFolder, report: @escaping @Sendable (SessionCheck.Progress) -> Bool
  ) {
    (self.folder, self.report) = (folder, report)
  }

  /// The damage and the uncommitted bytes that closing found.
  package struct Findings: Hashable {
    /// Number of frames whose media differs from the committed media, or cannot be decoded.
    package var damagedFrames = 0
    /// Bytes of media after the last commit.
    package var tailBytes: Int64 = 0
  }

  /// The data that closing writes in addition to the frames.
  package struct Account {
    /// Whether the session ends here because its recorder ended.
    var wasCut: Bool
    var losses: [String]
    var facts: StoreWriter.Facts
    var event: EventRecord?

    package init(
      wasCut: Bool, losses: [String], facts: StoreWriter.Facts = [],
      event: EventRecord? = nil
    ) {
      (self.wasCut, self.losses, self.facts, self.event) = (wasCut, losses, facts, event)
    }
  }

  /// - Parameter account: Returns, from the findings, the data to write in addition to the frames.
  package func close(
    _ reader: SessionReader, account: (Findings) throws -> Account
  ) throws -> Findings {
    var rows = try damagedRows(reader)
    for track in reader.index.tracks {
      // A frame whose media differs keeps that cause, even if its packets still decode.
      let known = Set(rows.map { FrameID(track: $0.track, sequence: $0.sequence) })
      rows += try MissingPixels(reader).find(track: track).filter {
        !known.contains(FrameID(track: $0.track, sequence: $0.sequence))
      }
    }
    rows = try settled(rows, reader)
    let damaged = rows.count { $0.cause != nil }
    let findings = Findings(damagedFrames: damaged, tailBytes: tailBytes(reader))
    let account = try account(findings)
    // Frames whose cause was committed are not among the rows.
    let known = try reader.index.store.frameCounts()
    let standing = SessionStanding(
      damagedFrames: damaged + known.damaged, missingFrames: known.missing,
      wasCut: account.wasCut, losses: account.losses)
    let writer = try StoreWriter(continuing: folder.database)
    writer.replace(rows)
    writer.replace(closedSegments(reader))
    if let event = account.event { writer.append([event]) }
    writer.set(standing.facts + account.facts)
    try writer.close()
    return findings
  }

  /// Checks that each frame without a cause still has the media that was indexed. A copy of other
  /// media would be called good.
  ///
  /// - Throws: `SessionError.mediaMismatch` for the first frame whose media differs.
  package func requireIntact(_ reader: SessionReader) throws {
    try reader.index.requireSizes()
    guard let row = try damagedRows(reader).first else { return }
    let packet = row.packet ?? 0
    let segment = try reader.index.packet(track: row.track, index: packet)?.segment
    let file = segment.flatMap { reader.index.segments[$0]?.file } ?? reader.mediaFiles().first
    if let file, let path = try? folder.file(file), !FileManager.default.fileExists(atPath: path) {
      throw SessionError.mediaMissing(file: path)
    }
    throw SessionError.mediaMismatch(
      file: file.map { "\(folder.path)/\($0)" } ?? folder.path, track: row.track, packet: packet,
      frame: FrameID(track: row.track, sequence: row.sequence),
      cause: "its bytes changed, and a copy would have the same damage")
  }

  /// The rows of frames whose media differs from the committed media, with that as their cause.
  private func damagedRows(_ reader: SessionReader) throws -> [FrameRecord] {
    var rows: [FrameRecord] = []
    for track in reader.index.tracks {
      let end = try reader.index.store.counts(track: track).packetEnd
      let damages = try PacketCheck(reader: reader, track: track).damages(before: end) {
        packet in
        if packet.isMultiple(of: Self.reportEvery),
          !report(SessionCheck.Progress(done: packet, total: end))
        {
          throw SessionError.interrupted
        }
      }
      rows += try DamagedFrames(reader: reader).frames(
        of: track, damaged: PacketCheck.numbers(damages))
    }
    for place in rows.indices {
      rows[place].pixelHash = nil
      rows[place].cause = Self.mediaMismatch
    }
    return rows
  }

  /// The rows, and the rows of frames that refer to their damage. Only packets as the source sent
  /// them may refer to damage: a recorder's own encoder never refers to it.
  private func settled(
    _ rows: [FrameRecord], _ reader: SessionReader
  ) throws -> [FrameRecord] {
    guard try reader.index.store.meta("preset") == "copy" else { return rows }
    var all: [FrameID: FrameRecord] = [:]
    for row in rows { all[FrameID(track: row.track, sequence: row.sequence)] = row }
    for track in reader.index.tracks {
      let committed = try DamagedFrames(reader: reader).known(of: track).map(\.sequence)
      let found = rows.filter {
        $0.track == track && $0.cause != nil && $0.cause != Self.mediaMismatch
      }.map(\.sequence)
      let doubts = Set(committed + found).sorted()
      for row in try DoubtfulFrames(reader, track: track).settle(doubts) {
        let id = FrameID(track: track, sequence: row.sequence)
        if all[id]?.cause != Self.mediaMismatch { all[id] = row }
      }
    }
    return all.values.sorted { ($0.track, $0.sequence) < ($1.track, $1.sequence) }
  }

  private static let mediaMismatch = "session.media.mismatch"
  private static let reportEvery = 16

  private func tailBytes(_ reader: SessionReader) -> Int64 {
    reader.index.segments.values.filter { !$0.isClosed }.reduce(0) { total, segment in
      guard let file = try? reader.index.file(segment.file) else { return total }
      return total + max(0, file.size - segment.bytes)
    }
  }

  /// The segments that are still open, with the size of their file: from now on, other bytes at its
  /// end are damage.
  private func closedSegments(_ reader: SessionReader) -> [SegmentRecord] {
    let segments = reader.index.segments.values.sorted { $0.index < $1.index }
    return segments.filter { !$0.isClosed }.compactMap { segment in
      // A file that lost committed bytes is not complete.
      guard let file = try? reader.index.file(segment.file), file.size >= segment.bytes else {
        return nil
      }
      var segment = segment
      (segment.isClosed, segment.bytes) = (true, file.size)
      return segment
    }
  }

  /// Checks the database's structure, rows and references. An intact row with a damaged
  /// checksum passes.
  package static func check(_ store: StoreReader, at path: String) throws {
    let complaints = try store.checkContent()
    // A checksum that is damaged alone leaves a row that was written.
    guard let first = complaints.first(where: { $0.kind != .check }) else { return }
    throw StoreError.corrupt(path: path, cause: first.text)
  }
}
