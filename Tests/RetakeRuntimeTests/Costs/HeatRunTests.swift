import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime
@testable import RetakeTimePlane

private let second: Int64 = 1_000_000_000

/// Copies a frame.
private struct Copier: PureStage {
  static let kind = "copier"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}

@Suite struct HeatRunTests {
  /// 5 J/K and 10 K/W: a busy server of 2 W reaches 35 °C after 35 s.
  private static func profile(
    _ states: [DeviceProfile.StateScale] = [], start: Temperature = 25, copy: Int64 = 0
  ) -> DeviceProfile {
    DeviceProfile(
      name: "hot", states: states,
      heat: HeatModel(
        ambient: 25, start: start,
        nodes: [.init(id: "case", capacity: 5_000, resistance: 10_000)],
        busyMicrowatts: ["*": 2_000_000], femtojoulesPerByte: copy,
        limits: .init(fair: 30, serious: 35, critical: 42)))
  }

  /// Ten frames a second, each with a cost of 90 ms, for a minute.
  private func pipeline(
    rules: [DeviceRule] = [], cost: Int64 = 90,
    events: [TimedDeviceEvent] = [], frames: Int = 600
  ) -> Pipeline {
    var reader = TinyFrames.at(rate: 10, count: frames)
    reader.events = events
    return Pipeline(
      [
        .source(reader), .stage("throttle", Nodes.throttle(10, rules: rules)),
        .stage("light", AnyStage(Brightness()), cost), .sink(),
      ], ["camera → throttle → light → sink"])
  }

  private func options(_ profile: DeviceProfile, workers: Int = 2) -> RunOptions {
    var options = RunOptions(mode: .simulate, workers: workers)
    options.costs = RunCosts(profile: profile)
    return options
  }

  @Test func `work heats, heat raises the state, and a throttle lets the load fall`() throws {
    let rules = [DeviceRule(thermal: .serious, fps: 2)]
    let (notes, outcome) = try pipeline(rules: rules).noted(options(Self.profile()))
    let lines = notes.lines("thermal")
    #expect(lines[0] == "@0 camera - thermal state=nominal temperature=25C")
    let states = lines.map { $0.split(separator: " ")[4] }
    #expect(states.prefix(4) == ["state=nominal", "state=fair", "state=serious", "state=fair"])
    // The throttle answers at the instant of the state, in both directions.
    let times = lines.filter { $0.contains("=serious") || $0.contains("=fair") }
      .dropFirst().map { String($0.prefix { $0 != " " }) }
    #expect(notes.lines("throttle").map { String($0.prefix { $0 != " " }) } == Array(times))
    let heat = try #require(outcome.heat)
    #expect(heat.thermalEvents >= 1)
    // Without the throttle it gets hotter, and stays hot.
    let free = try pipeline().noted(options(Self.profile())).outcome
    #expect(try #require(free.heat).hottestMillidegrees > heat.hottestMillidegrees + 500)
    #expect(try #require(free.heat)[.serious] > heat[.serious])
    #expect(free.headline.delivered > outcome.headline.delivered)
  }

