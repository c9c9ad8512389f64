import RetakeBuffers
import RetakeCore
import RetakeSession
import RetakeTestSupport

/// The first frames of one of the project's own sessions, decoded once for all tests. Some may be
/// left out, as by a camera that lost them.
struct SessionPart: FrameReader {
  static let frameCount = 96
  private static let parts = Locked<[String: SessionPart]>([:])

  let tracks: [TrackDescription]
  private let rows: [FrameEntry]
  private let pictures: [Frame]

  static func named(_ name: String) throws -> SessionPart {
    try parts.withLock { parts in
      if let part = parts[name] { return part }
      let part = try SessionPart(
        SessionReader(opening: packageRoot.appending(path: "Recordings/\(name)").path))
      parts[name] = part
      return part
    }
  }

  private init(_ reader: SessionReader) throws {
    var track = reader.tracks[0]
    let sequences = 0..<Self.frameCount
    rows = try reader.entries(of: track.track, sequences: sequences)
    pictures = try rows.map { try reader.frame($0.id) }
    track.frameCount = rows.count
    tracks = [track]
  }

  private init(_ track: TrackDescription, _ rows: [FrameEntry], _ pictures: [Frame]) {
    (self.tracks, self.rows, self.pictures) = ([track], rows, pictures)
  }

  /// Without some frames; later frames move up.
  func skipping(_ skipped: Set<Int>) -> SessionPart {
    let kept = rows.indices.filter { !skipped.contains($0) }
    var rows = kept.map { self.rows[$0] }
    for index in rows.indices { rows[index].id.sequence = index }
    var track = tracks[0]
    track.frameCount = rows.count
    return SessionPart(track, rows, kept.map { pictures[$0] })
  }

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    sequences.clamped(to: rows.indices).map { rows[$0] }
  }

  func chain(of id: FrameID) -> Int { 0 }

  func frame(_ id: FrameID) -> Frame {
    var frame = pictures[id.sequence]
    frame.id = id
    return frame
  }
}
