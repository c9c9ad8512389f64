import RetakeCore
import RetakeMedia
import RetakeRuntime
import RetakeStore

/// Holds the media against the index: every packet, and in depth every frame.
struct MediaCheck {
  let reader: SessionReader
  let report: @Sendable (SessionDoctor.Progress) -> Bool

  private static let reportEvery = 256
  private static let advice = "Put the original media back, or import it again"

  func checkPackets(_ notes: inout DoctorNotes) throws(SessionError) {
    var counts: [Int: Int] = [:]
    for track in reader.index.tracks {
      counts[track] = try fromStore { () throws(StoreError) in
        try reader.index.store.counts(track: track).packets
      }
    }
    let total = counts.values.reduce(0, +)
    for track in reader.index.tracks {
      try checkPackets(of: track, count: counts[track] ?? 0, total: total, &notes)
    }
  }

  private func checkPackets(
    of track: Int, count: Int, total: Int, _ notes: inout DoctorNotes
  ) throws(SessionError) {
    var fetcher = PacketFetcher(table: IndexedTrack(index: reader.index, track: track))
    for packet in 0..<count {
      do throws(SessionError) {
        if try fetcher.packet(packet) == nil {
          notes.add(
            .error, "gap", "track \(track) has no packet \(packet)", track: track, packet: packet,
            advice: Self.advice)
        }
      } catch {
        note(error, track: track, packet: packet, &notes)
        if case .mediaMissing = error { return }
        fetcher = PacketFetcher(table: IndexedTrack(index: reader.index, track: track))
      }
      notes.packetsChecked += 1
      try tell(notes.packetsChecked, of: total)
    }
  }

  private func note(
    _ error: SessionError, track: Int, packet: Int, _ notes: inout DoctorNotes
  ) {
    guard case .mediaMismatch(let file, _, _, _, let cause) = error else {
      return notes.add(.error, "media", error)
    }
    let frame = reader.index.frame(ofPacket: packet, of: track)
    let named = frame.map { ", frame \($0)" } ?? ""
    notes.add(
      .error, "packet", "packet \(packet) of track \(track)\(named) is damaged: \(cause)",
      file: file, track: track, packet: packet, frame: frame, advice: Self.advice)
  }

  /// Every frame, decoded, against its pixel hash; those with a recorded cause are only counted.
  func checkPixels(_ notes: inout DoctorNotes) throws(SessionError) {
    let total = reader.tracks.reduce(0) { $0 + $1.frameCount }
    for track in reader.tracks {
      for sequence in 0..<track.frameCount {
        let id = FrameID(track: track.track, sequence: sequence)
        try checkPixels(of: id, &notes)
        notes.framesChecked += 1
        try tell(notes.framesChecked, of: total)
      }
    }
  }

  private func checkPixels(of id: FrameID, _ notes: inout DoctorNotes) throws(SessionError) {
    guard let record = try reader.index.frame(id) else {
      return notes.add(
        .error, "gap", "frame \(id) has no row", track: id.track, frame: id, advice: Self.advice)
    }
    if let cause = record.cause {
      return notes.add(
        .note, "cause", "frame \(id) fails as it did then: \(cause)", track: id.track, frame: id)
    }
    do {
      _ = try reader.frame(id)
    } catch let error as SessionError {
      notes.add(.error, "pixels", error)
    } catch {
      notes.add(.error, "pixels", "\(error)", track: id.track, frame: id)
    }
  }

  private func tell(_ done: Int, of total: Int) throws(SessionError) {
    guard done.isMultiple(of: Self.reportEvery) else { return }
    if !report(SessionDoctor.Progress(done: done, total: total)) { throw .interrupted }
  }
}
