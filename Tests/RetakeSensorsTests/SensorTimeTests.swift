import RetakeCore
import Testing

@testable import RetakeSensors

/// Times as files write them.
struct SensorTimeTests {
  @Test(
    arguments: [
      ("0", .s, 0), ("1.5", .s, 1_500_000_000), ("-0.000000001", .s, -1),
      ("1700000000.123456789", .s, 1_700_000_000_123_456_789),
      ("1700000000123456.7", .us, 1_700_000_000_123_456_700),
      ("2.5", .ns, 3), ("-2.5", .ns, -3), ("1e3", .ms, 1_000_000_000), ("12.5E-1", .us, 1_250),
      ("+7", .ns, 7), (".5", .ms, 500_000), ("5.", .ns, 5), ("1e-40", .s, 0),
    ] as [(String, SensorTimeUnit, Int64)])
  func `a decimal number is a time without rounding`(
    text: String, unit: SensorTimeUnit, nanoseconds: Int64
  ) {
    #expect(SensorTime.parse(text, unit) == nanoseconds)
  }

  @Test(arguments: [
    "", "-", ".", "abc", "1.2.3", "0x10", "1e", "1e99", "nan", "1 2", "99999999999",
  ])
  func `what is not a time is none`(text: String) {
    #expect(SensorTime.parse(text, .s) == nil)
  }

  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("1970-01-01 00:00:01.25", 1_250_000_000),
    ("2024-02-29T12:00:00+01:00", 1_709_204_400_000_000_000),
    ("1969-12-31T23:59:59.999Z", -1_000_000), ("2000-01-01T00:00:00-0030", 946_686_600_000_000_000),
  ])
  func `a date is a time since 1970`(text: String, nanoseconds: Int64) {
    #expect(SensorTime.date(text) == nanoseconds)
  }

  @Test(arguments: [
    "2024-13-01T00:00:00Z", "2024-01-01", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00X", "2024_01-01T00:00:00Z", "9999-01-01T00:00:00Z",
  ])
  func `what is not a date is none`(text: String) {
    #expect(SensorTime.date(text) == nil)
  }
}
