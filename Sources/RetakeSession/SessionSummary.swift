import RetakeCore
import RetakeStore

/// A session in one line of a list.
package struct SessionSummary: Hashable, Sendable {
  package struct Track: Hashable, Sendable {
    package var codec: String
    /// Pixels.
    package var width: Int
    /// Pixels.
    package var height: Int
  }

  package var name: String
  package var status: SessionStatus
  /// Of all tracks: frames are numbered without gaps, so that the last row tells how many there are.
  package var frames: Int
  package var tracks: [Track]
  /// From the first frame of any track to the last.
  package var durationNanoseconds: Int64

  /// Reads the rows of the tracks, and the first and last frame of each.
  init(of folder: SessionFolder) throws(SessionError) {
    let store = try SessionReader.open(folder)
    name = folder.name
    status = try store.status(in: folder)
    let parts = try fromStore { () throws(StoreError) in
      _ = try store.segments()
      return try store.segmentTracks()
    }
    var (count, first, last) = (0, Int64.max, Int64.min)
    var tracks: [Track] = []
    var before: Int?
    // By track: the first part of each says what it is.
    for part in parts where part.track != before {
      before = part.track
      tracks.append(
        Track(
          codec: part.codec, width: part.width, height: part.height))
      let ends = try fromStore { () throws(StoreError) in try store.ends(track: part.track) }
      guard let ends else { continue }
      // A hostile number is only a wrong one here.
      count &+= ends.end
      (first, last) = (min(first, ends.firstNanoseconds), max(last, ends.lastNanoseconds))
    }
    self.tracks = tracks
    frames = count
    durationNanoseconds = max(0, last &- first)
  }
}

extension StoreReader {
  /// How much of what was captured is there.
  func status(in folder: SessionFolder) throws(SessionError) -> SessionStatus {
    guard isClosed else { return RecorderLock.isHeld(folder.lock) ? .recording : .recovered }
    let stored = try fromStore { () throws(StoreError) in try meta("status") }
    return stored.flatMap { SessionStatus(rawValue: $0) } ?? .clean
  }
}
