// MARK: - The parts of a pool

extension TimePlaneModel {
  struct Pool {
    var id = "pool"
    /// The buffers that there are now.
    var capacity: Int
    var policy: PoolPolicy
    /// `nil` for a pool of a fixed size.
    var sizing: Sizing?
    /// How long a source waits for a buffer; `nil` for not at all.
    var wait: Int64?
    /// Frames that the driver keeps while its source waits.
    var driverFrames = 0
    /// The size that was decided last. New buffers are there after `resizeTime`.
    var size: Int
    var state = PoolState()
    var figures = PoolFigures()

    init(id: String = "pool", capacity: Int, policy: PoolPolicy, sizing: Sizing? = nil) {
      self.id = id
      self.capacity = capacity
      self.policy = policy
      self.sizing = sizing
      size = capacity
    }
  }

  /// The options of an adaptive pool; times are nanoseconds.
  struct Sizing {
    enum Part { case expand, shrink, hysteresis, thermal, memory, breaker }

    var min = 4
    var max = 12
    var window: Int64 = 500_000_000
    /// Whether the mean of the last ten windows replaces the previous prediction.
    var isAR1 = false
    /// Whether the growth in the window is continued instead.
    var isTrend = false
    /// In thousandths.
    var alpha: Int64 = 300
    var expandAbove = 75
    var expandAfter = 2
    var shrinkBelow = 50
    var shrinkAfter = 3
    var thermalSize = 4
    var thermalHold: Int64 = 30_000_000_000
    var memorySize = 3
    var breakerAbove = 10
    var breakerAfter: Int64 = 5_000_000_000
    var breakerSize = 16
    var resizeTime: Int64 = 0
    var off: Set<Part> = []
  }

  /// A size that pressure asks for.
  struct Wish: Equatable {
    var reason: String
    var size: Int
  }

  struct Counts: Equatable {
    var requests = 0
    var stalls = 0
  }

  /// The buffers that were held when a window began, and the buffers that were leased in it.
  struct Flow: Equatable {
    var heldBefore = 0
    var taken = 0
  }

  struct PoolState: Equatable {
    /// Whether windows follow each other.
    var hasBegun = false
    /// Of this window.
    var counts = Counts()
    var peak = 0
    var flow = Flow()
    /// In 1/65,536 of a buffer.
    var prediction: Int64?
    /// The occupancy of the last ten windows.
    var occupancies: [Int64] = []
    /// Predictions in a row above and below their limits.
    var above = 0
    var below = 0
    /// The windows that the breaker looks at.
    var judged: [Counts] = []
    var wishes: [Wish] = []
    var isBroken = false
    var changes = 0
    var lastChange: Int64?
    /// Load must not make the pool grow before.
    var holdEnds: Int64?
  }

  /// The figures that a run reports about an adaptive pool.
  struct PoolFigures: Equatable {
    var requests = 0
    var stalls = 0
    var peak = 0
    var taken = 0
    /// "time size" for each change that came into force.
    var sizes: [String] = []
  }

  /// Above the ordinals of events of the device and of swaps.
  private static let eventsMax = 1_000_000
  private static let changesMax = 50
  private static let spacing: Int64 = 1_000_000_000
}

// MARK: - Requests and windows

extension TimePlaneModel {
  var adaptivePools: [(Int, Sizing)] {
    pools.enumerated().compactMap { index, pool in pool.sizing.map { (index, $0) } }
  }

  /// Lines of a pool name the first node that leases from it.
  private func firstNode(of pool: Int) -> Int { nodes.firstIndex { $0.pool == pool } ?? -1 }

  /// A request is a frame that leases a buffer, or finds no free buffer.
  func request(_ pool: Int, isStalled: Bool) {
    guard pools[pool].sizing != nil else { return }
    beginWindows(of: pool)
    pools[pool].state.counts.requests += 1
    pools[pool].figures.requests += 1
    guard isStalled else { return }
    pools[pool].state.counts.stalls += 1
    pools[pool].figures.stalls += 1
  }

  func notePeak(of pool: Int) {
    guard pools[pool].sizing != nil else { return }
    let held = heldBuffers(pool)
    // Each lease is noted here once.
    pools[pool].state.flow.taken += 1
    pools[pool].figures.taken += 1
    pools[pool].state.peak = max(pools[pool].state.peak, held)
    pools[pool].figures.peak = max(pools[pool].figures.peak, held)
  }

