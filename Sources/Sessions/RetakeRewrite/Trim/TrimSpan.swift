import Foundation
import RetakeCore
import RetakeSession

/// The frames of a session that are in a span of its time.
struct TrimSpan {
  struct Track: Hashable {
    var track: Int
    var sequences: ClosedRange<Int>
  }

  let tracks: [Track]
  /// On the session's time line; the end is exclusive.
  let times: Range<Int64>
  /// The time of the first frame that is kept.
  let origin: Int64
  let durationNanoseconds: Int64

  var frameCount: Int { tracks.reduce(0) { $0 + $1.sequences.count } }

  /// - Parameter kept: The tracks to keep; nil means all. The offsets count from the first frame of
  ///   any track.
  init(_ reader: SessionReader, from: Duration, to: Duration?, of kept: Set<Int>?) throws {
    let store = reader.index.store
    let counts = try reader.index.tracks.map { ($0, try store.counts(track: $0)) }
    let start = counts.compactMap(\.1.firstNanoseconds).min() ?? 0
    let end = counts.compactMap(\.1.lastNanoseconds).max() ?? 0
    let lower = Self.time(from, after: start)
    let upper = to.map { Self.time($0, after: start) } ?? .max
    guard lower < upper else {
      throw SessionError.emptySpan(session: reader.folder.path, durationNanoseconds: end &- start)
    }
    times = lower..<upper
    var tracks: [Track] = []
    var (first, last) = (Int64.max, Int64.min)
    for (track, _) in counts where kept?.contains(track) != false {
      guard let found = try store.sequences(track: track, nanoseconds: times) else { continue }
      tracks.append(Track(track: track, sequences: found.sequences))
      (first, last) = (min(first, found.first), max(last, found.last))
    }
    guard !tracks.isEmpty else {
      throw SessionError.emptySpan(session: reader.folder.path, durationNanoseconds: end &- start)
    }
    self.tracks = tracks
    origin = first
    durationNanoseconds = last &- first
  }

  /// The last or first possible time for an offset that leads beyond it: wrapped, a very late time
  /// would be before the session's start.
  private static func time(_ offset: Duration, after start: Int64) -> Int64 {
    let (time, isBeyond) = start.addingReportingOverflow(offset.nanoseconds)
    guard isBeyond else { return time }
    return offset < .zero ? .min : .max
  }
}
