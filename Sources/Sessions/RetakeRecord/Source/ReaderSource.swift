package import RetakeBuffers
import RetakeCore
import RetakeMedia

/// Uses a track of a `FrameReader` as a source: a drawn scene, or a folder of images.
package struct ReaderSource: RecordingSource {
  package let description: SourceDescription
  private let reader: any FrameReader
  private let track: TrackDescription
  private let repeats: Bool

  /// Frames come at the times of the reader's index.
  ///
  /// - Parameters:
  ///   - reader: Provides the frames, such as a `StaticSource`.
  ///   - name: Human-readable, such as `synthetic:figures`.
  ///   - track: The reader's number of the track; nil selects the first one.
  ///   - repeats: Whether to begin again after the last frame, forever.
  /// - Throws: `RecordError.noTrack`.
  package init(
    _ reader: any FrameReader, name: String, track: Int? = nil, repeats: Bool = false
  ) throws {
    guard
      let found = track.map({ wanted in reader.tracks.first { $0.track == wanted } })
        ?? reader.tracks.first, found.frameCount > 0
    else { throw RecordError.noTrack(source: name, track: track) }
    self.reader = reader
    self.track = found
    self.repeats = repeats
    let rate = try Self.framesPerSecond(reader, found)
    description = SourceDescription(name: name, timeBase: found.timeBase, framesPerSecond: rate)
  }

  package func open() -> any FrameStream {
    ReaderStream(reader: reader, track: track, repeats: repeats)
  }

  /// Number of entries that the nominal rate is computed from.
  private static let rateEntries = 64

  private static func framesPerSecond(
    _ reader: any FrameReader, _ track: TrackDescription
  ) throws -> Double? {
    let entries = try reader.entries(of: track.track, sequences: 0..<rateEntries)
    guard let first = entries.first, let last = entries.last, entries.count > 1,
      last.timestamp > first.timestamp
    else { return nil }
    return Double(entries.count - 1) * 1e9 / Double(last.timestamp - first.timestamp)
  }
}

private final class ReaderStream: FrameStream {
  private let reader: any FrameReader
  private let track: TrackDescription
  private let repeats: Bool
  private var page: ArraySlice<FrameEntry> = []
  private var nextSequence = 0
  /// Added to the times of the current round.
  private var shift: (pts: Int64, nanoseconds: Int64) = (0, 0)
  private var previous: FrameEntry?
  private var interval: (pts: Int64, nanoseconds: Int64) = (1, 1)
  private var misses = 0

  private static let pageRows = 256
  /// Frames in a row that may fail for lack of memory.
  private static let missesMax = 100

  init(reader: any FrameReader, track: TrackDescription, repeats: Bool) {
    (self.reader, self.track, self.repeats) = (reader, track, repeats)
  }

  func next() throws -> SourceFrame? {
    guard let entry = try nextEntry() else { return nil }
    let time = entry.timestamp + shift.nanoseconds
    let pts = entry.pts.map { $0 + shift.pts }
    do {
      var frame = try reader.frame(entry.id)
      misses = 0
      frame.timestamp = time
      return SourceFrame(frame: frame, pts: pts)
    } catch let error as MediaError where error.isOutOfMemory {
      // There may be memory for the next frame; this one still gets its row.
      misses += 1
      guard misses < Self.missesMax else { throw error }
      throw MissedFrame(timestamp: time, pts: pts)
    }
  }

  /// Frames without pixels are skipped.
  private func nextEntry() throws -> FrameEntry? {
    while true {
      while let entry = page.popFirst() {
        nextSequence = entry.id.sequence + 1
        guard !entry.isPayloadMissing, entry.damage == nil else { continue }
        if let previous {
          interval = (
            max(1, (entry.pts ?? 0) - (previous.pts ?? 0)),
            max(1, entry.timestamp - previous.timestamp)
          )
        }
        previous = entry
        return entry
      }
      let range = nextSequence..<nextSequence + Self.pageRows
      page = try reader.entries(of: track.track, sequences: range)[...]
      if page.isEmpty, try !beginAgain() { return nil }
    }
  }

  private func beginAgain() throws -> Bool {
    // A complete round without a frame with pixels: repeating it would never end.
    guard repeats, let last = previous else { return false }
    let first = try reader.entries(of: track.track, sequences: 0..<1).first
    shift.pts += (last.pts ?? 0) - (first?.pts ?? 0) + interval.pts
    shift.nanoseconds += last.timestamp - (first?.timestamp ?? .zero) + interval.nanoseconds
    // The next round begins with an earlier time, so the difference across the seam is not an
    // interval.
    previous = nil
    nextSequence = 0
    return true
  }
}
