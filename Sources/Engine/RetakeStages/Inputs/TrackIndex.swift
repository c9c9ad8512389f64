import RetakeBuffers
import RetakeCore

/// The index rows of a source with one track, number 0, whose frames are all independent.
struct TrackIndex: Sendable {
  let rows: [FrameEntry]

  /// - Parameter pts: In ascending order.
  init(pts: [Int64], timeBase: TimeBase) {
    rows = pts.enumerated().map { sequence, pts in
      // Times that do not fit into 64 bits of nanoseconds are beyond 292 years.
      let timestamp = Timestamp(pts: pts, timeBase: timeBase) ?? Timestamp(nanoseconds: .max)
      return FrameEntry(
        id: FrameID(track: 0, sequence: sequence), pts: pts, timestamp: timestamp)
    }
  }

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    // Sequences that do not exist are left out, as `FrameReader.entries` requires.
    track == 0 ? Array(rows[sequences.clamped(to: rows.indices)]) : []
  }

  /// - Throws: `StagesError.noSuchFrame`.
  func row(_ id: FrameID) throws -> FrameEntry {
    guard id.track == 0, rows.indices.contains(id.sequence) else {
      throw StagesError.noSuchFrame(id, count: rows.count)
    }
    return rows[id.sequence]
  }
}
