import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

private let millisecond: Int64 = 1_000_000

@Suite struct DeviceEventRunTests {
  private static let rules = [
    DeviceRule(thermal: .serious, fps: 25), DeviceRule(memory: .warning, fps: 25),
  ]

  /// Frames every 10 ms, throttled to 50 per second, or to 25 if the device is hot or short of
  /// memory.
  private func pipeline(
    _ frames: Int, fps: Double = 50, events: [TimedDeviceEvent] = []
  ) -> Pipeline {
    var reader = TinyFrames.at(rate: 100, count: frames)
    reader.events = events
    return Pipeline(
      [
        .source(reader), .stage("throttle", Nodes.throttle(fps, rules: Self.rules)),
        .stage("count", AnyStage(Brightness())), .sink(),
      ], ["camera → throttle → count → sink"])
  }

  private func options(
    _ events: [(milliseconds: Int64, event: DeviceEvent)], mode: RunOptions.Mode = .simulate
  ) -> RunOptions {
    var options = RunOptions(mode: mode)
    options.overrides = events.map {
      .event(atNanoseconds: $0.milliseconds * millisecond, $0.event)
    }
    return options
  }

  private let heat: [(milliseconds: Int64, event: DeviceEvent)] = [
    (40, .thermal(.serious)), (100, .thermal(.nominal)),
  ]

  @Test func `the rate follows the device, from the instant on at which it changes`() throws {
    let (notes, _) = try pipeline(15).noted(options(heat))
    #expect(notes.fates == ".t.tt.ttt.tt.t.")
    #expect(
      notes.lines("throttle") == [
        "@40000000 throttle - throttle interval=40000000",
        "@100000000 throttle - throttle interval=20000000",
      ])
  }

  @Test func `the session's events do what overrides at the same times do`() throws {
    let recorded = heat.enumerated().map { index, heat in
      TimedDeviceEvent(
        ordinal: index, timestamp: Timestamp(nanoseconds: heat.milliseconds * millisecond),
        event: heat.event)
    }
    let own = try pipeline(15, events: recorded).noted(options([])).outcome
    #expect(own.decisionDigest == (try pipeline(15).noted(options(heat)).outcome.decisionDigest))
    #expect(own.decisionDigest != (try pipeline(15).noted(options([])).outcome.decisionDigest))
  }

  @Test func `an event that changes no rate is no decision`() throws {
    let quiet = options([
      (20, .thermal(.fair)), (30, .battery(BatteryState(level: 1))), (40, .memory(.warning)),
      (50, .thermal(.critical)), (60, .memory(.normal)), (70, .thermal(.fair)),
    ])
    let (notes, _) = try pipeline(15).noted(quiet)
    #expect(
      notes.lines("throttle") == [
        "@40000000 throttle - throttle interval=40000000",
        "@70000000 throttle - throttle interval=20000000",
      ])
  }

  @Test func `what comes and goes within an instant changes nothing`() throws {
    let both = options([(40, .thermal(.serious)), (40, .thermal(.nominal))])
    #expect(try pipeline(15).noted(both).notes.lines("throttle").isEmpty)
  }

  @Test func `a throttle without a limit of its own lets all through until it is hot`() throws {
    let (notes, _) = try pipeline(12, fps: 0).noted(
      options([(30, .thermal(.serious)), (90, .thermal(.fair))]))
    #expect(notes.fates == "....tt.tt...")
    #expect(
      notes.lines("throttle") == [
        "@30000000 throttle - throttle interval=40000000",
        "@90000000 throttle - throttle interval=0",
      ])
  }

  @Test func `in every-frame mode nobody looks at the device`() throws {
    let (notes, _) = try pipeline(15).noted(options(heat, mode: .everyFrame))
    #expect(notes.lines("throttle").isEmpty)
    #expect(notes.fates == ".t.t.t.t.t.t.t.")
  }

  @Test func `an impossible time of an event is refused by name`() {
    for time in [Int64.min, .max] {
      let event = TimedDeviceEvent(
        ordinal: 7, timestamp: Timestamp(nanoseconds: time), event: .thermal(.fair))
      #expect(throws: RuntimeError.eventTimeOutOfRange(ordinal: 7, nanoseconds: time)) {
        try pipeline(3, events: [event]).noted()
      }
    }
  }
}
