import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime

/// The form of external events in a session.
@Suite struct StampedEventTests {
  private static let ids = ["camera", "motion", "sink"]
  private static let numbers = ["camera": 0, "motion": 1, "sink": 2]
  private static let frame = FrameID(track: 1, sequence: 12)

  private static let events: [ExternalEvent] = [
    .arrival(frame), .allocationFailed(frame), .timer, .leaseEnded(sink: 2, frame),
    .completion(BodyName(node: 1, frame: frame), .success),
    .completion(
      BodyName(node: 1, frame: frame, item: 3),
      .failure(
        StageError(code: "x.y", message: "as it was recorded", severity: .unrecoverable))),
    .environment(.thermal(.serious)), .environment(.battery(BatteryState(level: 12))),
    .command(.swap(node: 1, kind: "motion", options: .object(["threshold": .integer(3)]))),
    .swapReady(index: 0, refusal: nil), .swapReady(index: 1, refusal: "swap.inputMismatch"),
    .sourceLost(track: 1, code: "unplugged"),
  ]

  @Test(arguments: events)
  func `an event reads back as it was written`(event: ExternalEvent) throws {
    let stamped = StampedEvent(
      ordinal: 7, nanoseconds: 99, event: event,
      gates: [GateValue(node: 1, frame: Self.frame, value: 4)])
    let text = stamped.json(nodes: Self.ids).canonicalText
    let read = try StampedEvent(
      ordinal: 7, nanoseconds: 99, kind: event.kind.rawValue, text: text, nodes: Self.numbers)
    #expect(read == stamped)
  }

  @Test func `each kind is written by one of these events`() {
    #expect(Set(Self.events.map(\.kind)) == Set(ExternalEvent.Kind.allCases))
  }

  @Test(arguments: [
    ("arrival", "{"), ("arrival", "{}"), ("arrival", #"{"frame":"12"}"#),
    ("arrival", #"{"frame":"0:-1"}"#), ("nothing", "{}"),
    ("completion", #"{"frame":"0:1","node":"nobody","outcome":"done"}"#),
    ("completion", #"{"frame":"0:1","node":"motion","outcome":"two words"}"#),
    ("completion", #"{"frame":"0:1","item":-4,"node":"motion","outcome":"done"}"#),
    ("environment", #"{"event":"thermal","state":{"state":"mild"}}"#),
    ("command", #"{"command":"dance"}"#), ("swapPrepared", #"{"swap":99999999999}"#),
    ("timer", #"{"gates":3}"#),
  ])
  func `what is no event is refused, with its number`(kind: String, text: String) {
    #expect {
      try StampedEvent(
        ordinal: 5, nanoseconds: 0, kind: kind, text: text, nodes: Self.numbers)
    } throws: { error in
      (error as? RuntimeError)?.code == "runtime.live.badEvent" && "\(error)".contains("event 5")
    }
  }
}
