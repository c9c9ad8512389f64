import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// Sources with invalid times: missing, duplicated, backwards, out of range.
@Suite struct TimeFaultTests {
  private static let cases = 10_000
  private static let extremes: [Int64] = [
    .min, .min + 1, -1 << 61, -1 << 60, 1 << 60, 1 << 61, .max,
  ]

  /// A time as cameras deliver it, and as they should not.
  private func time(_ random: inout SeededGenerator, after last: Int64) -> Int64? {
    switch random.pick(0...9) {
    case 0: nil
    case 1: last
    case 2: last &- Int64(random.pick(0...2_000_000_000))
    case 3: random.pick(Self.extremes)
    default: last &+ Int64(random.pick(1...100_000_000))
    }
  }

  @Test func `whatever times a live source gives, its frames keep their order of capture`() {
    var random = SeededGenerator(seed: 13)
    var frames = 0
    for _ in 0..<Self.cases {
      var line = LiveTimeline(timeBase: TimeBase(1, 90_000))
      var container = ContainerTimeline()
      var keys = KeySchedule()
      var segments = SegmentStateMachine(
        limits: .init(bytesMax: 1 << 30, nanosecondsMax: 10_000_000_000))
      var session = SessionTimeline(pace: .realtime)
      var (arrival, connection, last, written) = (Int64(0), 0, Int64(0), Int64(-1))
      var arrivals: [Int64] = []
      for _ in 0..<random.pick(1...24) {
        arrival += Int64(random.pick(0...50_000_000))
        if random.chance(5) { connection += 1 }
        let given = time(&random, after: last)
        last = given ?? last
        let place = line.place(
          nanoseconds: given, pts: given, connection: connection, arrival: arrival)
        #expect(abs(place.nanoseconds) <= 2 * LiveTimeline.range.upperBound)
        let milliseconds = container.milliseconds(atNanoseconds: place.nanoseconds)
        #expect(milliseconds > written, "the container's times rise")
        #expect(milliseconds - written <= ContainerTimeline.leapMillisecondsMax + 1)
        written = milliseconds
        arrivals.append(
          session.arrival(of: Timestamp(nanoseconds: place.nanoseconds), now: arrival))
        let isKey = keys.wantsKey(atNanoseconds: given ?? 0)
        if isKey { keys.keyMade(atNanoseconds: given ?? 0) }
        let action = segments.packet(
          epoch: 0, shape: "", isKey: isKey, timeNanoseconds: given ?? 0, bytes: 0)
        if case .open(let reason) = action {
          _ = segments.opened(epoch: 0, timeNanoseconds: given ?? 0, reason: reason)
        }
        _ = session.dueNanoseconds(Timestamp(nanoseconds: given ?? 0), now: arrival)
        frames += 1
      }
      #expect(arrivals == arrivals.sorted())
    }
    #expect(frames > Self.cases)
    print(
      "faults | 13 | bad times of a live source | \(Self.cases) cases | \(frames) frames in order")
  }

  @Test func `a connection whose first frame has no time is placed by its second`() {
    var line = LiveTimeline(timeBase: TimeBase(1, 1_000))
    let second: Int64 = 1_000_000_000
    _ = line.place(nanoseconds: 5 * second, pts: 5_000, connection: 0, arrival: 0)
    let first = line.place(nanoseconds: nil, pts: nil, connection: 1, arrival: 3 * second)
    let next = line.place(nanoseconds: 0, pts: 0, connection: 1, arrival: 4 * second)
    #expect(first.nanoseconds == 8 * second && next.nanoseconds == 9 * second)
    #expect(next.pts == 9_000)
  }
}
