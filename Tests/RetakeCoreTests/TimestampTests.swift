import Testing

@testable import RetakeCore

@Suite struct TimestampTests {
  @Test func `presentation times become nanoseconds, nearest, half away from zero`() {
    let halves = TimeBase(1, 2_000_000_000)
    let cases: [(pts: Int64, base: TimeBase, nanoseconds: Int64)] = [
      (0, TimeBase(1, 30), 0),
      (1, TimeBase(1, 3), 333_333_333),
      (2, TimeBase(1, 3), 666_666_667),
      (-1, TimeBase(1, 3), -333_333_333),
      (-2, TimeBase(1, 3), -666_666_667),
      (1, halves, 1), (-1, halves, -1), (3, halves, 2), (-3, halves, -2), (2, halves, 1),
      (1_001, TimeBase(1, 30_000), 33_366_667),
      (27, TimeBase(1, 30), 900_000_000),
      (5, TimeBase(1_001, 30_000), 166_833_333),
      (9_223_372_036, TimeBase(1, 1), 9_223_372_036_000_000_000),
      (Int64.max, TimeBase(1, 1_000_000_000), Int64.max),
      (Int64.min, TimeBase(1, 1_000_000_000), Int64.min),
    ]
    for example in cases {
      #expect(
        Timestamp(pts: example.pts, timeBase: example.base)?.nanoseconds == example.nanoseconds,
        "\(example)")
    }
  }

  @Test func `a time that does not fit is none`() {
    let cases: [(pts: Int64, base: TimeBase)] = [
      (.max, TimeBase(1, 1)), (.min, TimeBase(1, 1)), (.max, TimeBase(.max, 1)),
      (.min, TimeBase(.max, 1)), (9_223_372_037, TimeBase(1, 1)),
      (.max, TimeBase(1, 999_999_999)),
    ]
    for example in cases {
      #expect(Timestamp(pts: example.pts, timeBase: example.base) == nil, "\(example)")
    }
  }

  @Test func `division rounds to the nearest, half away from zero`() {
    for divisor in 1...9 as ClosedRange<Int128> {
      for value in -60...60 as ClosedRange<Int128> {
        let result = divideToNearest(value, by: divisor)
        let error = 2 * (value - result * divisor).magnitude
        #expect(error <= divisor.magnitude, "\(value) / \(divisor)")
        if error == divisor.magnitude {
          #expect(result.magnitude * divisor.magnitude > value.magnitude, "\(value) / \(divisor)")
        }
      }
    }
  }

  @Test func `times are ordered and moved by nanoseconds`() {
    let early = Timestamp(nanoseconds: -5)
    #expect(early < .zero)
    #expect(early + 7 == Timestamp(nanoseconds: 2))
    #expect(early - 7 == Timestamp(nanoseconds: -12))
    #expect(Timestamp.zero - early == 5)
  }

  @Test func `a time base is a positive fraction in two numbers`() {
    #expect(TimeBase(parsing: "1/30000") == TimeBase(1, 30_000))
    #expect(TimeBase(1_001, 30_000).description == "1001/30000")
    for text in [
      "", "1", "1/", "/3", "0/3", "1/0", "-1/3", "1/-3", "1/2/3", "1.0/3", "1/2147483648",
    ] {
      #expect(TimeBase(parsing: text) == nil, "\(text)")
    }
  }

  @Test func `frames are ordered by track, then sequence`() {
    let rising = [(0, 0), (0, 9), (0, 10), (1, 0), (2, 5)]
      .map { FrameID(track: $0.0, sequence: $0.1) }
    #expect(rising.reversed().sorted() == rising)
    #expect(rising[2].description == "0:10")
  }
}
