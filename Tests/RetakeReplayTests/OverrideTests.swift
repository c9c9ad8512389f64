import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane
import Testing

@testable import RetakeReplay

@Suite struct OverrideTests {
  private func entry(_ text: String) throws -> CaseOverride { try CaseOverride(parsing: text) }

  @Test(arguments: [
    ("thermal=serious@12s", "thermal@12s", #""serious""#),
    ("memory=critical@0s", "memory@0s", #""critical""#),
    ("orientation=portraitUpsideDown@1.5s", "orientation@1500ms", #""portraitUpsideDown""#),
    ("battery=15@800us", "battery@800us", #"{"charging":false,"level":15,"lowPower":false}"#),
    (
      "battery=0,charging,lowPower@3s", "battery@3s",
      #"{"charging":true,"level":0,"lowPower":true}"#
    ),
    (
      #"swap:motion@4s={"threshold": 30}"#, "swap:motion@4s", #"{"options":{"threshold":30}}"#
    ),
    (
      #"swap:people/classify@frame100,prepare=80ms={"a": "x=@{,"}"#,
      "swap:people/classify@frame100", #"{"options":{"a":"x=@{,"},"prepare":"80ms"}"#
    ),
    (#"swap:a@frame3:7={"b": 1}"#, "swap:a@frame3:7", #"{"options":{"b":1}}"#),
  ])
  func `an override has one form, which reads back the same`(
    text: String, key: String, value: String
  ) throws {
    let read = try entry(text)
    #expect(read.key == key)
    #expect(read.value.canonicalText == value)
    #expect(try entry(read.text) == read)
    #expect(try entry(read.text).text == read.text)
  }

  @Test(arguments: [
    ("thermal=serious", "Write it like thermal=serious@12s"),
    ("thermal@12s", "Write it like thermal=serious@12s"),
    ("termal=serious@12s", "Did you mean 'thermal'?"),
    ("thermal=serius@12s", "Did you mean 'serious'?"),
    ("thermal=serious@12x", "Write it like 12s, 1:30 or 800ms"),
    ("thermal=serious@-1s", "Write it like 12s, 1:30 or 800ms"),
    ("battery=15,chargin@3s", "Did you mean 'charging'?"), ("battery=101@3s", nil),
    ("battery=full@3s", nil), ("", "Write it like thermal=serious@12s"),
    ("swap:motion@4s", #"Write it like swap:motion@4s={"threshold": 30}"#),
    ("swap:motion={}", #"Write it like swap:motion@4s={"threshold": 30}"#),
    ("swap:motion@4s={}", #"Write it like swap:motion@4s={"threshold": 30}"#),
    (#"swap:motion@4s={"a": }"#, #"Write it like swap:motion@4s={"threshold": 30}"#),
    (#"swap:motion@4s x={"a": 1}"#, "Write it like 4s, frame100 or frame0:100"),
    (#"swap:motion@frame={"a": 1}"#, "Write it like 4s, frame100 or frame0:100"),
    (#"swap:motion@frame-1={"a": 1}"#, "Write it like 4s, frame100 or frame0:100"),
    (#"swap:motion@frame1:2:3={"a": 1}"#, "Write it like 4s, frame100 or frame0:100"),
    (
      #"swap:motion@frame9223372036854775807={"a": 1}"#,
      "Write it like 4s, frame100 or frame0:100"
    ),
    (#"swap:motion@frame1024:3={"a": 1}"#, "Write it like 4s, frame100 or frame0:100"),
    (#"swap:motion@4s,prepare=80={"a": 1}"#, "Write it like prepare=80ms, at most an hour"),
    (#"swap:motion@4s,prepare=3601s={"a": 1}"#, "Write it like prepare=80ms, at most an hour"),
    (#"swap:motion@4s,prep=80ms={"a": 1}"#, "Write it like prepare=80ms, at most an hour"),
  ])
  func `what cannot be read is answered with what to write`(text: String, advice: String?) {
    let error = #expect(throws: ReplayError.self) { try entry(text) }
    #expect(error?.code == "replay.case.badOverride")
    #expect(error?.advice == advice, "\(error?.message ?? "")")
    #expect(error?.message.contains("'\(text)'") == true)
  }

  @Test func `overrides happen in the order of time, however they are written`() throws {
    let written = [
      #"swap:b@frame2={"x": 1}"#, "thermal=fair@2s", #"swap:a@1s={"x": 1}"#, "battery=9@2s",
      "memory=normal@1500ms",
    ]
    let expected = [
      "swap:a@1s", "memory@1500ms", "battery@2s", "thermal@2s", "swap:b@frame2",
    ]
    let entries = try written.map { try entry($0) }
    #expect(try CaseOverride.ordered(entries).map(\.key) == expected)
    #expect(try CaseOverride.ordered(entries.reversed()).map(\.key) == expected)
    #expect(CaseOverride.byKey(entries).keys.sorted() == expected.sorted())
  }

  @Test func `the same thing cannot happen twice at one moment`() throws {
    let twice = [try entry("thermal=fair@2s"), try entry("thermal=serious@2000ms")]
    let error = #expect(throws: ReplayError.self) { try CaseOverride.ordered(twice) }
    #expect(error?.message.contains("there are two for thermal@2s") == true)
  }
}

/// A stage with options: whether a frame is brighter than a level.
private struct Bright: PureStage {
  struct Options: StageOptions {
    var threshold = 24
    var score = 1
  }

  static let kind = "bright"
  let options: Options

  init(options: Options) throws {
    guard (1...255).contains(options.threshold) else {
      throw OptionError(key: "threshold", message: "must be 1 to 255")
    }
    self.options = options
  }

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let isBright = frame.bytes(of: 0).contains { $0 >= options.threshold }
    return Scalars([.init("bright", isBright ? Double(options.score) : 0)])
  }
}

@Suite struct OverrideRunningTests {
  private var registry: StageRegistry {
    var registry = StageRegistry()
    registry.register(Bright.self)
    return registry
  }

  private func pipeline() throws -> Pipeline {
    Pipeline.named("bright").source(AnyStage.session(track: 2))
      .stage(try Bright(options: .init()), id: "motion").cost(.fixed(.milliseconds(45)))
      .sink(.numbers, id: "boxes")
  }

  private func runOverrides(_ texts: String..., in pipeline: Pipeline? = nil) throws
    -> [RunOverride]
  {
    try CaseOverride.runOverrides(
      try texts.map { try CaseOverride(parsing: $0) }, in: pipeline ?? self.pipeline(),
      tracks: ["camera": 2], catalog: registry)
  }

  private func swap(_ text: String) throws -> StageSwap {
    guard case .swap(let swap)? = try runOverrides(text).first else {
      throw ReplayError.badOverride(text, detail: "is no swap", advice: nil)
    }
    return swap
  }

  @Test func `a swap changes the options that it names and keeps the others, and the cost`() throws
  {
    let swap = try swap(#"swap:motion@4s,prepare=80ms={"score": 10}"#)
    #expect(swap.moment == .nanoseconds(4_000_000_000))
    #expect(swap.prepare == .milliseconds(80))
    #expect(swap.cost == .fixed(.milliseconds(45)))
    #expect(swap.stage.options["score"] == .integer(10))
    #expect(swap.stage.options["threshold"] == .integer(24))
  }

  @Test func `a frame is of the node's own track unless another is named`() throws {
    let own = try swap(#"swap:motion@frame100={"threshold": 30}"#)
    #expect(own.moment == .arrival(FrameID(track: 2, sequence: 100)))
    let named = try swap(#"swap:motion@frame5:100={"threshold": 30}"#)
    #expect(named.moment == .arrival(FrameID(track: 5, sequence: 100)))
  }

  @Test func `events keep their time`() throws {
    guard case .event(let time, let event)? = try runOverrides("thermal=serious@12s").first else {
      Issue.record("an event is an event")
      return
    }
    #expect((time, event) == (12_000_000_000, .thermal(.serious)))
  }

  @Test(arguments: [
    (#"swap:moton@4s={"threshold": 30}"#, "Did you mean 'motion'?"),
    (#"swap:camera@4s={"track": 1}"#, "only stages are swapped"),
    (#"swap:motion@4s={"treshold": 30}"#, "Did you mean 'threshold'?"),
    (#"swap:motion@4s={"threshold": 300}"#, "must be 1 to 255"),
  ])
  func `a swap that cannot be is refused before the run`(text: String, says: String) {
    let error = #expect(throws: ReplayError.self) { try runOverrides(text) }
    #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
  }

  @Test func `a closure has no options to swap`() {
    let closure = Pipeline.named("closure").source(AnyStage.session())
      .map("mine") { frame, _ in frame }.sink(.numbers)
    #expect(throws: ReplayError.self) {
      try runOverrides(#"swap:mine@4s={"a": 1}"#, in: closure)
    }
  }
}
