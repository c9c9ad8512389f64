import Testing

@testable import RetakeBuffers

@Suite struct PoolControllerTests {
  private func check(
    _ peaks: String, _ sizes: String, size: Int = 8, off: Set<PoolSizing.Policy> = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var line = SizingTimeline(size: size) { $0.off = off }
    #expect(line.play(peaks) == sizes, sourceLocation: sourceLocation)
  }

  // MARK: Prediction

  @Test func `a pool grows by one after two predictions above three quarters`() {
    check("7777777", "899aaaa")
    check("7373737", "8888888")
  }

  @Test func `three quarters are not above three quarters`() {
    check("66666", "88888")
  }

  @Test func `a pool shrinks by one after three windows below one half`() {
    check("33333333", "88777666")
    check("334334334", "888888888")
  }

  @Test func `a pool keeps between its floor and its cap`() {
    check("0000000000", "4444444444", size: 4)
    check("cccccccccc", "cccccccccc", size: 12)
    check("0000000000000000", "5544444444444444", size: 5)
  }

  @Test func `there is at most one change of size a second`() {
    check("888888", "99aabb", off: [.hysteresis])
  }

  @Test func `each rule of prediction can be switched off`() {
    check("7777777", "8888888", off: [.expand])
    check("3333333", "8888888", off: [.shrink])
    check("3333333", "7766666", off: [.hysteresis])
  }

  @Test func `the two predictors`() {
    var ewma = SizingTimeline(alphaPermille: 300)
    var ar1 = SizingTimeline(alphaPermille: 300) { $0.predictor = .ar1 }
    _ = ewma.play("808")
    _ = ar1.play("808")
    // 8, then 0.7 · 8 = 5.6, then 0.3 · 8 + 0.7 · 5.6 = 6.32.
    #expect(ewma.controller.predicted == 414_187)
    // 0.3 · 8 + 0.7 · (8 + 0 + 8) / 3.
    #expect(ar1.controller.predicted == 401_953)
    _ = ar1.play("0000000000")
    #expect(ar1.controller.predicted == 0)
    #expect(ewma.controller.predicted > 0)
  }

  @Test func `a pool whose breaker trips at the breaker's own size does not shrink`() {
    var sizing = PoolSizing()
    (sizing.min, sizing.max, sizing.breakerSize) = (1, 4, 4)
    (sizing.alphaPermille, sizing.shrinkBelow, sizing.shrinkAfter) = (1_000, 99, 1)
    sizing.breakerNanoseconds = sizing.windowNanoseconds
    var controller = PoolController(sizing, size: 4)
    controller.leased(inUse: 1)
    controller.stalled()
    let step = controller.endWindow(inUse: 1, at: sizing.windowNanoseconds)
    #expect(step.trip == PoolController.Trip(requests: 2, stalls: 1))
    #expect(step.resize == nil && controller.size == 4)
  }

  @Test func `the breaker of a pool that has used all its changes does not trip`() {
    var sizing = PoolSizing()
    (sizing.min, sizing.max) = (1, 8)
    (sizing.alphaPermille, sizing.expandAfter, sizing.shrinkAfter) = (1_000, 1, 1)
    sizing.windowNanoseconds = PoolSizing.spacingNanoseconds
    sizing.breakerNanoseconds = sizing.windowNanoseconds
    var controller = PoolController(sizing, size: 4)
    for window in 1...60 as ClosedRange<Int64> {
      if window % 2 == 1 { controller.leased(inUse: 8) }
      _ = controller.endWindow(inUse: 0, at: window * sizing.windowNanoseconds)
    }
    #expect(controller.resizes == PoolSizing.resizesMax)
    controller.stalled()
    #expect(controller.endWindow(inUse: 0, at: 61 * sizing.windowNanoseconds).isEmpty)
    #expect(!controller.isTripped)
  }

