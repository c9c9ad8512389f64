import RetakeCore
import RetakeMedia
import RetakeStore

/// Where the chapters of a recording are on its time line: each begins where the previous chapter ends,
/// after the gap that the files themselves show.
///
/// Places are counted in ticks of the first track, so that no rounding adds up over the chapters.
struct ChapterClock: Sendable {
  let timeBase: TimeBase
  /// By chapter, from the second on.
  private(set) var links: [ChapterLink]
  /// How far the first chapter's times are moved.
  private let origin: Int64
  /// By chapter: the first and the end of its times; nil without times.
  private var spans: [Range<Int64>?]
  /// The duration of the chapters without times.
  private let counted: [Int64]

  /// - Parameters:
  ///   - timeBases: By track, of all its chapters.
  ///   - shift: How far the first chapter's times are moved back.
  init(_ chapters: [Chapter], timeBases: [TimeBase], shift: TimeShift) {
    let base = timeBases[0]
    let step = chapters[0].streams.first.map(TrackIndexing.frameDuration) ?? 0
    spans = chapters.map { Self.span(of: $0, in: base) { $0.pts ?? $0.dts } }
    counted = chapters.map {
      Timestamp(nanoseconds: step * Int64($0.packets(0).count)).pts(in: base)
    }
    timeBase = base
    origin = -(Timestamp(nanoseconds: shift.clamped).pts(in: base))
    let times = spans.map { $0.map { Self.nanoseconds($0, base) } }
    let decoding = chapters.map {
      Self.span(of: $0, in: base) { $0.dts ?? $0.pts }.map { Self.nanoseconds($0, base) }
    }
    links = chapters.indices.dropFirst().map {
      ChapterLink(
        chapters[$0 - 1], chapters[$0], (times[$0 - 1], times[$0]),
        decoding: (decoding[$0 - 1], decoding[$0]), step: step)
    }
  }

  /// How far the times of each chapter are moved, in ticks of `timeBase`.
  var moves: [Int64] {
    var moves: [Int64] = []
    var end = origin
    for (place, span) in spans.enumerated() {
      let gap =
        place == 0
        ? 0 : Timestamp(nanoseconds: links[place - 1].gapNanoseconds).pts(in: timeBase)
      let move = place == 0 ? origin : end &+ gap &- (span?.lowerBound ?? 0)
      moves.append(move)
      end = (span?.upperBound ?? counted[place]) &+ move
    }
    return moves
  }

  /// The moves in another unit.
  func moves(in other: TimeBase) -> [Int64] {
    guard other != timeBase else { return moves }
    return moves.map { Self.convert($0, from: timeBase, to: other) }
  }

  /// The moves in nanoseconds.
  var nanoseconds: [Int64] {
    moves.map { Timestamp(pts: $0, timeBase: timeBase)?.nanoseconds ?? 0 }
  }

  /// Lets a chapter begin at a later frame, whose own time is `start`.
  mutating func begin(_ chapter: Int, at start: Int64) {
    guard let span = spans[chapter], span.contains(start) else { return }
    spans[chapter] = start..<span.upperBound
    // Frames that repeat leave no gap, whatever other evidence says.
    links[chapter - 1].gapNanoseconds = 0
  }

  /// The time from which on a chapter is used, on the recording's time line.
  func start(of chapter: Int) -> Int64? {
    spans[chapter].flatMap {
      Timestamp(pts: $0.lowerBound &+ moves[chapter], timeBase: timeBase)?.nanoseconds
    }
  }

  private static func nanoseconds(_ span: Range<Int64>, _ base: TimeBase) -> Range<Int64> {
    func time(_ ticks: Int64) -> Int64 {
      Timestamp(pts: ticks, timeBase: base)?.nanoseconds ?? 0
    }
    return time(span.lowerBound)..<max(time(span.lowerBound), time(span.upperBound))
  }

  static func convert(_ ticks: Int64, from base: TimeBase, to other: TimeBase) -> Int64 {
    Int64(
      clamping: divideToNearest(
        Int128(ticks) * Int128(base.numerator) * Int128(other.denominator),
        by: Int128(base.denominator) * Int128(other.numerator)))
  }

  /// From the first time of a chapter's shown packets to the end of the last, over all tracks.
  private static func span(
    of chapter: Chapter, in base: TimeBase, by time: (PacketRecord) -> Int64?
  ) -> Range<Int64>? {
    var span: Range<Int64>?
    for (track, stream) in chapter.streams.enumerated() {
      let packets = chapter.packets(track)
      let step = Timestamp(nanoseconds: TrackIndexing.frameDuration(stream)).pts(
        in: stream.timeBase)
      for place in packets.indices where !packets.flags(place).contains(.discard) {
        let packet = packets[place]
        guard let time = time(packet) else { continue }
        let length = packet.duration > 0 ? packet.duration : step
        let start = convert(time, from: stream.timeBase, to: base)
        let end = max(start, convert(time &+ length, from: stream.timeBase, to: base))
        span = span.map { min($0.lowerBound, start)..<max($0.upperBound, end) } ?? start..<end
      }
    }
    return span
  }
}
