import RetakeCore
import RetakeStore

/// Holds the packets of an open recording against the media, and names the frames that suffer.
struct DamagedPackets {
  let reader: SessionReader
  let report: @Sendable (SessionDoctor.Progress) -> Bool

  static let cause = "session.media.mismatch"
  private static let reportEvery = 256
  private static let pageRows = 1_024

  /// The rows of frames whose own packet is damaged, or one between their entry and it.
  func frames() throws(SessionError) -> [FrameRecord] {
    var suffering: [FrameRecord] = []
    for track in reader.index.tracks {
      let damaged = try packets(of: track)
      guard !damaged.isEmpty else { continue }
      suffering += try frames(of: track, damaged: damaged)
    }
    return suffering
  }

  /// Rising.
  private func packets(of track: Int) throws(SessionError) -> [Int] {
    let count = try fromStore { () throws(StoreError) in
      try reader.index.store.counts(track: track).packets
    }
    let table = IndexedTrack(index: reader.index, track: track)
    var fetcher = PacketFetcher(table: table)
    var damaged: [Int] = []
    for packet in 0..<count {
      do throws(SessionError) {
        _ = try fetcher.packet(packet)
      } catch {
        switch error {
        case .mediaMismatch, .mediaMissing: damaged.append(packet)
        case .media: damaged.append(packet)
        default: throw error
        }
        fetcher = PacketFetcher(table: table)
      }
      if packet.isMultiple(of: Self.reportEvery),
        !report(SessionDoctor.Progress(done: packet, total: count))
      {
        throw .interrupted
      }
    }
    return damaged
  }

  private func frames(of track: Int, damaged: [Int]) throws(SessionError) -> [FrameRecord] {
    var suffering: [FrameRecord] = []
    var next = 0
    while true {
      let page = try fromStore { () throws(StoreError) in
        try reader.index.store.frames(track: track, sequences: next..<next + Self.pageRows)
      }
      guard let last = page.last else { return suffering }
      next = last.sequence + 1
      for frame in page where frame.cause == nil {
        guard let packet = frame.packet else { continue }
        let entry = try fromStore { () throws(StoreError) in
          if let entry = frame.entry { return entry }
          return try reader.index.store.keyPacket(track: track, atOrBefore: packet)
        }
        guard damaged.contains(where: { (entry...max(entry, packet)).contains($0) }) else {
          continue
        }
        var row = frame
        row.entry = entry
        row.pixelHash = nil
        row.cause = Self.cause
        suffering.append(row)
      }
    }
  }
}
