import RetakeStore

/// The contents of one line in a list of sessions.
package struct SessionSummary: Hashable, Sendable {
  package struct Track: Hashable, Sendable {
    package var codec: String
    /// In pixels.
    package var width: Int
    /// In pixels.
    package var height: Int
  }

  package var name: String
  package var status: SessionStatus
  /// Total of all tracks. Frames are numbered without gaps, so the last row has the count.
  package var frames: Int
  package var tracks: [Track]
  /// From the first frame of any track to the last.
  package var durationNanoseconds: Int64
  /// Date and time in UTC, such as `2026-05-02T09:30:07Z`; nil for sessions without a date.
  package var started: String?
  /// The user's note; nil without one.
  package var note: String?

  /// Reads the descriptions of the tracks, and the first and last frame of each.
  init(of folder: SessionFolder) throws {
    let store = try SessionReader.open(folder)
    name = folder.name
    started = try SessionDate.started(in: store).map(SessionDate.text)
    note = try SessionNote.text(in: store)
    // Read for its bound: what has too many segments for a reader is an error in the list, too.
    let sizes = MediaSize.all(of: try store.segments())
    let faults = MediaSizeFault.all(of: sizes, in: folder)
    status = try store.status(in: folder, faults: faults)
    let parts = try store.segmentTracks()
    var (count, times) = (0, [Int64]())
    var tracks: [Track] = []
    var before: Int?
    // Sorted by track: the first part of each track describes it.
    for part in parts where part.track != before {
      before = part.track
      tracks.append(
        Track(
          codec: part.codecName, width: part.width, height: part.height))
      let ends = try store.ends(track: part.track)
      guard let ends else { continue }
      // Wraps around: an invalid number in the database makes the count wrong, and does not crash.
      count &+= ends.end
      times += [ends.firstNanoseconds, ends.lastNanoseconds]
    }
    self.tracks = tracks
    frames = count
    // Times are read within bounds, so the difference fits.
    durationNanoseconds = (times.max() ?? 0) - (times.min() ?? 0)
  }
}

extension StoreReader {
  /// How complete the session is, as far as rows and sizes of files show it.
  func status(in folder: SessionFolder, faults: [MediaSizeFault]) throws -> SessionStatus {
    guard isClosed else { return RecorderLock.isHeld(folder.lock) ? .recording : .unclosed }
    let stored = try meta("status").flatMap { SessionStatus(rawValue: $0) } ?? .clean
    return faults.isEmpty ? stored : .lossy
  }
}
