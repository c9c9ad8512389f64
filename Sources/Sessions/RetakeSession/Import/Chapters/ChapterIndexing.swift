import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore

/// Makes the rows of one recording whose chapters are several media files.
///
/// Each file is a segment. The times of its packets, and with them of its frames, are moved to the
/// place of the file on the recording's time line.
struct ChapterIndexing {
  private let chapters: [Chapter]
  private let overlap: ImportOptions.Overlap
  private let report: @Sendable (ImportProgress) -> Bool
  /// By track, of all its chapters.
  private let timeBases: [TimeBase]

  /// A file that continues the previous file.
  struct Boundary: Hashable {
    /// The first frame of the file, in the first track.
    var frame: Int
    /// Since the first frame of the session, as `session trim` counts.
    var nanoseconds: Int64
    /// Frames that are the last frames of the file before again.
    var repeated: Int
    var link: ChapterLink
  }

  struct Rows {
    var tracks: [(MediaStream, TrackRows)] = []
    /// From the second chapter on.
    var boundaries: [Boundary] = []
    /// By chapter, how far its times are moved, in nanoseconds.
    var moves: [Int64] = []
    /// By chapter, its samples before this time repeat the chapter before.
    var starts: [Int64?] = []
    /// By chapter, whether it begins where the chapter before ends.
    var continues: [Bool] = []
    /// By chapter, packets of the first track before its first good image, which depend on images
    /// of the chapter before.
    var cut: [Cut] = []
  }

  struct Cut {
    var packets = 0
    /// Whether the packets decode to images, which are wrong.
    var hasImages = false
  }

  /// - Throws: `SessionError` if the files are not chapters of one recording.
  init(
    _ chapters: [Chapter], overlap: ImportOptions.Overlap,
    report: @escaping @Sendable (ImportProgress) -> Bool
  ) throws {
    (self.chapters, self.overlap, self.report) = (chapters, overlap, report)
    timeBases = chapters[0].streams.indices.map { Self.timeBase(of: chapters.map(\.streams), $0) }
    for (place, chapter) in chapters.enumerated() {
      try requireLike(chapter)
      try requireNew(place)
    }
  }

  /// Chapters have the same tracks, which players show in the same way.
  private func requireLike(_ chapter: Chapter) throws {
    let first = chapters[0]
    guard chapter.streams.count == first.streams.count else {
      throw ErrorFacts.chapterTracks(chapter, first: first)
    }
    for (one, other) in zip(first.streams, chapter.streams) where one.isMirrored != other.isMirrored
    {
      throw ErrorFacts.chapterMirrored(chapter, first: first)
    }
  }

  /// Files with the same packets are the same video, whatever their names and containers are.
  private func requireNew(_ place: Int) throws {
    func digests(_ chapter: Chapter) -> some Collection<Digest128> {
      chapter.packets(0).lazy.map(\.digest)
    }
    let own = digests(chapters[place])
    for earlier in chapters[..<place]
    where earlier.packets(0).count == own.count && digests(earlier).elementsEqual(own) {
      throw ErrorFacts.chapterTwice(chapters[place].source, earlier: earlier.source)
    }
  }

  /// The unit of the times of a track: the unit of its files, or nanoseconds if the units differ.
  private static func timeBase(of streams: [[MediaStream]], _ track: Int) -> TimeBase {
    let units = Set(streams.compactMap { $0.indices.contains(track) ? $0[track].timeBase : nil })
    return units.count == 1 ? streams[0][track].timeBase : TimeBase(1, 1_000_000_000)
  }

  func run() throws -> Rows {
    let shift = TimeShift(chapters[0].streams, packets: chapters[0].findings.packets)
    var clock = ChapterClock(chapters, timeBases: timeBases, shift: shift)
    let memory = ImageMemory()
    var (result, repeated) = (Rows(), [Int]())
    for track in timeBases.indices {
      var indexing = self.indexing(track, memory)
      var facts = try indexing.decode()
      try requireFrames(facts, of: indexing)
      if track == 0 {
        repeated = try self.repeated(facts.frames, indexing.packets)
        result.cut = cut(facts, indexing.packets, clock)
        if overlap == .once { skip(repeated, of: facts.frames, indexing.packets, &clock) }
      }
      let dropped =
        overlap == .once
        ? self.dropped(track, repeated, facts.frames, indexing.packets, clock) : []
      indexing.move(clock.moves(in: timeBases[track]), &facts)
      result.tracks.append((indexing.stream, try indexing.rows(of: facts, without: dropped)))
    }
    result.moves = clock.nanoseconds
    result.starts = chapters.indices.map {
      repeated[$0] > 0 && overlap == .once ? clock.start(of: $0) : nil
    }
    result.continues = chapters.indices.map {
      $0 > 0 && repeated[$0] == 0 && !clock.links[$0 - 1].isGap
    }
    let start = result.tracks.compactMap { $0.1.timeline.frames.first?.nanoseconds }.min() ?? 0
    result.boundaries = boundaries(result.tracks[0].1, clock, repeated, start: start)
    return result
  }

