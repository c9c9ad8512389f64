import Synchronization

/// How many buffers of a live pool each stage holds. It contains numbers only.
struct PoolCounters: Sendable {
  /// The facts that a lease stores until it ends.
  struct Taken: Sendable {
    var stage: Int
    /// The pool's generation when the buffer was taken.
    var generation: Int
  }

  private(set) var size: Int
  private(set) var inUse = 0
  /// Counts how often the pool was recreated.
  private(set) var generation = 0
  private var controller: PoolController?
  private var stages: [PoolReport.Stage] = []
  private var peak = 0
  private var stalls = 0
  private var overflows = 0
  private var allocationFailures = 0
  private var windowEnd: Int64?

  init(fixed size: Int) { self.size = size }

  init(_ controller: PoolController) {
    self.controller = controller
    size = controller.size
  }

  /// - Parameter isBounded: Otherwise a buffer beyond the size is counted, and not refused.
  mutating func take(for stage: String, isBounded: Bool = true) -> Taken? {
    if inUse >= size {
      guard !isBounded else {
        stalls += 1
        controller?.stalled()
        return nil
      }
      overflows += 1
    }
    inUse += 1
    if inUse > peak { peak = inUse }
    controller?.leased(inUse: inUse)
    let index = place(of: stage)
    stages[index].leased += 1
    return Taken(stage: index, generation: generation)
  }

  /// There are few stages, so a linear search is faster than a hash table.
  private mutating func place(of stage: String) -> Int {
    for index in stages.indices where stages[index].stage == stage { return index }
    stages.append(PoolReport.Stage(stage: stage))
    return stages.count - 1
  }

  /// - Returns: Whether the buffer should be kept for reuse.
  mutating func giveBack(_ taken: Taken) -> Bool {
    stages[taken.stage].ended += 1
    free()
    // A buffer from before a recreation, or one too many after shrinking, is not used again.
    return taken.generation == generation && inUse < size
  }

  private mutating func free() {
    inUse -= 1
    controller?.returned()
  }

  mutating func failed(_ taken: Taken) {
    stages[taken.stage].leased -= 1
    inUse -= 1
    allocationFailures += 1
    controller?.allocationFailed()
  }

  mutating func noteDoubleEnd(_ taken: Taken) { stages[taken.stage].endedTwice += 1 }

  mutating func noteLeak(_ taken: Taken) {
    stages[taken.stage].leaked += 1
    free()
  }

  // MARK: Size

  /// Sets the size of a pool without a controller.
  mutating func setSize(_ size: Int) { self.size = size }

  mutating func advance(to now: Int64) -> [PoolController.Step] {
    guard controller != nil else { return [] }
    var steps: [PoolController.Step] = []
    // Ends: each turn advances by a window; windows without effect are skipped.
    while let end = windowEnd, end <= now {
      guard let step = change({ $0.endWindow(inUse: $1, at: end) }) else { break }
      if !step.isEmpty { steps.append(step) }
      windowEnd = isAtRest(at: end) ? nil : end + windowNanoseconds
    }
    if windowEnd == nil { windowEnd = now + windowNanoseconds }
    return steps
  }

  private var windowNanoseconds: Int64 { controller?.sizing.windowNanoseconds ?? 0 }

  private func isAtRest(at now: Int64) -> Bool {
    controller?.isAtRest(inUse: inUse, at: now) ?? true
  }

  mutating func becameHot(at now: Int64) -> PoolController.Step {
    change { controller, _ in controller.becameHot(at: now) } ?? PoolController.Step()
  }

  mutating func ranShortOfMemory(at now: Int64) -> PoolController.Step {
    change { controller, _ in controller.ranShortOfMemory(at: now) } ?? PoolController.Step()
  }

  private mutating func change(
    _ decide: (inout PoolController, Int) -> PoolController.Step
  ) -> PoolController.Step? {
    guard var controller else { return nil }
    let step = decide(&controller, inUse)
    self.controller = controller
    size = controller.size
    // pool-resize: buffers that are held now belong to the generation before, and are not kept.
    if step.resize?.reason == .recreate { generation += 1 }
    return step
  }

  var report: PoolReport {
    PoolReport(
      size: size, inUse: inUse, peak: peak, stalls: stalls, overflows: overflows,
      allocationFailures: allocationFailures, resizes: controller?.resizes ?? 0,
      isBroken: controller?.isTripped ?? false,
      stages: stages.sorted { $0.stage.utf8.lexicographicallyPrecedes($1.stage.utf8) })
  }
}

/// Something that happens only once, for the first caller.
struct Once: ~Copyable, Sendable {
  private let isOver = Atomic(false)

  /// - Returns: Whether this is the first time.
  func begin() -> Bool { !isOver.exchange(true, ordering: .acquiringAndReleasing) }
}
