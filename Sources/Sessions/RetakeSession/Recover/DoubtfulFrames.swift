import RetakeCore
import RetakeMedia
package import RetakeStore

/// Settles the frames of a recording whose pixels are in doubt, and the frames that refer to them,
/// as an import does: by decoding their packets in several ways.
package struct DoubtfulFrames {
  private let reader: SessionReader
  private let track: Int

  package init(_ reader: SessionReader, track: Int) {
    (self.reader, self.track) = (reader, track)
  }

  /// - Parameters:
  ///   - sequences: The frames in doubt, in ascending order.
  ///   - goesOn: After false, the frames that are not settled yet count as damaged.
  /// - Returns: the rows with their entries, hashes and causes, in ascending order.
  package func settle(
    _ sequences: [Int], goesOn: @escaping @Sendable () -> Bool = { true }
  ) throws -> [FrameRecord] {
    var rows: [FrameRecord] = []
    // The first packet that is not settled yet.
    var next = 0
    for sequence in sequences {
      let id = FrameID(track: track, sequence: sequence)
      guard let packet = try reader.index.frame(id)?.packet, packet >= next else { continue }
      let range = try stretch(around: packet)
      next = range.upperBound
      let frames = try frames(in: range, around: sequence)
      let doubts = Set(sequences)
      do {
        rows += Self.settled(frames, by: try indexed(range, goesOn), at: range.lowerBound)
      } catch let error as any RetakeError {
        let first = frames.firstIndex { doubts.contains($0.sequence) } ?? 0
        rows += frames[first...].map { Self.condemned($0, cause: Self.cause(of: error)) }
      }
    }
    return rows
  }

  /// From the last packet that decodes exactly, to the next one.
  private func stretch(around packet: Int) throws -> Range<Int> {
    let store = reader.index.store
    var first = try store.keyPacket(track: track, atOrBefore: packet)
    while first > 0, dependsOnEarlier(first) {
      first = try store.keyPacket(track: track, atOrBefore: first - 1)
    }
    var end = try store.keyPacket(track: track, after: packet)
    while let key = end, dependsOnEarlier(key) {
      end = try store.keyPacket(track: track, after: key)
    }
    if let end { return first..<end }
    return first..<(try store.counts(track: track).packetEnd)
  }

  private func dependsOnEarlier(_ key: Int) -> Bool {
    let fetcher = PacketFetcher(table: IndexedTrack(index: reader.index, track: track))
    guard let (packet, view) = try? fetcher.packet(key) else { return false }
    return DecodingStart(of: packet, in: view.stream) == .recovery
  }

  /// The frames of these packets, which a recorder numbers in the same order.
  private func frames(
    in range: Range<Int>, around sequence: Int
  ) throws -> [FrameRecord] {
    func frame(_ sequence: Int) throws -> FrameRecord? {
      try reader.index.frame(FrameID(track: track, sequence: sequence))
    }
    var first = sequence
    // Ends: at the track's first frame.
    while let before = try frame(first - 1), before.packet ?? range.lowerBound >= range.lowerBound {
      first -= 1
    }
    var frames: [FrameRecord] = []
    // Ends: at the track's last frame.
    while let next = try frame(first), next.packet ?? range.lowerBound < range.upperBound {
      if next.packet != nil { frames.append(next) }
      first += 1
    }
    return frames
  }

  /// The rows that an import of these packets makes, by packet, counted from the first packet.
  private func indexed(
    _ range: Range<Int>, _ goesOn: @escaping @Sendable () -> Bool
  ) throws -> [Int: FrameRecord] {
    let records = try reader.index.store.packets(track: track, indexes: range)
    var (packets, views) = (PacketList(), [Int: SegmentView]())
    for var record in records {
      if views[record.segment] == nil {
        views[record.segment] = try reader.index.view(track: track, segment: record.segment)
      }
      record.index -= range.lowerBound
      packets.append(record)
    }
    guard let stream = records.first.flatMap({ views[$0.segment]?.stream }) else { return [:] }
    let rows = try TrackIndexing(
      track: track, stream: stream, views: views, packets: packets, memory: ImageMemory(),
      report: { _ in goesOn() }
    ).run()
    var found: [Int: FrameRecord] = [:]
    for place in 0..<rows.frameCount {
      let row = rows.frame(place)
      if let packet = row.packet, row.shown == 0 { found[packet] = row }
    }
    return found
  }

  private static func settled(
    _ frames: [FrameRecord], by rows: [Int: FrameRecord], at first: Int
  ) -> [FrameRecord] {
    frames.map { frame in
      var frame = frame
      let row = rows[(frame.packet ?? first) - first]
      // A cause from other evidence stays, whatever the decodings return.
      let other = frame.cause == FrameCause.varies ? nil : frame.cause
      frame.cause = other ?? (row == nil ? FrameCause.undecodable : row?.cause)
      frame.entry = row?.entry.map { $0 + first } ?? frame.entry ?? first
      frame.pixelHash = frame.cause == nil ? row?.pixelHash : nil
      return frame
    }
  }

  private static func condemned(_ frame: FrameRecord, cause: String) -> FrameRecord {
    var frame = frame
    frame.cause = frame.cause ?? cause
    frame.pixelHash = nil
    return frame
  }

  private static func cause(of error: any RetakeError) -> String {
    switch error {
    case SessionError.interrupted: FrameCause.damaged
    case SessionError.noFrames: FrameCause.undecodable
    default: error.isAboutMemory ? FrameCause.damaged : error.code
    }
  }
}
