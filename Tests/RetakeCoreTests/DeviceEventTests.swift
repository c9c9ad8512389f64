import RetakeCore
import Testing

@Suite struct DeviceEventTests {
  private let written: [(event: DeviceEvent, kind: String, text: String)] = [
    (.thermal(.serious), "thermal", #"{"state":"serious"}"#),
    (.temperature(45.25), "temperature", #"{"state":"45.25C"}"#),
    (.memory(.warning), "memory", #"{"state":"warning"}"#),
    (
      .battery(BatteryState(level: 18, isLowPower: true)), "battery",
      #"{"charging":false,"level":18,"lowPower":true}"#
    ),
    (.orientation(.landscapeLeft), "orientation", #"{"state":"landscapeLeft"}"#),
  ]

  @Test func `every kind has one form and reads back the same`() throws {
    #expect(written.map(\.kind) == DeviceEvent.Kind.allCases.map(\.rawValue))
    for (event, kind, text) in written {
      #expect(event.kind.rawValue == kind)
      #expect(event.json.canonicalText == text)
      #expect(try DeviceEvent(kind: kind, text: text) == event)
    }
  }

  @Test func `a battery that says only its level is neither charging nor saving`() throws {
    let event = try DeviceEvent(kind: "battery", text: #"{"level": 100}"#)
    #expect(event == .battery(BatteryState(level: 100)))
  }

  @Test func `what is not known is refused with its place and what was meant`() {
    for (kind, text, code, pointer, advice) in [
      ("termal", "{}", "unknownKind", nil, "Did you mean 'thermal'?"),
      ("thermal", #"{"state":"serius"}"#, "content", "/state", "Did you mean 'serious'?"),
      ("thermal", #"{"stat":"fair"}"#, "content", "/stat", "Did you mean 'state'?"),
      ("memory", "{}", "content", nil, "Add \"state\""),
      ("memory", #"{"state":1}"#, "content", "/state", nil),
      ("temperature", #"{"state":"45"}"#, "content", "/state", Temperature.advice),
      ("temperature", #"{"state":"400C"}"#, "content", "/state", Temperature.advice),
      ("battery", #"{"level":101}"#, "content", "/level", nil),
      ("battery", #"{"level":-1}"#, "content", "/level", nil),
      ("battery", #"{"charging":true}"#, "content", nil, "Add \"level\""),
      ("orientation", "[]", "content", nil, nil), ("orientation", "{", "content", nil, nil),
    ] {
      let error = #expect(throws: DeviceEventError.self) {
        try DeviceEvent(kind: kind, text: text)
      }
      #expect(error?.code == "core.deviceEvent.\(code)", "\(kind) \(text)")
      #expect(error?.place?.pointer == pointer, "\(kind) \(text)")
      #expect(error?.advice == advice, "\(kind) \(text)")
    }
  }

  @Test func `heat and pressure rise in the order of their words`() {
    #expect(ThermalState.allCases.sorted() == [.nominal, .fair, .serious, .critical])
    #expect(ThermalState.critical > .serious)
    #expect(!(ThermalState.fair < .fair))
    #expect(MemoryPressure.allCases.reversed().sorted() == [.normal, .warning, .critical])
  }

  @Test func `the state keeps the last word of each kind and knows nothing else`() {
    var state = DeviceState()
    #expect(state.thermal == nil && state.battery == nil)
    for event: DeviceEvent in [
      .thermal(.serious), .battery(BatteryState(level: 40)), .thermal(.fair),
      .orientation(.portrait),
    ] { state.apply(event) }
    #expect(state.thermal == .fair)
    #expect(state.battery?.level == 40)
    #expect(state.orientation == .portrait)
    #expect(state.memory == nil)
  }
}
