import RetakeCore
import Testing

@Suite struct DecimalRatioTests {
  @Test(arguments: [
    ("0", 0), ("2", 2_000_000), ("2.0", 2_000_000), ("3.25", 3_250_000), ("0.000001", 1),
    ("1000", 1_000_000_000), ("1.333333", 1_333_333),
  ])
  func `a decimal is the exact number of millionths`(text: String, millionths: Int64) throws {
    #expect(try #require(DecimalRatio(parsing: text)).millionths == millionths)
  }

  @Test(arguments: [
    "", ".", "1.", ".5", "-1", "+1", "1e3", "1.0000001", "1000.1", "1001", "1 ", "٣", "1,5",
    "1.2.3",
    "99999999999999999999",
  ])
  func `anything else is no ratio`(text: String) {
    #expect(DecimalRatio(parsing: text) == nil)
  }

  @Test(arguments: ["0", "1", "2.5", "0.000001", "999.999999", "1.300001"])
  func `a ratio is written as the shortest decimal, and reads back`(text: String) throws {
    let ratio = try #require(DecimalRatio(parsing: text))
    #expect("\(ratio)" == text)
    #expect(DecimalRatio(parsing: "\(ratio)00".contains(".") ? text : "\(text).0") == ratio)
  }

  @Test
  func `a document's number is the decimal that was written, not its nearest fraction of two`()
    throws
  {
    for text in ["0.1", "1.3", "3.5", "0.7", "2", "999.999999", "0.0001"] {
      let json = try JSONValue(parsing: .init(text.utf8))
      #expect(try #require(DecimalRatio(json)).description == text)
    }
    #expect(DecimalRatio(JSONValue.number(-0.5)) == nil)
    #expect(DecimalRatio(JSONValue.number(.nan)) == nil)
    #expect(DecimalRatio(JSONValue.string("2")) == nil)
  }

  private func scale(_ value: Int64, _ texts: [String], limit: Int64 = .max) -> Int64 {
    let ratios = texts.compactMap { DecimalRatio(parsing: $0) } + [.one, .one, .one]
    return DecimalRatio.scale(value, by: ratios[0], ratios[1], ratios[2], atMost: limit)
  }

  @Test func `scaling rounds once, to the nearest, half away from zero`() {
    #expect(scale(45_000_000, ["3.5"]) == 157_500_000)
    #expect(scale(3, ["0.5"]) == 2)
    #expect(scale(1, ["0.499999"]) == 0)
    // Rounded in two steps it would be 2 × 0.75 → 2 → 1.
    #expect(scale(3, ["0.5", "0.3"]) == 0)
    #expect(scale(7, []) == 7)
    #expect(scale(7, ["0"]) == 0)
  }

  @Test func `what is too large is the limit, also beyond 127 bits`() {
    let hour: Int64 = 3_600_000_000_000
    #expect(scale(hour, ["1000"], limit: hour) == hour)
    #expect(scale(.max, ["1000", "1000", "1000"]) == .max)
    #expect(scale(.max, ["1000", "1000", "0"]) == 0)
    #expect(scale(hour, ["1000", "1000", "0.000001"], limit: hour) == hour)
    #expect(scale(hour, ["1000", "0.001", "0.5"], limit: hour) == hour / 2)
  }
}
