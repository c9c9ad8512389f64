import RetakeCompare
import RetakeCore
import Testing

@testable import RetakeGolden

@Suite struct BudgetTests {
  @Test func `99 of 100 frames took no longer than the percentile`() throws {
    var meter = LatencyMeter()
    for sequence in 0..<200 {
      let frame = FrameID(track: 0, sequence: sequence)
      meter.delivered(frame, at: Int64(1_000 + (sequence * 7) % 200))
      meter.finished(frame, arrival: 999)
    }
    let latency = try #require(meter.latency)
    #expect(latency.max == 200 && latency.p99 == 198)
    #expect(latency.slowest.sequence * 7 % 200 == 199)
    #expect(LatencyMeter().latency == nil)
  }

  private func check(
    _ budgets: GoldenManifest.Budgets, _ latency: GoldenManifest.Latency?
  ) -> (results: [BudgetResult], findings: [Finding]) {
    var golden = SampleRun().manifest
    golden.budgets = budgets
    var actual = SampleRun().manifest
    actual.summary.latency = latency
    let header = ResultHeader(key: "", tracks: [.init(0, TimeBase(1, 30_000))], sinks: ["boxes"])
    var comparator = ResultComparator(golden: header, actual: header, rules: CompareRules())
    let results = BudgetCheck((golden, actual)).run(&comparator)
    return (results, comparator.log.findings)
  }

  @Test func `latencies are held against their budgets to the nanosecond`() {
    let latency = GoldenManifest.Latency(
      max: 120_000_001, p99: 90_000_000, slowest: FrameID(track: 0, sequence: 7))
    let outcome = check(.init(latencyMax: 120_000_000, latencyP99: 90_000_000), latency)
    #expect(outcome.results.map(\.name) == ["latencyMax", "latencyP99"])
    #expect(outcome.findings.map(\.kind) == [.budget])
    #expect(outcome.findings[0].frame?.sequence == 7 && outcome.findings[0].node == "boxes")
    #expect(outcome.findings[0].magnitude == 120_000_001)
    let slow = check(.init(latencyMax: 120_000_001, latencyP99: 89_999_999), latency)
    #expect(slow.findings.map(\.magnitude) == [90_000_000])
  }

  @Test func `without virtual costs every frame was there at once`() {
    let outcome = check(.init(latencyMax: 0), nil)
    #expect(outcome.findings.isEmpty && outcome.results.map(\.spent) == [0])
  }
}