  private func beginWindows(of pool: Int) {
    guard !pools[pool].state.hasBegun else { return }
    pools[pool].state.hasBegun = true
    planWindow(of: pool)
  }

  private func planWindow(of pool: Int) {
    guard let sizing = pools[pool].sizing else { return }
    // After the swaps and before the pressure of its instant.
    plan(
      Key(
        time: current.time + sizing.window, band: 1, phase: .control, node: firstNode(of: pool),
        ordinal: Self.eventsMax + 1), .windowEnd(pool: pool))
  }

  /// No window ends once no frame is on its way.
  func endWindow(of pool: Int) {
    guard let sizing = pools[pool].sizing, isAnyFrameOnItsWay else { return }
    let before = pools[pool].state
    predict(pool, sizing)
    judge(pool, sizing)
    resize(pool, sizing)
    pools[pool].state.counts = Counts()
    pools[pool].state.peak = heldBuffers(pool)
    pools[pool].state.flow = Flow(heldBefore: heldBuffers(pool))
    if pools[pool].state != before { lastChange = current.time }
    planWindow(of: pool)
  }

  private var isAnyFrameOnItsWay: Bool {
    hasFramesLeft || edges.contains { !$0.onTheWay.isEmpty }
      || nodes.contains { $0.standing != nil }
      || agenda.contains {
        switch $0.what {
        // Also a frame whose end is on its way to a sink.
        case .arrival, .tombstone: true
        default: false
        }
      }
  }

  /// Whether only windows are pending, and no window will ever change anything.
  var isAtRest: Bool {
    let isOnlyWindows = agenda.allSatisfy { if case .windowEnd = $0.what { true } else { false } }
    guard isOnlyWindows, let next = agenda.first?.key.time else { return false }
    let waits = pools.compactMap(\.sizing).map {
      Swift.max($0.thermalHold, Self.spacing) + $0.window
    }
    return next > lastChange + 2 * (waits.max() ?? 0)
  }
}

// MARK: - Prediction and breaker

extension TimePlaneModel {
  private func predict(_ pool: Int, _ sizing: Sizing) {
    let now = Int64(pools[pool].state.peak)
    var state = pools[pool].state
    state.occupancies = (state.occupancies + [now]).suffix(10)
    let unit: Int64 = 65_536
    let mean = state.occupancies.reduce(0, +) * unit / Int64(state.occupancies.count)
    let before = sizing.isAR1 ? mean : state.prediction ?? now * unit
    var next = (sizing.alpha * now * unit + (1_000 - sizing.alpha) * before) / 1_000
    if sizing.isTrend {
      // Buffers that were held or leased and are not held any more have come back.
      let held = heldBuffers(pool)
      let completed = state.flow.heldBefore + state.flow.taken - held
      next = Int64(Swift.max(0, held + 2 * (state.counts.requests - completed))) * unit
    }
    state.prediction = next
    let size = Int64(pools[pool].size) * unit
    let isAbove = next * 100 > Int64(sizing.expandAbove) * size
    let isBelow = next * 100 < Int64(sizing.shrinkBelow) * size
    // More than a hundred in a row are never needed.
    state.above = isAbove ? Swift.min(state.above + 1, 100) : 0
    state.below = isBelow ? Swift.min(state.below + 1, 100) : 0
    pools[pool].state = state
  }

  /// Trips the breaker if too many of the requests of the last windows found no buffer. It begins
  /// again after windows in which heat keeps the pool small.
  private func judge(_ pool: Int, _ sizing: Sizing) {
    guard !sizing.off.contains(.breaker), !isFixed(pool) else { return }
    guard !isHot(pool) else { return pools[pool].state.judged = [] }
    let windows = Int(Swift.max(1, sizing.breakerAfter / sizing.window))
    let judged = Array((pools[pool].state.judged + [pools[pool].state.counts]).suffix(windows))
    pools[pool].state.judged = judged
    let requests = judged.reduce(0) { $0 + $1.requests }
    let stalls = judged.reduce(0) { $0 + $1.stalls }
    guard judged.count == windows, stalls * 100 > sizing.breakerAbove * requests else { return }
    pools[pool].state.isBroken = true
    pools[pool].state.wishes = []
    say(
      firstNode(of: pool),
      "breaker pool=\(pools[pool].id) requests=\(requests) stalls=\(stalls)")
  }

