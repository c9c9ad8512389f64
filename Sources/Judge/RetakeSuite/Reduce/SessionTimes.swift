import RetakeBuffers
import RetakeCore
import RetakeSession

/// The presentation times of the frames that a case reads, and the spans between them.
struct SessionTimes {
  /// Without duplicates, rising; on the session's time line.
  let times: [Int64]
  /// By track, rising.
  private let frames: [Int: [(sequence: Int, time: Int64)]]
  /// The time of the first frame of any track, from which the offsets of a trim count.
  private let start: Int64

  init(_ reader: SessionReader, tracks: Set<Int>) throws {
    var frames: [Int: [(sequence: Int, time: Int64)]] = [:]
    var start = Int64.max
    for track in reader.tracks {
      let entries = try reader.entries(of: track.track, sequences: 0..<track.frameCount)
      start = min(start, entries.map(\.timestamp.nanoseconds).min() ?? .max)
      guard tracks.contains(track.track) else { continue }
      frames[track.track] = entries.map { ($0.id.sequence, $0.timestamp.nanoseconds) }
    }
    self.frames = frames
    self.start = start
    times = Set(frames.values.joined().map(\.time)).sorted()
  }

  /// The place of a frame's time among `times`.
  func index(of frame: FrameID) -> Int? {
    frames[frame.track]?.first { $0.sequence == frame.sequence }
      .flatMap { times.firstIndex(of: $0.time) }
  }

  /// The last place whose time is at most `nanoseconds` after the time of another.
  func index(_ nanoseconds: Int64, after place: Int) -> Int {
    times.lastIndex { $0 <= times[place] + nanoseconds } ?? place
  }

  /// The end is exclusive.
  func offsets(_ span: ClosedRange<Int>) -> Range<Duration> {
    .nanoseconds(times[span.lowerBound] - start)
      ..< .nanoseconds(times[span.upperBound] - start + 1)
  }

  /// Virtual time from the session's first frame that is read to the span's.
  func shift(of span: ClosedRange<Int>) -> Int64 { times[span.lowerBound] - times[0] }

  func seconds(_ span: ClosedRange<Int>) -> Double {
    Double(times[span.upperBound] - times[span.lowerBound]) / 1e9
  }

  /// By track, the sequence of the span's first frame; a trimmed session numbers its frames from it.
  func first(in span: ClosedRange<Int>, of tracks: Set<Int>) -> [Int: Int] {
    Dictionary(
      frames(in: span, of: tracks).map { ($0.track, $0.sequence) }, uniquingKeysWith: min)
  }

  /// The frames of a span.
  func frames(in span: ClosedRange<Int>, of tracks: Set<Int>) -> [FrameID] {
    let range = times[span.lowerBound]...times[span.upperBound]
    return frames.keys.sorted().filter { tracks.contains($0) }.flatMap { track in
      (frames[track] ?? []).filter { range.contains($0.time) }
        .map { FrameID(track: track, sequence: $0.sequence) }
    }
  }
}
