import RetakeCore
package import RetakeMedia
import RetakeStore

/// Reads packets and checks every one against its checksum.
///
/// If the index has the position of the bytes, they are read from there. Otherwise the demuxer
/// reads the file from the beginning. Only one thread at a time uses it.
package final class PacketFetcher {
  let table: any PacketTable
  /// The frame that the packets are read for, for errors.
  var frame: FrameID?
  private var demuxing: Demuxing?

  /// A demuxer at some position of one file.
  private struct Demuxing {
    var demuxer: MediaDemuxer
    /// The number, within the file, of the track's next packet.
    var next: Int
  }

  package init(table: any PacketTable) {
    self.table = table
  }

  /// The packet, with its session-wide number, or nil after the last one.
  package func packet(_ index: Int) throws -> (
    packet: MediaPacket, view: SegmentView
  )? {
    guard let record = try table.packet(index) else { return nil }
    let view = try table.segment(record.segment)
    var packet = try bytes(of: record, in: view)
    guard packet.size == record.size, packet.digest == record.digest else {
      throw mismatch(record, view, "its checksum is \(packet.digest), not \(record.digest)")
    }
    // The media numbers packets by file. A decoder reports this number with
    // its images, and they are found by it.
    packet.index = index
    return (packet, view)
  }

  private func bytes(
    of record: PacketRecord, in view: SegmentView
  ) throws -> MediaPacket {
    guard let offset = record.offset else {
      // Opened first: a file that cannot be opened is no mismatch of a packet.
      let opened = try demuxing(view, upTo: record.ordinal)
      return try namingMismatch(record, view) { try demuxed(record, in: view, by: opened) }
    }
    return try namingMismatch(record, view) {
      try view.file.packet(
        stream: view.stream.index, index: record.index, pts: record.pts, dts: record.dts,
        duration: record.duration, flags: MediaPacket.Flags(record.flags), offset: offset,
        size: record.size, sideData: record.sideData)
    }
  }

  private func namingMismatch(
    _ record: PacketRecord, _ view: SegmentView, _ read: () throws -> MediaPacket
  ) throws -> MediaPacket {
    do {
      return try read()
    } catch let error as MediaError where !error.isAboutMemory {
      throw mismatch(record, view, error.cause ?? error.message)
    }
  }

  private func demuxed(
    _ record: PacketRecord, in view: SegmentView, by opened: Demuxing
  ) throws -> MediaPacket {
    var current = opened
    // Kept only if the packet is found; after an error its position is not known.
    demuxing = nil
    var failures = 0
    while true {
      let packet: MediaPacket?
      do {
        packet = try current.demuxer.nextPacket()
      } catch let error as MediaError {
        failures += 1
        guard failures < demuxFailureCount else { throw error }
        continue
      }
      guard var packet else {
        throw MediaError.read(
          file: view.file.path, cause: "the file ends before packet \(record.index)")
      }
      failures = 0
      guard packet.stream == view.stream.index else { continue }
      current.next += 1
      guard current.next == record.ordinal + 1 else { continue }
      packet.index = record.index
      // Of a later chapter of a recording, the index has the times on the recording's time line.
      (packet.pts, packet.dts, packet.duration) = (record.pts, record.dts, record.duration)
      // The index is more reliable than the container's corrupt flags.
      packet.flags = MediaPacket.Flags(record.flags)
      demuxing = current
      return packet
    }
  }

  /// A demuxer positioned at or before a packet of the file.
  private func demuxing(
    _ view: SegmentView, upTo ordinal: Int
  ) throws -> Demuxing {
    // A demuxer only moves forward: for an earlier packet the file is read from its beginning.
    if let demuxing, demuxing.demuxer.path == view.file.path, demuxing.next <= ordinal {
      return demuxing
    }
    let demuxer = try MediaDemuxer(path: view.file.path)
    demuxer.select([view.stream.index])
    return Demuxing(demuxer: demuxer, next: 0)
  }

  private func mismatch(
    _ record: PacketRecord, _ view: SegmentView, _ cause: String
  ) -> SessionError {
    .mediaMismatch(
      file: view.file.path, track: record.track, packet: record.index, frame: frame, cause: cause)
  }
}