  /// Whether heat keeps the pool from growing.
  private func isHot(_ pool: Int) -> Bool {
    pools[pool].state.holdEnds.map { current.time < $0 } ?? false
  }

  /// Whether the pool is a fixed one from now on.
  private func isFixed(_ pool: Int) -> Bool {
    pools[pool].state.isBroken || pools[pool].state.changes == Self.changesMax
  }
}

// MARK: - Changes of size

extension TimePlaneModel {
  /// The effect of a device event at its own instant is in band 1.
  func planPressure(on pool: Int, _ wish: Wish) {
    plan(
      Key(
        time: current.time, band: 1, phase: .control, node: firstNode(of: pool),
        ordinal: Self.eventsMax + 2 + current.ordinal), .pressure(pool: pool, wish))
  }

  /// Pressure is decided at its own instant if the bounds allow it, or else at a window's end.
  func press(_ pool: Int, _ wish: Wish) {
    beginWindows(of: pool)
    guard let sizing = pools[pool].sizing, !isFixed(pool),
      !sizing.off.contains(wish.reason == "thermal" ? .thermal : .memory)
    else { return }
    if wish.reason == "thermal" {
      pools[pool].state.holdEnds = current.time + sizing.thermalHold
    }
    pools[pool].state.wishes.append(wish)
    if isAllowed(pool) { yield(pool) }
  }

  /// One change of size a second at most, and 50 in the life of the pool.
  private func isAllowed(_ pool: Int) -> Bool {
    guard pools[pool].state.changes < Self.changesMax else { return false }
    return pools[pool].state.lastChange.map { current.time - $0 >= Self.spacing } ?? true
  }

  /// Shrinks the pool to the smallest size that pressure asks for. Returns whether the size
  /// changed.
  @discardableResult
  private func yield(_ pool: Int) -> Bool {
    let wishes = pools[pool].state.wishes
    pools[pool].state.wishes = []
    let least = wishes.map(\.size).min() ?? .max
    guard least < pools[pool].size else { return false }
    // Of two pressures for the same size, the earlier one.
    guard let wish = wishes.first(where: { $0.size == least }) else { return false }
    change(pool, to: least, wish.reason)
    return true
  }

  private func resize(_ pool: Int, _ sizing: Sizing) {
    guard isAllowed(pool) else { return }
    let size = pools[pool].size
    if pools[pool].state.isBroken {
      if size != sizing.breakerSize { change(pool, to: sizing.breakerSize, "breaker") }
      return
    }
    if yield(pool) { return }
    let isLast = pools[pool].state.changes == Self.changesMax - 1
    let isSteady = !sizing.off.contains(.hysteresis)
    if !sizing.off.contains(.expand), size < sizing.max, !isHot(pool),
      pools[pool].state.above >= (isSteady ? sizing.expandAfter : 1)
    {
      change(pool, to: isLast ? sizing.max : size + 1, "expand")
    } else if !sizing.off.contains(.shrink), size > sizing.min, !isLast,
      pools[pool].state.below >= (isSteady ? sizing.shrinkAfter : 1)
    {
      change(pool, to: size - 1, "shrink")
    }
  }

  private func change(_ pool: Int, to size: Int, _ reason: String) {
    say(
      firstNode(of: pool),
      "resize from=\(pools[pool].size) pool=\(pools[pool].id) reason=\(reason) to=\(size)")
    let isLarger = size > pools[pool].size
    pools[pool].size = size
    pools[pool].state.changes += 1
    pools[pool].state.lastChange = current.time
    pools[pool].state.above = 0
    pools[pool].state.below = 0
    guard isLarger, let delay = pools[pool].sizing?.resizeTime, delay > 0 else {
      return putInForce(size, of: pool)
    }
    plan(
      Key(
        time: current.time + delay, band: 1, phase: .control, node: firstNode(of: pool),
        ordinal: Self.eventsMax), .inForce(pool: pool, size: size))
  }

  /// A smaller size is in force at once, a larger one after `resizeTime`.
  func putInForce(_ size: Int, of pool: Int) {
    guard pools[pool].size == size else { return }
    pools[pool].capacity = size
    pools[pool].figures.sizes.append("\(current.time) \(size)")
  }
}