  @Test func `the number of workers changes nothing`() throws {
    let rules = [DeviceRule(thermal: .serious, fps: 2), DeviceRule(temperature: 33, fps: 5)]
    let profile = Self.profile([.init(state: .fair, scale: try #require(.init(parsing: "1.1")))])
    let runs = try [0, 1, 2, 4, 8].map { workers in
      try pipeline(rules: rules).noted(options(profile, workers: workers)).outcome
    }
    #expect(Set(runs.map(\.decisionDigest)).count == 1)
    #expect(Set(runs.map(\.heat)).count == 1)
    #expect(runs[0].heat != nil)
  }

  @Test func `a rule in degrees acts at its temperature, and ends two degrees below it`() throws {
    // 90 % of 2 W would lead to 43 °C; 2 frames per second lead to 28.6 °C.
    let rules = [DeviceRule(temperature: 38, fps: 2)]
    let (notes, outcome) = try pipeline(rules: rules, frames: 1_200).noted(options(Self.profile()))
    let lines = notes.lines("throttle")
    #expect(lines.count >= 2)
    #expect(lines[0].hasSuffix("interval=500000000"))
    #expect(lines[1].hasSuffix("interval=100000000"))
    #expect(try #require(outcome.heat).hottestMillidegrees < 38_200)
    let meter = Thermometer()
    _ = try PreparedRun(pipeline(rules: rules, frames: 1_200), catalog: StageRegistry())
      .run(options(Self.profile()), observer: meter)
    let changes = try lines.prefix(2).map { line in
      let time = try #require(Int64(line.dropFirst().prefix { $0 != " " }))
      return try #require(meter.readings[time]).millidegrees
    }
    #expect((38_000..<38_100).contains(changes[0]))
    #expect((35_900..<36_000).contains(changes[1]))
  }

  @Test func `hot means slower, from the start of the next service on`() throws {
    let two = try #require(DecimalRatio(parsing: "2"))
    let profile = Self.profile([.init(state: .serious, scale: two)], start: 36)
    let (notes, _) = try pipeline(cost: 10, frames: 400).noted(options(profile))
    let ends = notes.lines("done").map { $0.prefix { $0 != " " } }
    #expect(ends[0] == "@20000000")
    // 20 ms of each 100 ms do not keep it warm.
    #expect(notes.lines("thermal").contains { $0.contains("state=fair") })
    #expect(ends[399] == "@39910000000")
  }

  @Test func `the states of an override slow down as those of the model do`() throws {
    let two = try #require(DecimalRatio(parsing: "2"))
    let profile = DeviceProfile(name: "p", states: [.init(state: .serious, scale: two)])
    var options = options(profile)
    options.overrides = [.event(atNanoseconds: 250_000_000, .thermal(.critical))]
    let notes = try pipeline(cost: 20, frames: 5).noted(options).notes
    #expect(
      notes.lines("done").map { $0.prefix { $0 != " " } }
        == ["@20000000", "@120000000", "@220000000", "@340000000", "@440000000"])
    // Without a heat model no line says how hot it is.
    #expect(notes.lines("thermal").isEmpty)
  }

  @Test func `the session's own heat does not count with a model, other events do`() throws {
    let events: [DeviceEvent] = [.thermal(.critical), .temperature(90), .memory(.warning)]
    let recorded = events.enumerated().map {
      TimedDeviceEvent(ordinal: $0, timestamp: Timestamp(nanoseconds: second), event: $1)
    }
    let hot = [DeviceRule(thermal: .critical, fps: 1), DeviceRule(temperature: 80, fps: 1)]
    let profile = Self.profile()
    let cool = try pipeline(rules: hot, events: recorded, frames: 30).noted(options(profile))
    #expect(cool.notes.lines("throttle").isEmpty)
    let short = [DeviceRule(memory: .warning, fps: 1)]
    let other = try pipeline(rules: short, events: recorded, frames: 30).noted(options(profile))
    #expect(other.notes.lines("throttle").count == 1)
    // An override is of the device that the model is of.
    var forced = options(profile)
    forced.overrides = [.event(atNanoseconds: second, .thermal(.critical))]
    let override = try pipeline(rules: hot, frames: 30).noted(forced)
    #expect(override.notes.lines("throttle").count == 1)
  }

  @Test func `the state of an override holds, whatever the model's temperature is`() throws {
    let rules = [DeviceRule(thermal: .serious, fps: 2)]
    var forced = options(Self.profile())
    forced.overrides = [
      .event(atNanoseconds: 2 * second, .thermal(.serious)),
      .event(atNanoseconds: 4 * second, .thermal(.nominal)),
    ]
    let (notes, outcome) = try pipeline(rules: rules).noted(forced)
    #expect(
      notes.lines("throttle") == [
        "@2000000000 throttle - throttle interval=500000000",
        "@4000000000 throttle - throttle interval=100000000",
      ])
    let lines = notes.lines("thermal")
    let states = lines.map { $0.split(separator: " ")[4] }
    #expect(states == ["state=nominal", "state=serious", "state=nominal"])
    #expect(lines[1].hasPrefix("@2000000000 "))
    // It would be serious after 35 s, and a minute later still is nominal, as was said.
    let heat = try #require(outcome.heat)
    #expect(heat.hottestMillidegrees > 35_000)
    #expect(heat.thermalEvents == 1)
    #expect(heat[.serious] == 2 * second)
  }

  @Test func `an override from before the first frame is the first state`() throws {
    var forced = options(Self.profile())
    forced.overrides = [.event(atNanoseconds: -1, .thermal(.critical))]
    let (notes, outcome) = try pipeline(frames: 30).noted(forced)
    #expect(notes.lines("thermal") == ["@0 camera - thermal state=critical temperature=25C"])
    #expect(try #require(outcome.heat)[.nominal] == 0)
  }

  @Test func `the temperature of an override holds for rules in degrees`() throws {
    let rules = [DeviceRule(temperature: 60, fps: 2)]
    var forced = options(Self.profile())
    forced.overrides = [.event(atNanoseconds: second, .temperature(70))]
    let (notes, outcome) = try pipeline(rules: rules, frames: 100).noted(forced)
    #expect(notes.lines("throttle") == ["@1000000000 throttle - throttle interval=500000000"])
    #expect(try #require(outcome.heat).hottestMillidegrees < 60_000)
  }

  @Test func `the power of a state that an override gives is in force from then on`() throws {
    let half = DeviceProfile.StateScale(
      state: .serious, scale: .one, power: try #require(.init(parsing: "0.5")))
    var forced = options(Self.profile([half]))
    forced.overrides = [.event(atNanoseconds: 2_950_000_000, .thermal(.serious))]
    let outcome = try pipeline(frames: 60).noted(forced).outcome
    // Thirty services of 90 ms at 2 W, the last of them for half at 1 W, and thirty at 1 W.
    #expect(try #require(outcome.heat).millijoules == 29 * 180 + 100 + 40 + 30 * 90)
  }

  /// Each frame waits for a buffer, 130 ms at most, so no limit is ever reached.
  private func waiting(_ limit: Duration, hold: Duration? = nil) -> Pipeline {
    var waiting = pipeline(cost: 130, frames: 100)
    waiting.nodes[0].pool = "frames"
    waiting.pools = [PipelinePool(id: "frames", capacity: hold == nil ? 2 : 200, wait: limit)]
    if let hold { waiting.nodes[3].hold = hold }
    return waiting
  }

  @Test func `the times of the states end with the run, whatever expires after it`() throws {
    let device = options(Self.profile())
    let (notes, short) = try waiting(.seconds(1)).noted(device)
    let heat = try #require(short.heat)
    let last = try #require(notes.lines.last { $0.kind == .deliver }).time
    let total = heat.nanoseconds.values.reduce(0, +)
    #expect(short.waits.first?.waited ?? 0 > 50)
    #expect((last...last + HeatChain.tickNanoseconds).contains(total))
    let long = try waiting(.seconds(3_600)).noted(device).outcome
    #expect(long.heat == heat && long.decisionDigest == short.decisionDigest)
    var forced = device
    forced.overrides = [.event(atNanoseconds: 500 * second, .thermal(.critical))]
    let late = try waiting(.seconds(1)).noted(forced)
    #expect(late.outcome.heat == heat)
    #expect(late.notes.lines("thermal").last?.hasPrefix("@500000000000 ") == true)
    let free = try waiting(.seconds(1), hold: .milliseconds(1)).noted(device).outcome
    let held = try waiting(.seconds(1), hold: .seconds(600)).noted(device).outcome
    #expect(held.heat == free.heat && free.heat != nil)
  }

  @Test func `in every-frame mode nothing heats`() throws {
    var everyFrame = options(Self.profile())
    everyFrame.mode = .everyFrame
    let (notes, outcome) = try pipeline().noted(everyFrame)
    #expect(notes.lines("thermal").isEmpty)
    #expect(outcome.heat == nil)
  }

  @Test func `a profile without a model changes no decision`() throws {
    let plain = try pipeline(frames: 30).noted(RunOptions(mode: .simulate)).outcome
    let named = try pipeline(frames: 30).noted(options(DeviceProfile(name: "p"))).outcome
    #expect(plain.decisionDigest == named.decisionDigest)
    #expect(named.heat == nil)
  }

  @Test func `each frame that a stage makes counts with its bytes`() throws {
    let reader = TinyFrames.at(rate: 10, count: 50)
    let copies = Pipeline(
      [
        .source(reader), .stage("first", AnyStage(Copier())),
        .stage("second", AnyStage(Copier())), .stage("light", AnyStage(Brightness())), .sink(),
      ], ["camera → first → second → light → sink"])
    let outcome = try copies.noted(options(Self.profile(copy: 1_000_000_000))).outcome
    // 4×2 gray pixels, twice; a microjoule per byte.
    #expect(outcome.heat?.copiedBytes == 50 * 2 * 8)
    #expect(outcome.heat?.hottestMillidegrees == 25_000)
    let many = try copies.noted(options(Self.profile(copy: 0))).outcome
    #expect(many.heat?.millijoules == 0)
  }

  @Test func `a stuck run ends although the device still cools`() {
    let reader = TinyFrames.at(rate: 10, count: 3)
    var nodes = Pipeline(
      [
        .source(reader), .stage("light", AnyStage(Brightness()), 5),
        .sink(),
      ], ["camera → light → sink"])
    nodes.nodes[0].pool = "frames"
    nodes.nodes[1].pool = "frames"
    nodes.pools = [PipelinePool(id: "frames", capacity: 1)]
    #expect(throws: (any Error).self) {
      try nodes.noted(options(Self.profile(start: 60)))
    }
  }
}

/// The temperatures of a run by their times.
private final class Thermometer: RunObserver {
  var readings: [Int64: Temperature] = [:]

  func warmed(to temperature: Temperature, at nanoseconds: Int64) {
    readings[nanoseconds] = temperature
  }

  func finished(_ frame: FinishedFrame) {}
}
