import RetakeCore
import Testing

@testable import RetakeSensors

/// Samples by their time, from a database.
struct SampleTableTests {
  /// 70 pages and a bit, one sample each millisecond, which arrives 5 ms later.
  private func table() throws -> (SampleSite, SampleTable, count: Int) {
    let site = try SampleSite()
    let count = 70 * SampleTable.pageRows + 7
    let sensor = try site.samples.add(name: "imu", kind: "imu", channels: ["n"], source: "test")
    for number in 0..<count {
      let time = Int64(number) * 1_000_000
      try site.samples.append(sensor, time: time, arrival: time + 5_000_000, [Double(number)])
    }
    try site.samples.finish()
    return (site, try SampleTable(try site.finish()), count)
  }

  private func milliseconds(_ value: Int64) -> Timestamp {
    Timestamp(nanoseconds: value * 1_000_000)
  }

  @Test func `the newest sample is the one that was measured and had arrived`() throws {
    let (site, table, count) = try table()
    for (time, arrival, wanted): (Int64, Int64, Double?) in [
      (-1, 1_000, nil), (0, 4, nil), (0, 5, 0), (10, 9, 4), (10, 15, 10), (10, 9_999, 10),
      (30_000, 30_000, 29_995), (1_023, 99_999, 1_023), (1_024, 99_999, 1_024),
      (999_999, 999_999, Double(count - 1)),
    ] {
      let found = try table.latest(
        of: 0, at: milliseconds(time), arrivedBy: milliseconds(arrival))
      #expect(found?.values.first == wanted, "\(time) ms, arrived by \(arrival) ms")
    }
    #expect(try table.latest(of: 9, at: milliseconds(9), arrivedBy: milliseconds(9)) == nil)
    withExtendedLifetime(site) {}
  }

  @Test func `a window is open at its beginning, and ends with its end or what had arrived`() throws
  {
    let (site, table, count) = try table()
    for (start, end, arrival, wanted): (Int64, Int64, Int64, ClosedRange<Int>?) in [
      (10, 20, 99, 11...20), (10, 20, 20, 11...15), (10, 20, 15, nil), (20, 10, 99, nil),
      (-9, 3, 99, 0...3), (1_020, 2_050, 9_999, 1_021...2_050),
      (Int64(count - 3), 999_999, 999_999, count - 2...count - 1),
    ] {
      let found = try table.samples(
        of: 0, after: milliseconds(start), upTo: milliseconds(end),
        arrivedBy: milliseconds(arrival))
      #expect(
        found.map { Int($0.values[0]) } == wanted.map(Array.init) ?? [],
        "(\(start), \(end)] by \(arrival)")
    }
    withExtendedLifetime(site) {}
  }
}
