import RetakeCore
import Testing

@testable import RetakeTimePlane

private let second: Int64 = 1_000_000_000

@Suite struct HeatStateTests {
  /// One body of 10 J/K; 1 W makes it 10 K warmer in the end.
  private func model(idle: Int64 = 0, start: Temperature? = nil) -> HeatModel {
    HeatModel(
      ambient: 25, start: start, nodes: [.init(id: "case", capacity: 10_000, resistance: 10_000)],
      idleMicrowatts: idle, busyMicrowatts: ["*": 1_000_000, "gpu": 4_000_000],
      femtojoulesPerByte: 1_000_000, limits: .init(fair: 30, serious: 35, critical: 60))
  }

  /// Runs ticks until a time.
  ///
  /// - Parameter busy: When a server of `gpu` is busy, in nanoseconds.
  /// - Parameter cuts: Times without an event that divide the ticks.
  private func temperatures(
    _ model: HeatModel, busy: [Range<Int64>] = [], copies: [Int64: Int] = [:], cuts: [Int64] = [],
    until end: Int64
  ) -> (temperatures: [Temperature], states: [ThermalState], counts: HeatCounts) {
    var heat = HeatStateMachine(model, executors: ["cpu", "gpu"])
    var times = Set(cuts).union(copies.keys)
    for range in busy { times.formUnion([range.lowerBound, range.upperBound]) }
    var (temperatures, states): ([Temperature], [ThermalState]) = ([], [])
    var next = heat.begin(at: 0).next
    for time in times.union([end]).sorted() {
      while let tick = next, tick <= time {
        let ended = heat.tick(at: tick)
        next = ended.next
        temperatures.append(ended.temperature)
        if let state = ended.state { states.append(state) }
      }
      func wake(_ tick: Int64?) { if let tick { next = tick } }
      for range in busy where range.upperBound == time { wake(heat.use(-1, of: 1, at: time)) }
      for range in busy where range.lowerBound == time { wake(heat.use(1, of: 1, at: time)) }
      if let bytes = copies[time] { wake(heat.copy(bytes: bytes, at: time)) }
      // An executor that begins and ends at once has used no energy.
      if cuts.contains(time) {
        wake(heat.use(1, of: 0, at: time))
        wake(heat.use(-1, of: 0, at: time))
      }
    }
    return (temperatures, states, heat.counts(until: end))
  }

  @Test func `how events divide a tick makes no difference`() {
    let busy = [3 * second..<20 * second, 25 * second..<90 * second]
    // With some power it is never at rest, and both have a tick every 100 ms.
    let device = model(idle: 100_000)
    let plain = temperatures(device, busy: busy, until: 120 * second)
    let cuts = (0..<700).map { Int64($0) * 171_234_567 }
    let cut = temperatures(device, busy: busy, cuts: cuts, until: 120 * second)
    #expect(plain.temperatures == cut.temperatures)
    #expect(plain.counts == cut.counts)
    // 82 s of 4 W, and 120 s of 0.1 W.
    #expect(plain.counts.millijoules == 340_000)
  }

  @Test func `the same pattern with more busy time or more bytes is never cooler`() {
    var (busy, more): ([Range<Int64>], [Range<Int64>]) = ([], [])
    var copies: [Int64: Int] = [:]
    for index in 0..<300 {
      let begin = Int64(index) * second / 3
      let bits = Draw.bits(seed: 3, node: 0, sequence: index, item: 0, purpose: .cost)
      let length = Int64(bits % 200_000_000)
      busy.append(begin..<begin + length)
      more.append(begin..<begin + length + Int64(bits >> 32 % 3) % 3 * 40_000_000)
      if bits & 1 << 40 != 0 { copies[begin + 1] = Int(bits >> 44) }
    }
    let end = 130 * second
    let base = temperatures(model(), busy: busy, until: end).temperatures
    for other in [
      temperatures(model(), busy: more, until: end).temperatures,
      temperatures(model(), busy: busy, copies: copies, until: end).temperatures,
      temperatures(model(idle: 1), busy: busy, until: end).temperatures,
    ] {
      #expect(other.count == base.count)
      #expect(zip(base, other).allSatisfy { $0 <= $1 })
      #expect(other != base)
    }
  }

  @Test func `a state ends its hysteresis below its limit`() {
    var heat = HeatStateMachine(model(start: 36), executors: [])
    #expect(heat.state == .serious)
    _ = heat.begin(at: 0)
    var states: [String] = []
    for tick in 1...2_000 {
      let ended = heat.tick(at: Int64(tick) * HeatChain.tickNanoseconds)
      if let state = ended.state { states.append("\(state) \(ended.temperature)") }
    }
    // The first tick below 33 and 28 °C.
    #expect(states == ["fair 32.994C", "nominal 27.998C"])
  }

  @Test func `a device at rest makes no ticks, and wakes on the same grid`() {
    var heat = HeatStateMachine(model(), executors: ["cpu"])
    _ = heat.begin(at: 50_000_000)
    // No executor is busy, and the device is as warm as the air.
    #expect(heat.tick(at: 150_000_000).next == nil)
    #expect(heat.use(1, of: 0, at: 10 * second) == 10 * second + 50_000_000)
    #expect(heat.use(-1, of: 0, at: 10 * second + 20_000_000) == nil)
    let tick = heat.tick(at: 10 * second + 50_000_000)
    #expect(tick.next == 10 * second + 150_000_000)
    #expect(heat.counts(until: 11 * second).millijoules == 20)
    #expect(tick.temperature.millidegrees == 25_002)
  }

  @Test func `the idle power of a pause without ticks counts`() {
    // 0.1 W keep it at 26 °C.
    var heat = HeatStateMachine(model(idle: 100_000, start: 26), executors: ["cpu"])
    _ = heat.begin(at: 0)
    #expect(heat.tick(at: HeatChain.tickNanoseconds).next == nil)
    #expect(heat.counts(until: 10 * second).millijoules == 1_000)
    let next = heat.use(1, of: 0, at: 10 * second)
    #expect(next == 10 * second + HeatChain.tickNanoseconds)
    _ = heat.use(-1, of: 0, at: 10 * second + 20_000_000)
    _ = heat.tick(at: 10 * second + HeatChain.tickNanoseconds)
    #expect(heat.counts(until: 10 * second + HeatChain.tickNanoseconds).millijoules == 1_030)
  }

  @Test func `a slower clock needs less power`() throws {
    let half = try #require(DecimalRatio(parsing: "0.5"))
    var heat = HeatStateMachine(
      model(start: 36), executors: ["cpu"],
      scales: [.init(state: .serious, scale: .one, power: half)])
    _ = heat.begin(at: 0)
    _ = heat.use(1, of: 0, at: 0)
    _ = heat.tick(at: HeatChain.tickNanoseconds)
    #expect(heat.counts(until: HeatChain.tickNanoseconds).millijoules == 50)
  }

  @Test func `the time in each state, the hottest time and thermal events are counted`() {
    let run = temperatures(model(), busy: [0..<60 * second], until: 300 * second)
    #expect(run.states == [.fair, .serious, .fair, .nominal])
    let counts = run.counts
    #expect(counts.nanoseconds.values.reduce(0, +) == 300 * second)
    #expect(counts.thermalEvents == 1)
    #expect(counts.hottestAtNanoseconds == 60 * second)
    #expect(counts.seriousAtNanoseconds.map { $0 > 25 * second && $0 < 32 * second } == true)
    #expect(counts[.critical] == 0)
  }
}
