import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct RankingTests {
  private let ranking = FrameRanking(
    track: 0, timeBase: TimeBase(1, 1_000), durationNanoseconds: 40_000_000)

  private func packets(_ count: Int) -> [PacketRecord] {
    (0..<count).map {
      PacketRecord(
        track: 0, index: $0, segment: 0, ordinal: $0, pts: Int64($0) * 10, dts: nil, duration: 10,
        flags: [], size: 1, digest: .zero)
    }
  }

  private func fact(
    _ packet: Int, pts: Int64?, bestEffort: Int64? = nil, duration: Int64 = 0
  ) -> DecodedFact {
    DecodedFact(
      packet: packet, occurrence: 0, pts: pts, bestEffort: bestEffort, duration: duration,
      digest: .zero, shape: .init(width: 2, height: 2, format: .grey))
  }

  private func ranked(
    _ frames: [DecodedFact], refused: [(packet: Int, code: String, after: Int)] = []
  ) -> [FrameRecord] {
    ranking.rank(TrackFacts(frames: frames, refused: refused), packets: packets(20))
      .map(\.record)
  }

  @Test func `the sequence is the rank by time and then by the decoder's order`() {
    let rows = ranked([fact(0, pts: 20), fact(1, pts: 10), fact(2, pts: 20), fact(3, pts: -5)])

    #expect(rows.map(\.sequence) == [0, 1, 2, 3])
    #expect(rows.map(\.packet) == [3, 1, 0, 2])
    #expect(rows.map { $0.assumed.contains(.ptsBackwards) } == [true, true, false, false])
    #expect(rows.map { $0.assumed.contains(.ptsDuplicate) } == [false, false, false, true])
    #expect(rows.map(\.ptsNanoseconds) == [-5_000_000, 10_000_000, 20_000_000, 20_000_000])
  }

  @Test func `whatever times packets have, frames are in order of time and then of decoding`() {
    var random = SeededGenerator(seed: 31)
    let extremes: [Int64] = [.min, -1 << 60, 0, 1 << 60, .max]
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
      #expect(Set(rows.map(\.packet)).count == facts.count, "each frame once")
      for (row, next) in zip(rows, rows.dropFirst()) {
        #expect(
          (row.ptsNanoseconds, row.packet ?? -1) < (next.ptsNanoseconds, next.packet ?? -1))
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

    #expect(rows.map(\.ptsNanoseconds) == [0, 25, 100, 140, 500].map { $0 * 1_000_000 })
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
    var rows = packets(10)
    rows[4].flags = .key
    rows[7].flags = .key
    let finder = EntryFinder(
      table: NoPackets(), memory: PictureMemory(), packets: rows, damaged: [5])

    #expect(
      [0, 3, 4, 6, 7, 9].map { finder.keys[finder.key(atOrBefore: $0)] } == [0, 0, 4, 4, 7, 7])
    #expect(finder.damage(from: 4, through: 6) == 5)
    #expect(finder.damage(from: 6, through: 9) == nil)
    #expect(finder.damage(from: 0, through: 4) == nil)
  }
}

private struct NoPackets: PacketTable {
  var track: Int { 0 }
  func packet(_ index: Int) throws(SessionError) -> PacketRecord? { nil }
  func segment(_ index: Int) throws(SessionError) -> SegmentView {
    throw .noFrames(file: "none")
  }
}
