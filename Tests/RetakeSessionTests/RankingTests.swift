import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct RankingTests {
  private func packets(_ count: Int) -> PacketList {
    PacketList(
      (0..<count).map {
        PacketRecord(
          track: 0, index: $0, segment: 0, ordinal: $0, pts: Int64($0) * 10, dts: nil, duration: 10,
          flags: [], size: 1, digest: .zero)
      })
  }

  private func fact(
    _ packet: Int, pts: Int64?, bestEffort: Int64? = nil, duration: Int64 = 0
  ) -> DecodedFact {
    DecodedFact(
      packet: packet, shown: 0, pts: pts, bestEffort: bestEffort, duration: duration,
      digest: .zero, shape: .init(width: 2, height: 2, format: .gray))
  }

  private func rows(
    _ frames: [DecodedFact], refused: [(packet: Int, code: String, after: Int)] = [],
    timeBase: TimeBase = TimeBase(1, 1_000), packets count: Int = 20
  ) -> TrackRows {
    let facts = TrackFacts(frames: FactList(frames), refused: refused)
    let packets = packets(count)
    let ranking = FrameRanking(track: 0, timeBase: timeBase, durationNanoseconds: 40_000_000)
    return TrackRows(
      track: 0, packets: packets, facts: facts, timeline: ranking.rank(facts, packets: packets))
  }

  private func ranked(
    _ frames: [DecodedFact], refused: [(packet: Int, code: String, after: Int)] = []
  ) -> [FrameRecord] {
    let rows = rows(frames, refused: refused)
    return (0..<rows.frameCount).map(rows.frame)
  }

  /// The times in milliseconds of frames with these time stamps in milliseconds.
  private func times(_ stamps: [Int64?]) -> (times: [Int64], places: [TimePlace]) {
    let rows = rows(stamps.enumerated().map { fact($0, pts: $1) }, packets: stamps.count)
    return (
      (0..<rows.frameCount).map { rows.frame($0).ptsNanoseconds / 1_000_000 },
      rows.timeline.places
    )
  }

  private func place(
    _ kind: TimePlace.Kind, _ frame: Int, frames: Int = 1, milliseconds: Int64 = 0
  ) -> TimePlace {
    TimePlace(
      kind: kind, track: 0, frame: frame, frames: frames, nanoseconds: milliseconds * 1_000_000)
  }

  @Test func `the sequence is the decoder's order, and time continues where it goes back`() {
    let (times, places) = times([0, 40, 80, 120, 160, 0, 40, 80, 120, 160])

    #expect(times == [0, 40, 80, 120, 160, 200, 240, 280, 320, 360])
    #expect(places == [place(.back, 5, milliseconds: 160)])
  }

  @Test func `short stretches that begin again are not shuffled either`() {
    let (times, places) = times([0, 40, 80, 120, 0, 40, 80, 120, 0, 40, 80, 120])

    #expect(times == (0..<12).map { $0 * 40 })
    #expect(places.map(\.kind) == [.back, .back] && places.map(\.frame) == [4, 8])
  }

  @Test func `a frame that is late for a moment gets the time of the one before`() {
    let (times, places) = times([0, 40, 80, 60, 120, 160])

    #expect(times == [0, 40, 80, 80, 120, 160])
    #expect(places == [place(.late, 3)])
  }

  @Test func `a frame that was exchanged with one further behind does not move the later times`() {
    let (times, places) = times([0, 40, 80, 280, 160, 200, 240, 120, 320, 360])
    let (near, nearPlaces) = self.times([0, 40, 160, 120, 80, 200, 240])
    let text = "track 0: frame 3's time is out of order; it is counted from the frame before"

    #expect(times == [0, 40, 80, 120, 160, 200, 240, 240, 320, 360])
    #expect(places == [place(.odd, 3), place(.late, 7)] && places.first?.text == text)
    #expect(near == [0, 40, 80, 120, 120, 200, 240])
    #expect(nearPlaces == [place(.odd, 2), place(.late, 4)])
  }

  @Test func `a piece that begins shortly before the end of the last one follows it`() {
    let (times, places) = times([0, 40, 80, 120, 90, 100, 110, 120, 130])
    let (slow, slowPlaces) = self.times([0, 40, 80, 500, 0, 40, 80])

    #expect(times == [0, 40, 80, 120, 160, 170, 180, 190, 200])
    #expect(places == [place(.back, 4, milliseconds: 30)])
    #expect(slow == [0, 40, 80, 500, 540, 580, 620])
    #expect(slowPlaces == [place(.back, 4, milliseconds: 500)])
  }

  @Test func `a leap forward is kept and noted, and a single stray time is not believed`() {
    let (gap, gaps) = times([0, 40, 80, 60_080, 60_120])
    let (stray, strays) = times([0, 40, 900_000, 120, 160])
    let (short, none) = times([0, 40, 9_000, 9_040])

    #expect(gap == [0, 40, 80, 60_080, 60_120])
    #expect(gaps == [place(.gap, 3, milliseconds: 60_000)])
    #expect(stray == [0, 40, 80, 120, 160])
    #expect(strays == [place(.odd, 2)])
    #expect(short == [0, 40, 9_000, 9_040] && none.isEmpty)
  }

  @Test func `a 33-bit clock that begins again does not make a day of a minute`() throws {
    let wrap: Int64 = 1 << 33
    let stamps = [wrap - 7_200, wrap - 3_600, 2 * wrap - 90_000, 2 * wrap - 86_400]
    let facts = stamps.enumerated().map { fact($0, pts: $1) }

    let clock = rows(facts, timeBase: TimeBase(1, 90_000))
    let other = rows(facts, timeBase: TimeBase(1, 90_001))

    let times = (0..<4).map { clock.frame($0).ptsNanoseconds - clock.frame(0).ptsNanoseconds }
    #expect(times == [0, 40_000_000, 80_000_000, 120_000_000])
    #expect(clock.timeline.places.map(\.kind) == [.wrap])
    #expect(clock.timeline.places.map(\.frame) == [2])
    // Only 33-bit clocks wrap there.
    #expect(other.timeline.places.map(\.kind) == [.gap])
  }

  @Test func `first frames without a time are counted back from the first that has one`() {
    let (times, places) = times([nil, nil, nil, 1_000, 1_040])

    #expect(times == [880, 920, 960, 1_000, 1_040])
    #expect(places == [place(.missing, 0, frames: 3)])
  }

  @Test func `frames without a time lie between those that have one`() {
    let (times, places) = times([0, nil, nil, 60, 100])

    #expect(times == [0, 20, 40, 60, 100])
    #expect(places == [place(.missing, 1, frames: 2)])
  }

  @Test func `whatever times packets have, frames keep their order and time never goes back`() {
    var random = SeededGenerator(seed: 31)
    let extremes: [Int64] = [.min + 1, -1 << 60, 0, 1 << 60, .max]
    var doubled = 0
    for number in 0..<10_000 {
      var last: Int64 = 0
      let facts = (0..<random.pick(1...16)).map { packet -> DecodedFact in
        let pts: Int64? =
          switch random.pick(0...8) {
          case 0: nil
          case 1: random.pick(extremes)
          case 2, 3: last
          default: Int64(random.pick(-200...2_000))
          }
        last = pts ?? last
        return fact(
          packet, pts: pts, bestEffort: random.chance(50) ? Int64(packet) * 10 : nil,
          duration: random.chance(20) ? .max : Int64(random.pick(0...40)))
      }
      let rows = ranked(facts)
      #expect(rows.map(\.sequence) == Array(facts.indices), "case \(number)")
      #expect(rows.map(\.packet) == facts.map(\.packet), "in the decoder's order")
      for (row, next) in zip(rows, rows.dropFirst()) {
        #expect(row.ptsNanoseconds <= next.ptsNanoseconds, "case \(number)")
        let isDouble = row.ptsNanoseconds == next.ptsNanoseconds
        #expect(next.assumed.contains(.ptsDuplicate) == isDouble)
        if isDouble { doubled += 1 }
      }
      #expect(rows == ranked(facts), "the same each time")
    }
    #expect(doubled > 1_000)
    print("faults | 13 | bad or duplicate pts | 10000 cases | \(doubled) doubles, 0 out of order")
  }

  @Test func `a missing time is guessed and the guess is marked`() {
    let rows = ranked([
      fact(0, pts: nil), fact(1, pts: nil, duration: 25), fact(2, pts: nil, bestEffort: 100),
      fact(3, pts: nil), fact(4, pts: 500),
    ])

    #expect(rows.map(\.ptsNanoseconds) == [35, 60, 100, 140, 500].map { $0 * 1_000_000 })
    #expect(rows.map(\.pts) == [nil, nil, nil, nil, 500])
    #expect(
      rows.map { $0.assumed.subtracting(.arrival) } == [
        .ptsFromDuration, .ptsFromDuration, .ptsBestEffort, .ptsFromDuration, [],
      ])
    #expect(rows.allSatisfy { $0.assumed.contains(.arrival) })
  }

  @Test func `a refused packet keeps its place as a frame without pixels`() {
    let rows = ranked(
      [fact(0, pts: 0), fact(1, pts: 10), fact(3, pts: 30)],
      refused: [(packet: 2, code: "media.decode.refused", after: 2)])

    #expect(rows.map(\.packet) == [0, 1, 2, 3])
    #expect(rows.map(\.cause) == [nil, nil, "media.decode.refused", nil])
    #expect(rows[2].ptsNanoseconds == 20_000_000)
  }

  @Test func `a note about one frame is in the singular`() {
    let causes = [
      "media.reference.missing", "media.slice.missing", "media.picture.misplaced",
      FrameCause.reported,
    ]
    let notes = causes.map { cause in
      var rows = rows((0..<6).map { fact($0, pts: Int64($0) * 40) })
      for frame in [1, 3, 4] { rows.settle(frame, entry: 0, cause: cause) }
      return rows.damageNotes
    }
    #expect(
      notes == [
        [
          "frame 0:1 refers to a picture that is not in the stream (media.reference.missing)",
          "frames 0:3 to 0:4 (2) refer to a picture that is not in the stream "
            + "(media.reference.missing)",
        ],
        [
          "frame 0:1 has slices missing, or refers to a picture that has (media.slice.missing)",
          "frames 0:3 to 0:4 (2) have slices missing, or refer to a picture that has "
            + "(media.slice.missing)",
        ],
        [
          "frame 0:1 shows a picture that belongs at another time (media.picture.misplaced)",
          "frames 0:3 to 0:4 (2) show a picture that belongs at another time "
            + "(media.picture.misplaced)",
        ],
        [
          "frame 0:1 is damaged, as the decoder reports (media.decode.reported)",
          "frames 0:3 to 0:4 (2) are damaged, as the decoder reports (media.decode.reported)",
        ],
      ])
  }

  @Test func `a refused packet is placed by its time among pictures that come later`() {
    let rows = ranked(
      [fact(0, pts: 0), fact(1, pts: 10), fact(3, pts: 30), fact(4, pts: 40)],
      refused: [(packet: 2, code: "media.decode.refused", after: 0)])

    #expect(rows.map(\.packet) == [0, 1, 2, 3, 4])
  }

  @Test func `a packet that was refused and still gave a picture is one frame`() {
    let rows = ranked(
      [fact(0, pts: 0), fact(1, pts: 10)],
      refused: [(packet: 1, code: "media.decode.refused", after: 1)])

    #expect(rows.count == 2)
  }

  @Test func `chains begin at frames that stand alone and are not too short`() {
    let plan = ChainPlan(first: 5, entries: [0, 4, 8, 12, 30, 31], framesPerChain: 8)

    #expect(plan.count == 3)
    #expect([0, 7, 8, 29, 30, 1_000].map(plan.chain) == [5, 5, 6, 6, 7, 7])
    #expect(ChainPlan(first: 0, entries: [], framesPerChain: 8).count == 1)
  }

  @Test func `the key before a packet is found`() {
    var rows = Array(packets(10))
    rows[4].flags = .key
    rows[7].flags = .key
    let finder = EntryFinder(
      table: NoPackets(), memory: ImageMemory(), packets: PacketList(rows), damaged: [5])

    #expect(
      [0, 3, 4, 6, 7, 9].map { finder.keys[finder.key(atOrBefore: $0)] } == [0, 0, 4, 4, 7, 7])
    #expect(finder.damage(from: 4, through: 6) == 5)
    #expect(finder.damage(from: 6, through: 9) == nil)
    #expect(finder.damage(from: 0, through: 4) == nil)
  }
}

private struct NoPackets: PacketTable {
  var track: Int { 0 }
  func packet(_ index: Int) throws -> PacketRecord? { nil }
  func segment(_ index: Int) throws -> SegmentView {
    throw SessionError.noFrames(file: "none")
  }
}
