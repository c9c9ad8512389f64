import RetakeBuffers
import RetakeTestSupport
import Testing

/// Random loads and pressures: the bounds always hold.
@Suite struct PoolControllerPropertyTests {
  private static let sequences = 10_000

  private struct Drawn {
    var generator: SeededGenerator
    let sizing: PoolSizing
    var controller: PoolController
    var now: Int64 = 0
    var steps: [(time: Int64, step: PoolController.Step)] = []

    init(seed: Int) {
      var generator = SeededGenerator(seed: UInt64(seed))
      var sizing = PoolSizing()
      sizing.min = generator.pick(1...8)
      sizing.max = sizing.min + generator.pick(0...12)
      sizing.predictor = generator.pick(PoolSizing.Predictor.allCases)
      sizing.alphaPermille = generator.pick(1...1_000)
      sizing.expandAbove = generator.pick(1...99)
      sizing.shrinkBelow = generator.pick(1...99)
      sizing.expandAfter = generator.pick(1...3)
      sizing.shrinkAfter = generator.pick(1...4)
      sizing.memorySize = generator.pick(1...4)
      sizing.thermalHoldNanoseconds = Int64(generator.pick(0...30)) * 1_000_000_000
      sizing.off = Set(PoolSizing.Policy.allCases.filter { _ in generator.chance(15) })
      self.sizing = sizing
      controller = PoolController(sizing, size: generator.pick(1...20))
      self.generator = generator
    }

    mutating func play() {
      let start = controller.size
      precondition((sizing.min...sizing.max).contains(start), "a pool begins between its bounds")
      var load = generator.pick(0...20)
      for _ in 0..<generator.pick(20...120) {
        if generator.chance(20) { load = generator.pick(0...20) }
        window(load)
      }
    }

    private mutating func window(_ load: Int) {
      for want in 1...max(1, load) {
        want <= controller.size ? controller.leased(inUse: want) : controller.stalled()
      }
      if generator.chance(3) { controller.allocationFailed() }
      if generator.chance(4) { note(controller.becameHot(at: now + 1), now + 1) }
      if generator.chance(4) { note(controller.ranShortOfMemory(at: now + 2), now + 2) }
      now += sizing.windowNanoseconds
      note(controller.endWindow(inUse: min(load, controller.size), at: now), now)
    }

    private mutating func note(_ step: PoolController.Step, _ time: Int64) {
      if !step.isEmpty { steps.append((time, step)) }
    }
  }

  private func broken(_ drawn: Drawn) -> String? {
    let resizes = drawn.steps.compactMap { time, step in step.resize.map { (time, $0) } }
    if resizes.count > PoolSizing.resizesMax { return "\(resizes.count) resizes" }
    for (before, after) in zip(resizes, resizes.dropFirst()) {
      if after.0 - before.0 < PoolSizing.spacingNanoseconds { return "two within a second" }
      if after.1.from != before.1.to { return "a size that nothing decided" }
    }
    for (index, (_, resize)) in resizes.enumerated() {
      if resize.to < drawn.sizing.smallest { return "below the floor: \(resize)" }
      if resize.to > drawn.sizing.largest { return "above the cap: \(resize)" }
      let isSmallStep = abs(resize.to - resize.from) == 1
      switch resize.reason {
      case .expand where !isSmallStep && index != PoolSizing.resizesMax - 1: return "\(resize)"
      case .shrink where !isSmallStep: return "\(resize)"
      case .recreate where resize.to != resize.from: return "\(resize)"
      case .thermal where resize.to > drawn.sizing.thermalSize: return "\(resize)"
      case .memory where resize.to > drawn.sizing.memorySize: return "\(resize)"
      case .breaker where resize.to != drawn.sizing.breakerSize: return "\(resize)"
      default: break
      }
    }
    if drawn.steps.count(where: { $0.step.trip != nil }) > 1 { return "two trips" }
    return nil
  }

  @Test func `whatever comes, the bounds hold, and the same comes out again`() {
    var seen: Set<PoolController.Reason> = []
    var lives = 0
    for seed in 0..<Self.sequences {
      var drawn = Drawn(seed: seed)
      drawn.play()
      if let broken = broken(drawn) {
        Issue.record("seed \(seed): \(broken)")
        return
      }
      var again = Drawn(seed: seed)
      again.play()
      #expect(again.controller == drawn.controller)
      seen.formUnion(drawn.steps.compactMap { $0.step.resize?.reason })
      if drawn.controller.resizes == PoolSizing.resizesMax { lives += 1 }
    }
    #expect(seen == Set(PoolController.Reason.allCases), "every rule was reached")
    #expect(lives > 0, "some pools came to the end of their life")
  }
}
