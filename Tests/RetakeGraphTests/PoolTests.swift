import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// A pool that is smaller than the buffers that one frame needs at once is rejected; a pool that is
/// large enough is not.
@Suite struct PoolTests {
  private func frames(_ capacity: Int) -> PipelineChain<Frame> {
    Pipeline.named("pool").source(.test("session")).pool("p").pool("p", capacity: capacity)
  }

  /// The smallest capacity that is not rejected. Each smaller one is rejected, with the same
  /// advice.
  private func check(
    needs count: Int, at node: String, _ build: (PipelineChain<Frame>) -> Pipeline,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for capacity in 1..<count {
      let error = #expect(throws: PipelineError.self, sourceLocation: sourceLocation) {
        try build(frames(capacity)).validate()
      }
      #expect(error?.pointer == "/pools/0/capacity", sourceLocation: sourceLocation)
      #expect(
        error?.message.contains(
          "'p' has \(capacity) of the \(count) buffers that are held at once at '\(node)'") == true,
        "\(String(describing: error))", sourceLocation: sourceLocation)
      #expect(
        error?.advice == "Set the capacity of 'p' to at least \(count)",
        sourceLocation: sourceLocation)
    }
    #expect(throws: Never.self, sourceLocation: sourceLocation) {
      try build(frames(count)).validate()
    }
  }

  private let results = AnyStage.test("results")

  @Test func `an adaptive pool must be enough when it is smallest`() {
    func error(_ change: (inout PoolSizing) -> Void) -> PipelineError? {
      var sizing = PoolSizing()
      change(&sizing)
      do {
        try Pipeline.named("pool").source(.test("session")).pool("p")
          .pool("p", capacity: 8, adaptive: sizing).stage(Gray()).pool("p").sink(results).validate()
        return nil
      } catch { return error as? PipelineError }
    }
    #expect(error { $0.memorySize = 2 } == nil)
    let small = error { $0.memorySize = 1 }
    #expect(small?.pointer == "/pools/0/adaptive")
    #expect(small?.message.contains("'p' can come down to 1 of the 2 buffers") == true)
    #expect(error { ($0.memorySize, $0.off) = (1, [.memory]) } == nil)
  }

  @Test func `a stage holds its input while it fills its own buffer`() {
    check(needs: 2, at: "grey") { $0.stage(Gray()).pool("p").sink(results) }
    check(needs: 2, at: "view") { $0.stage(View()).pool("p").sink(results) }
    check(needs: 2, at: "grey") {
      $0.stage(Gray()).pool("p").stage(Gray()).pool("p").sink(results)
    }
  }

  @Test func `what keeps its input adds up`() {
    check(needs: 3, at: "view-2") {
      $0.stage(View()).pool("p").stage(View()).pool("p").sink(results)
    }
    check(needs: 2, at: "grey") {
      $0.stage(View()).stage(Gray()).pool("p").stage(Tiles()).sink(results)
    }
  }

  @Test func `branches that go apart need no more than one of them`() {
    check(needs: 2, at: "left") { frames in
      Pipeline.combining(
        frames.stage(Gray(), id: "left").pool("p").sink(results, id: "a"),
        frames.stage(Gray(), id: "right").pool("p").sink(results, id: "b"))
    }
  }

  @Test func `a join of all holds every part while the last is made`() {
    check(needs: 3, at: "join") { frames in
      Pipeline.joining(
        frames.stage(Gray(), id: "left").pool("p"), frames.stage(Gray(), id: "right").pool("p")
      ).stage(Fusion()).sink(results)
    }
    check(needs: 4, at: "join") { frames in
      Pipeline.joining(
        frames.stage(Gray(), id: "left").pool("p").passing(.test("sample")),
        frames.stage(Gray(), id: "right").pool("p"), frames.stage(Gray(), id: "third").pool("p")
      ).stage(Fusion()).sink(results)
    }
  }

  @Test func `a join of any can go on with one part`() {
    check(needs: 2, at: "left") { frames in
      Pipeline.joining(
        frames.stage(Gray(), id: "left").pool("p"), frames.stage(Gray(), id: "right").pool("p"),
        mode: .any
      ).stage(Fusion()).sink(results)
    }
  }

  @Test func `a branch that holds no buffer costs none at the join`() {
    check(needs: 2, at: "grey") { frames in
      Pipeline.joining(frames.stage(Gray()).pool("p"), frames.stage(Tiles()))
        .stage(Fusion()).sink(results)
    }
  }

  @Test func `the newest value of a latest join and the last of a fallback are kept`() {
    check(needs: 3, at: "grey") { frames in
      frames.latest(with: frames.stage(Gray()).pool("p")).stage(Fusion()).sink(results)
    }
    check(needs: 3, at: "grey") {
      $0.stage(Gray()).pool("p").fallback(.previous).timeout(.seconds(1)).sink(results)
    }
  }

  @Test func `a screen keeps the image that is visible`() {
    var screen = results
    screen.screen = ScreenClock(hertz: 60)
    check(needs: 2, at: "camera") { $0.sink(screen) }
    check(needs: 3, at: "grey") { $0.stage(Gray()).pool("p").sink(screen) }
  }

  @Test func `each item of a forEach needs its buffer beside the frame's`() {
    check(needs: 2, at: "each/crop") { frames in
      frames.forEach(frames.stage(Boxes(options: .init())), id: "each") { region in
        region.stage(RegionPixels()).pool("p").stage(Labels())
      }.sink(results)
    }
  }

  @Test func `pools are counted apart`() throws {
    let pipeline = frames(1).stage(Gray()).pool("q").pool("q", capacity: 1).sink(results)
    #expect(throws: Never.self) { try pipeline.validate() }
  }
}
