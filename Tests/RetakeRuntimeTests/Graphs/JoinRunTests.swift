import RetakeBuffers
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct JoinRunTests {
  private func ensemble(
    mode: JoinMode, slow: Int64, timeout: Int64?, frames: String = "f---------f---------"
  ) -> Pipeline {
    Pipeline(
      [
        .source(.on(frames)), .stage("a", AnyStage(Brightness()), 2),
        .stage("b", AnyStage(Brightness()), slow),
        PipelineNode(id: "merge", stage: .join(["a", "b"], mode: mode)).with {
          $0.timeout = timeout.map { .milliseconds($0) }
        }, .sink(),
      ],
      ["camera → a → merge.a", "camera → b → merge.b", "merge → sink"])
  }

  @Test func `an ensemble goes on with both members when both are in time`() throws {
    let (notes, outcome) = try ensemble(mode: .all, slow: 5, timeout: 8).noted()
    #expect(
      notes.lines("join", "timeout", "late", "drop") == [
        "@5000000 merge 0:0 join parts=2", "@15000000 merge 0:1 join parts=2",
      ])
    #expect(outcome.headline.delivered == 2)
  }

  @Test func `with a slow member, any goes on at the timeout and all drops`() throws {
    let (any, anyOutcome) = try ensemble(mode: .any, slow: 9, timeout: 4).noted()
    #expect(
      any.lines("join", "timeout", "late", "drop") == [
        "@6000000 merge 0:0 timeout", "@6000000 merge 0:0 join parts=1",
        "@9000000 merge 0:0 late", "@16000000 merge 0:1 timeout",
        "@16000000 merge 0:1 join parts=1", "@19000000 merge 0:1 late",
      ])
    #expect(anyOutcome.headline.delivered == 2)
    let (all, allOutcome) = try ensemble(mode: .all, slow: 9, timeout: 4).noted()
    #expect(
      all.lines("drop", "outcome") == [
        "@6000000 merge 0:0 drop reason=timeout",
        "@6000000 sink 0:0 outcome fate=drop node=merge reason=timeout",
        "@16000000 merge 0:1 drop reason=timeout",
        "@16000000 sink 0:1 outcome fate=drop node=merge reason=timeout",
      ])
    #expect(allOutcome.headline.dropped == ["timeout": 2])
  }

  @Test func `a part that comes at the very nanosecond of the timeout is late`() throws {
    let (notes, _) = try ensemble(mode: .any, slow: 6, timeout: 4, frames: "f").noted()
    #expect(
      notes.lines("join", "timeout", "late", "done") == [
        "@2000000 a 0:0 done", "@6000000 b 0:0 done", "@6000000 merge 0:0 timeout",
        "@6000000 merge 0:0 join parts=1", "@6000000 merge 0:0 late",
      ])
  }

  @Test func `in every-frame mode nothing times out`() throws {
    let (notes, outcome) = try ensemble(mode: .all, slow: 9, timeout: 4).noted(
      RunOptions(mode: .everyFrame))
    #expect(notes.lines("join").count == 2)
    #expect(outcome.headline.delivered == 2)
  }

  @Test func `a drop upstream of a join ends the frame for want of its partner`() throws {
    var pipeline = ensemble(mode: .all, slow: 30, timeout: nil, frames: "fffff")
    pipeline.edges.removeAll { $0.to == "b" }
    pipeline.edges.append(PipelineEdge("camera → b", capacity: 1, policy: .dropNewest))
    let (notes, outcome) = try pipeline.noted()
    #expect(
      notes.lines("drop").map { $0.split(separator: " ").dropFirst().joined(separator: " ") } == [
        "b 0:2 drop reason=queue", "b 0:3 drop reason=queue",
        "b 0:4 drop reason=queue", "merge 0:2 drop reason=partnerMissing",
        "merge 0:3 drop reason=partnerMissing", "merge 0:4 drop reason=partnerMissing",
      ])
    #expect(outcome.headline.delivered == 2)
    #expect(outcome.headline.dropped == ["partnerMissing": 3])
    #expect(outcome.headline.isBalanced)
  }

  @Test func `joined frames leave in order also when a later one is whole before`() throws {
    var pipeline = ensemble(mode: .any, slow: 30, timeout: nil, frames: "ff")
    pipeline.nodes[1].stage = AnyStage(
      Fragile2(failing: [1]))
    pipeline.nodes[2].stage = AnyStage(Fragile2(failing: []))
    let (notes, _) = try pipeline.noted()
    let delivered = notes.lines("deliver").filter { $0.contains(" sink ") }
    #expect(delivered == ["@30000000 sink 0:0 deliver", "@60000000 sink 0:1 deliver"])
  }

  @Test func `a latest join goes on with every frame and the newest value of the other port`()
    throws
  {
    let pipeline = Pipeline(
      [
        .source(.on("f---f---f---f")), .stage("slow", AnyStage(Brightness()), 6),
        PipelineNode(id: "view", stage: .latest(["frame", "overlay"])), .sink(),
      ], ["camera → view.frame", "camera → slow → view.overlay", "view → sink"])
    let (notes, outcome) = try pipeline.noted()
    #expect(
      notes.lines("latest") == [
        "@0 view 0:0 latest overlay=-", "@4000000 view 0:1 latest overlay=-",
        "@8000000 view 0:2 latest overlay=0:0", "@12000000 view 0:3 latest overlay=0:1",
      ])
    #expect(outcome.headline.delivered == 4)
    let (everyFrame, _) = try pipeline.noted(RunOptions(mode: .everyFrame))
    #expect(
      everyFrame.lines("latest").map { $0.hasSuffix("overlay=0:3") } == [false, false, false, true])
    #expect(everyFrame.lines("latest").first == "@0 view 0:0 latest overlay=0:0")
  }
}

/// Like `Fragile`, for frames.
struct Fragile2: PureStage {
  static let kind = "fragile-frame"
  struct Options: StageOptions {
    var failing: [Int] = []
  }
  let options: Options

  init(failing: [Int]) { options = Options(failing: failing) }
  init(options: Options) { self.options = options }

  func process(_ input: Frame, _ context: StageContext) throws -> Frame {
    guard options.failing.contains(context.frame.sequence) else { return input }
    throw StageError(code: "fragile.chosen", message: "a chosen frame")
  }
}