  private func indexing(_ track: Int, _ memory: ImageMemory) -> TrackIndexing {
    let base = timeBases[track]
    var (views, packets) = ([Int: SegmentView](), PacketList())
    for (number, chapter) in chapters.enumerated() {
      var stream = chapter.streams[track]
      packets.append(
        chapter.packets(track), track: chapters[0].streams[track].index, segment: number
      ) { ChapterClock.convert($0, from: stream.timeBase, to: base) }
      stream.timeBase = base
      views[number] = SegmentView(file: chapter.file, stream: stream)
    }
    var first = chapters[0].streams[track]
    first.timeBase = base
    return TrackIndexing(
      track: first.index, stream: first, views: views, packets: packets, memory: memory,
      report: report)
  }

  /// A file of which no frame can be decoded is no chapter.
  private func requireFrames(_ facts: TrackFacts, of indexing: TrackIndexing) throws {
    let good = facts.frames.indices.map { facts.frames.packet($0) }
      .filter { !facts.headers.opening.contains($0) }
    let found = Set(good.map { indexing.packets.segment($0) })
    guard let empty = chapters.indices.first(where: { !found.contains($0) }) else { return }
    let hasKey = indexing.packets.indices.contains {
      indexing.packets.segment($0) == empty && indexing.packets.flags($0).contains(.key)
    }
    guard hasKey else {
      throw ErrorFacts.chapterWithoutKeyFrame(chapters[empty], all: chapters)
    }
    throw SessionError.noFrames(file: chapters[empty].source)
  }

  private func cut(_ facts: TrackFacts, _ packets: PacketList, _ clock: ChapterClock) -> [Cut] {
    var first = [Int](repeating: .max, count: chapters.count)
    let opening = facts.headers.opening
    var hasImages: Set<Int> = []
    for packet in facts.frames.indices.map({ facts.frames.packet($0) })
      + facts.refused.map(\.packet)
    {
      let place = packets.segment(packet)
      if opening.contains(packet) {
        hasImages.insert(place)
      } else {
        first[place] = min(first[place], packet)
      }
    }
    return chapters.indices.map { place in
      // Without continuing times, the file may belong to another recording.
      guard place > 0, clock.links[place - 1].evidence == .times else { return Cut() }
      return Cut(
        packets: packets.indices.count { packets.segment($0) == place && $0 < first[place] },
        hasImages: hasImages.contains(place))
    }
  }

  // MARK: Frames that repeat

  /// By chapter, how many of its first frames are the last frames of the chapter before.
  private func repeated(_ facts: FactList, _ packets: PacketList) throws -> [Int] {
    var digests = [[Digest128?]](repeating: [], count: chapters.count)
    for fact in facts {
      digests[packets.segment(fact.packet)].append(fact.damage == nil ? fact.digest : nil)
    }
    return try chapters.indices.map { place in
      guard place > 0 else { return 0 }
      let count = ChapterOverlap.frames(digests[place - 1], digests[place])
      guard overlap == .keep || count < digests[place].count else {
        throw ErrorFacts.chapterTwice(
          chapters[place].source, earlier: chapters[place - 1].source)
      }
      return count
    }
  }

  /// Lets each chapter begin at its first new frame.
  private func skip(
    _ repeated: [Int], of facts: FactList, _ packets: PacketList, _ clock: inout ChapterClock
  ) {
    for (chapter, count) in repeated.enumerated() where count > 0 {
      let own = facts.lazy.filter { packets.segment($0.packet) == chapter }.dropFirst(count)
      guard let first = own.first, let time = first.pts ?? first.bestEffort else { continue }
      clock.begin(chapter, at: time)
    }
  }

  /// The images that repeat: of the first track by their number, of others by their times.
  private func dropped(
    _ track: Int, _ repeated: [Int], _ facts: FactList, _ packets: PacketList,
    _ clock: ChapterClock
  ) -> Set<Int> {
    var dropped: Set<Int> = []
    var met = [Int](repeating: 0, count: chapters.count)
    for place in facts.indices {
      let fact = facts[place]
      let chapter = packets.segment(fact.packet)
      guard repeated[chapter] > 0 else { continue }
      met[chapter] += 1
      let isEarly =
        track == 0
        ? met[chapter] <= repeated[chapter]
        : isBefore(clock, chapter, fact.pts ?? fact.bestEffort, track)
      if isEarly { dropped.insert(place) }
    }
    return dropped
  }

  private func isBefore(
    _ clock: ChapterClock, _ chapter: Int, _ time: Int64?, _ track: Int
  ) -> Bool {
    guard let time, let start = clock.start(of: chapter) else { return false }
    let moved = time &+ clock.moves(in: timeBases[track])[chapter]
    return Timestamp(pts: moved, timeBase: timeBases[track]).map { $0.nanoseconds < start } ?? false
  }

  private func boundaries(
    _ rows: TrackRows, _ clock: ChapterClock, _ repeated: [Int], start: Int64
  ) -> [Boundary] {
    rows.parts.indices.dropFirst().compactMap { place in
      let part = rows.parts[place]
      guard part.file != rows.parts[place - 1].file, let frame = rows.firstFrame(of: part) else {
        return nil
      }
      return Boundary(
        frame: frame, nanoseconds: rows.timeline.frames[frame].nanoseconds &- start,
        repeated: repeated[part.file], link: clock.links[part.file - 1])
    }
  }
}
