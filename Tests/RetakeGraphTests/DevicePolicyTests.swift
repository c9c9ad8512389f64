import RetakeCore
import RetakeGraph
import Testing

@Suite struct DevicePolicyTests {
  private func state(_ events: DeviceEvent...) -> DeviceState {
    var state = DeviceState()
    for event in events { state.apply(event) }
    return state
  }

  private let policy = DevicePolicy(
    fps: 30,
    rules: [
      DeviceRule(thermal: .serious, fps: 15), DeviceRule(thermal: .critical, fps: 5),
      DeviceRule(battery: .init(below: 20), fps: 10),
      DeviceRule(memory: .warning, battery: .init(charging: false, lowPower: true), fps: 2),
    ])

  @Test func `the lowest rate of all that apply counts`() {
    for (events, fps) in [
      ([DeviceEvent](), 30.0), ([.thermal(.fair)], 30), ([.thermal(.serious)], 15),
      ([.thermal(.critical)], 5), ([.battery(BatteryState(level: 20))], 30),
      ([.battery(BatteryState(level: 19))], 10),
      ([.thermal(.serious), .battery(BatteryState(level: 3))], 10),
      ([.thermal(.critical), .battery(BatteryState(level: 3))], 5),
      ([.memory(.critical)], 30), ([.battery(BatteryState(level: 90, isLowPower: true))], 30),
      ([.memory(.critical), .battery(BatteryState(level: 90, isLowPower: true))], 2),
      (
        [
          .memory(.warning), .battery(BatteryState(level: 90, isCharging: true, isLowPower: true)),
        ], 30
      ),
      ([.orientation(.portrait)], 30),
    ] {
      var state = DeviceState()
      for event in events { state.apply(event) }
      #expect(policy.fps(in: state) == fps, "\(events)")
    }
  }

  @Test func `a rule never raises a rate, and no limit is above every rate`() {
    let raised = DevicePolicy(fps: 5, rules: [DeviceRule(thermal: .nominal, fps: 60)])
    #expect(raised.fps(in: state(.thermal(.nominal))) == 5)
    let free = DevicePolicy(fps: 0, rules: [DeviceRule(thermal: .serious, fps: 30)])
    #expect(free.fps(in: DeviceState()) == 0)
    #expect(free.fps(in: state(.thermal(.critical))) == 30)
  }

  @Test func `orientation is a condition like the others`() {
    let rule = DeviceRule(orientation: .portrait, fps: 1)
    #expect(rule.matches(state(.orientation(.portrait))))
    #expect(!rule.matches(state(.orientation(.landscapeLeft))))
    #expect(!rule.matches(DeviceState()))
    #expect(!DeviceRule(fps: 1).matches(state(.orientation(.portrait))))
  }
}
