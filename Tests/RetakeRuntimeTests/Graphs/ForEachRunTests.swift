import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

@Suite struct ForEachRunTests {
  @Test func `items are served in their order and joined again; none at all is said`() throws {
    let (notes, outcome) = try Pipeline.people([2, 0], frames: .on("f---------f")).noted()
    #expect(
      notes.lines("fanout", "start", "join").filter { $0.contains("people") } == [
        "@1000000 people 0:0 fanout items=2", "@1000000 people/label 0:0.0 start",
        "@5000000 people/label 0:0.1 start", "@9000000 people/join 0:0 join failed=0 items=2",
        "@11000000 people 0:1 fanout items=0", "@11000000 people/join 0:1 join failed=0 items=0",
      ])
    #expect(outcome.headline.delivered == 2)
    guard case .facts(let facts) = notes.frames[0].result.outcomes[0].content else {
      return #expect(Bool(false), "the frame was delivered")
    }
    let labels = facts.compactMap { fact -> String? in
      guard case .detection(let detection) = fact else { return nil }
      return detection.classes.map(\.label).joined()
    }
    #expect(labels == ["thing-0", "thing-1"])
  }

  @Test func `a failed item keeps its place and the frame goes on`() throws {
    let (notes, outcome) = try Pipeline.people(
      [3], frames: .on("f"), label: .label(failing: ["0.1"])
    ).noted()
    #expect(
      notes.lines("itemFail", "join") == [
        "@1000000 pair 0:0 join parts=2",
        "@9000000 people/label 0:0.1 itemFail code=labeller.chosen",
        "@13000000 people/join 0:0 join failed=1 items=3",
      ])
    #expect(outcome.headline.delivered == 1)
    #expect(outcome.failures.map(\.item) == [1])
    guard case .facts(let facts) = notes.frames[0].result.outcomes[0].content else {
      return #expect(Bool(false), "the frame was delivered")
    }
    #expect(facts.count == 3)
  }

  @Test func `a swap at frame 100 under load leaves items in flight to the old stage`() throws {
    let frames = TinyFrames.at(rate: 30, count: 130)
    let counts = (0..<130).map { 1 + $0 % 4 }
    var pipeline = Pipeline.people(counts, frames: frames, label: .label(30))
    pipeline.nodes[3].body?.nodes[0].concurrency = 2
    var options = RunOptions(mode: .simulate)
    options.overrides = [
      .swap(
        StageSwap(
          at: .arrival(FrameID(track: 0, sequence: 100)), node: "people/label",
          stage: AnyStage(Labeller(label: "new")), cost: .fixed(.milliseconds(30))))
    ]
    var prints: [RunPrint] = []
    for way in RunOptions.ways(mode: .simulate, seed: 0, workers: [0, 2, 8], windows: [1, 24]) {
      var way = way
      way.overrides = options.overrides
      prints.append(try RunPrint(pipeline, way))
    }
    #expect(Set(prints).count == 1)
    let swaps = prints[0].lines.filter { $0.kind.rawValue.hasPrefix("swap") }.map(\.description)
    #expect(
      swaps == [
        "@3333333333 people/label - swapPrepare", "@3333333333 people/label - swap epoch=1",
      ])
    let inFlight = prints[0].lines.filter {
      $0.kind == .start && $0.time > 3_333_333_333 && ($0.frame?.sequence ?? 0) < 100
        && $0.node == "people/label"
    }
    #expect(!inFlight.isEmpty, "the load leaves items of older frames to be served after the swap")
    for frame in prints[0].frames {
      guard case .facts(let facts) = frame.result.outcomes[0].content else { continue }
      let expected = frame.entry.id.sequence >= 100 ? "new" : "thing"
      for case .detection(let detection) in facts {
        #expect(detection.classes.first?.label.hasPrefix(expected) ?? false)
      }
    }
  }

  @Test func `a swap to a stage of another type is refused and the old one goes on`() throws {
    var options = RunOptions(mode: .simulate)
    options.overrides = [
      .swap(
        StageSwap(
          at: .nanoseconds(0), node: "people/label", stage: AnyStage(Brightness()),
          prepare: .milliseconds(3)))
    ]
    let (notes, outcome) = try Pipeline.people([1, 1], frames: .on("f---------f")).noted(options)
    #expect(
      notes.lines("swapPrepare", "swap", "swapRefused") == [
        "@0 people/label - swapPrepare",
        "@3000000 people/label - swapRefused code=swap.inputMismatch",
      ])
    #expect(outcome.headline.delivered == 2)
  }
}
