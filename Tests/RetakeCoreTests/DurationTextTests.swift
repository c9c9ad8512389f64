import RetakeCore
import Testing

@Suite struct DurationTextTests {
  @Test func `a duration is a decimal number and a unit`() {
    let cases: [(text: String, nanoseconds: Int64)] = [
      ("45ms", 45_000_000), ("1.5s", 1_500_000_000), ("250us", 250_000), ("800ns", 800),
      ("0s", 0), ("0.000000001s", 1), ("0.5ns", 1), ("0.4ns", 0), ("2.5ns", 3),
      ("007ms", 7_000_000), ("0.033333333s", 33_333_333),
      ("999999999.999999999s", 999_999_999_999_999_999), ("1000000000ns", 1_000_000_000),
      ("999999999999999999ns", 999_999_999_999_999_999),
      ("123456789012ms", 123_456_789_012_000_000),
    ]
    for example in cases {
      #expect(Duration(parsing: example.text)?.nanoseconds == example.nanoseconds, "\(example)")
    }
  }

  @Test(arguments: [
    "", "ms", "45", "45 ms", "-45ms", "+45ms", "4_5ms", "45m", "45MS", ".5s", "5.s", "1.2.3s",
    "1e3ms", "1234567890s", "1234567890123456789ns", "0.0333333335s", "٤٥ms", "∞s", "45ms ", "½s",
  ])
  func `any other text is no duration`(text: String) {
    #expect(Duration(parsing: text) == nil)
  }

  @Test func `the text is the shortest exact one and reads back the same`() {
    let texts: [(Int64, String)] = [
      (45_000_000, "45ms"), (1_500_000_000, "1500ms"), (2_000_000_000, "2s"), (0, "0s"),
      (33_333_333, "33333333ns"), (250_000, "250us"), (1_000, "1us"), (999, "999ns"),
      (999_999_999, "999999999ns"), (1_000_000_001, "1.000000001s"), (1_000_001_000, "1000001us"),
      (3_596_017_666_667, "3596.017666667s"), (1_000_000_001_000, "1000.000001s"),
    ]
    for (nanoseconds, text) in texts {
      #expect(Duration.nanoseconds(nanoseconds).unitText == text)
      #expect(Duration(parsing: text)?.nanoseconds == nanoseconds)
    }
  }

  @Test func `attoseconds are rounded to nanoseconds, half away from zero, and clamped`() {
    func parts(_ attoseconds: Int64) -> Int64 {
      Duration(secondsComponent: 0, attosecondsComponent: attoseconds).nanoseconds
    }
    #expect(parts(499_999_999) == 0)
    #expect(parts(500_000_000) == 1)
    #expect(parts(-500_000_000) == -1)
    #expect(parts(1_500_000_000) == 2)
    #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    #expect(Duration.seconds(Int64.min).nanoseconds == .min)
  }
}