  @Test func `a window counts what was held, given back, asked for and not found`() {
    var controller = PoolController(PoolSizing(), size: 8)
    controller.leased(inUse: 1)
    controller.leased(inUse: 2)
    controller.returned()
    controller.stalled()
    #expect(
      controller.window == PoolController.Window(peak: 2, completed: 1, requests: 3, stalls: 1))
    _ = controller.endWindow(inUse: 1, at: 1)
    #expect(controller.window == PoolController.Window(peak: 1))
  }

  // MARK: Pressure

  @Test func `heat forces four buffers, and none more for thirty seconds`() {
    var line = SizingTimeline()
    line.press(200) { $0.becameHot(at: $1) }
    #expect(line.play(String(repeating: "4", count: 60)) == String(repeating: "4", count: 60))
    #expect(line.play("444") == "556")
    #expect(line.resizes == ["200 8→4 thermal", "30500 4→5 expand", "31500 5→6 expand"])
  }

  @Test func `heat that goes on holds on`() {
    var line = SizingTimeline()
    line.press(0) { $0.becameHot(at: $1) }
    _ = line.play(String(repeating: "4", count: 40))
    line.press(0) { $0.becameHot(at: $1) }
    _ = line.play(String(repeating: "4", count: 59))
    #expect(line.resizes == ["0 8→4 thermal"])
    _ = line.play("4")
    #expect(line.resizes.last == "50000 4→5 expand")
  }

  @Test func `short memory leaves three buffers, and the pool may grow again`() {
    var line = SizingTimeline()
    line.press(200) { $0.ranShortOfMemory(at: $1) }
    #expect(line.play("333333") == "334444")
    #expect(line.resizes == ["200 8→3 memory", "1500 3→4 expand"])
  }

  @Test func `pressure waits for the end of the second`() {
    var line = SizingTimeline()
    _ = line.play("77")
    line.press(200) { $0.becameHot(at: $1) }
    line.press(300) { $0.ranShortOfMemory(at: $1) }
    _ = line.play("0000")
    #expect(line.resizes == ["1000 8→9 expand", "2000 9→3 memory"])
  }

  @Test func `pressure can be switched off`() {
    var line = SizingTimeline { $0.off = [.thermal, .memory] }
    line.press(0) { $0.becameHot(at: $1) }
    line.press(0) { $0.ranShortOfMemory(at: $1) }
    #expect(line.play("77") == "89")
  }

  // MARK: The breaker

  @Test func `more than a tenth of stalls over five seconds makes a large fixed pool`() {
    var line = SizingTimeline { $0.off = [.expand, .shrink] }
    for _ in 0..<9 { line.window(peak: 8, requests: 15, stalls: 2) }
    #expect(line.steps.isEmpty)
    line.window(peak: 8, requests: 15, stalls: 2)
    #expect(line.steps.map(\.step.trip) == [PoolController.Trip(requests: 150, stalls: 20)])
    #expect(line.resizes == ["5000 8→16 breaker"])
    line.press(0) { $0.becameHot(at: $1) }
    _ = line.play("0000000000")
    #expect(line.controller.size == 16 && line.resizes.count == 1)
  }

  @Test func `a tenth is not more than a tenth, and stalls in the heat are meant to be`() {
    var even = SizingTimeline { $0.off = [.expand, .shrink] }
    for _ in 0..<30 { even.window(peak: 8, requests: 20, stalls: 2) }
    #expect(even.steps.isEmpty)
    var hot = SizingTimeline()
    hot.press(0) { $0.becameHot(at: $1) }
    for _ in 0..<59 { hot.window(peak: 4, requests: 15, stalls: 9) }
    #expect(hot.resizes == ["0 8→4 thermal"])
    var off = SizingTimeline { $0.off = [.breaker, .expand] }
    for _ in 0..<30 { off.window(peak: 8, requests: 15, stalls: 9) }
    #expect(off.steps.isEmpty)
  }

  @Test func `the breaker's change waits for the end of the second too`() {
    var line = SizingTimeline(size: 12) { $0.breakerNanoseconds = 1_000_000_000 }
    line.press(400) { $0.ranShortOfMemory(at: $1) }
    for _ in 0..<3 { line.window(peak: 3, requests: 10, stalls: 5) }
    #expect(line.resizes == ["400 12→3 memory", "1500 3→16 breaker"])
    #expect(line.steps.map(\.time) == [400_000_000, 1_000_000_000, 1_500_000_000])
  }

  // MARK: Failures and the end of a life

  @Test func `a pool is made anew after a buffer could not be made`() {
    var line = SizingTimeline()
    line.controller.allocationFailed()
    line.controller.allocationFailed()
    #expect(line.play("555") == "888")
    #expect(line.resizes == ["500 8→8 recreate"])
    var off = SizingTimeline { $0.off = [.recreate] }
    off.controller.allocationFailed()
    _ = off.play("555")
    #expect(off.resizes.isEmpty)
  }

  @Test func `a pressure that asks for no smaller size lets a pool be made again at once`() {
    var line = SizingTimeline { $0.memorySize = 8 }
    line.controller.allocationFailed()
    line.press(100) { $0.ranShortOfMemory(at: $1) }
    #expect(line.resizes == ["100 8→8 recreate"])
    var smaller = SizingTimeline()
    smaller.controller.allocationFailed()
    smaller.press(100) { $0.ranShortOfMemory(at: $1) }
    #expect(smaller.resizes == ["100 8→3 memory"], "the smaller size comes first")
  }

  @Test func `the fiftieth change is the last, and leaves no small pool behind`() {
    var line = SizingTimeline { $0.off = [.hysteresis, .breaker] }
    // Bounded: a change at least every two windows.
    for round in 0..<400 where line.controller.resizes < 49 {
      _ = line.play(round / 8 % 2 == 0 ? "cc" : "00")
    }
    #expect(line.controller.resizes == 49)
    _ = line.play("0000000000")
    #expect(line.controller.resizes == 49, "the last one is kept for growing")
    let before = line.controller.size
    _ = line.play("cccc")
    #expect(line.controller.resizes == 50 && line.controller.size == 12 && before < 11)
    line.press(0) { $0.ranShortOfMemory(at: $1) }
    line.controller.allocationFailed()
    _ = line.play("0000000000")
    #expect(line.controller.resizes == 50 && line.controller.size == 12)
  }

  @Test func `a controller at rest would go on deciding nothing`() {
    var line = SizingTimeline(alphaPermille: 300)
    _ = line.play("5555")
    #expect(!line.controller.isAtRest(inUse: 0, at: line.now))
    // Bounded: the prediction goes to zero, and the pool to its minimum.
    var windows = 0
    while !line.controller.isAtRest(inUse: 0, at: line.now), windows < 200 {
      line.window()
      windows += 1
    }
    #expect(windows < 60 && line.controller.size == 4)
    let rested = line.controller
    for _ in 0..<100 { line.window() }
    #expect(line.controller == rested)
  }
}
