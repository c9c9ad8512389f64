/// Decides how many buffers an adaptive pool has. It is a state machine that works on numbers only.
/// Its inputs are requests, held buffers and the ends of windows. Its output is the size.
///
/// It reads no clock and never waits. So the decision core uses it in the same way in replays and
/// live, and `BufferPool` uses it for buffers of any kind.
public struct PoolController: Hashable, Sendable {
  /// Why a pool changes its size.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    case expand
    case shrink
    case thermal
    case memory
    case breaker
    /// The same number of new buffers, because one could not be created.
    case recreate
  }

  /// A change of the number of buffers.
  public struct Resize: Hashable, Sendable {
    /// Buffers before the change.
    public var from: Int
    /// Buffers after the change; as many as before for `recreate`.
    public var to: Int
    /// If several reasons apply at once, the first one by the rules of docs/architecture.md.
    public var reason: Reason
  }

  /// Too many requests found no buffer. From now on, the pool is a fixed one.
  public struct Trip: Hashable, Sendable {
    /// Requests during the last `PoolSizing.breakerNanoseconds`, counted by windows.
    public var requests: Int
    /// How many of these requests found no buffer.
    public var stalls: Int
  }

  /// The decisions, in this order.
  public struct Step: Hashable, Sendable {
    /// `nil` unless the breaker tripped now. It trips at most once.
    public var trip: Trip?
    /// `nil` if the size stays, or may not change yet.
    public var resize: Resize?

    /// Whether the step contains no decision.
    package var isEmpty: Bool { trip == nil && resize == nil }
  }

  /// The counts of one window.
  package struct Window: Hashable, Sendable {
    /// The largest number of buffers that were held at once.
    package var peak = 0
    /// Buffers that were returned: the velocity, which `trend` compares with the requests.
    package var completed = 0
    package var requests = 0
    /// Requests that found no buffer.
    package var stalls = 0
  }

  /// A size that does not come from a prediction, applied as soon as the bounds allow it.
  private struct Forced: Hashable, Sendable {
    var size: Int
    var reason: Reason
  }

  package let sizing: PoolSizing
  package private(set) var size: Int
  package private(set) var resizes = 0
  package private(set) var isTripped = false
  /// The current window.
  package private(set) var window = Window()
  private var predictor: PoolPredictor
  private var breaker: PoolBreaker
  private var expansionStreak = 0
  private var shrinkStreak = 0
  private var lastResize: Int64?
  /// The pool does not grow until this time.
  private var holdEnd: Int64?
  private var forced: Forced?
  private var needsRecreation = false

  /// - Parameter size: The initial size; clamped to `min` and `max`.
  package init(_ sizing: PoolSizing, size: Int) {
    self.sizing = sizing
    self.size = Swift.min(Swift.max(size, sizing.min), sizing.max)
    predictor = PoolPredictor(sizing)
    breaker = PoolBreaker(sizing)
  }

  /// The predicted largest number of buffers that are held at once, in 1/65,536 of a buffer.
  package var predicted: Int64 { predictor.predicted }

  // MARK: Events within a window

  /// A buffer was requested and leased; `inUse` buffers are held now.
  package mutating func leased(inUse: Int) {
    window.requests += 1
    leasedAfterStall(inUse: inUse)
  }

  /// A request that waited, and was counted when it stalled, got its buffer.
  package mutating func leasedAfterStall(inUse: Int) {
    window.peak = Swift.max(window.peak, inUse)
  }

  /// A buffer was requested, but no buffer was free.
  package mutating func stalled() {
    window.requests += 1
    window.stalls += 1
  }

  package mutating func returned() { window.completed += 1 }

  /// A buffer could not be created. The pool is recreated at the end of the window, or at a
  /// pressure before it that asks for no smaller size.
  package mutating func allocationFailed() {
    if sizing.isOn(.recreate) { needsRecreation = true }
  }

  // MARK: Pressure

  /// The device is hot: the pool shrinks as soon as the bounds allow it, and does not grow for a
  /// while.
  package mutating func becameHot(at now: Int64) -> Step {
    guard sizing.isOn(.thermal), !isTripped else { return Step() }
    // pool-resize: until `holdEnd` the pool does not expand, even if this pressure does not resize
    // it.
    holdEnd = now + sizing.thermalHoldNanoseconds
    force(sizing.thermalSize, .thermal)
    return Step(resize: resizeIfForced(at: now))
  }

  /// Memory is short: the pool shrinks to `memorySize` as soon as the bounds allow it.
  package mutating func ranShortOfMemory(at now: Int64) -> Step {
    guard sizing.isOn(.memory), !isTripped else { return Step() }
    // pool-pressure: decided now, or at a window's end if pool-bounds does not allow it yet.
    force(sizing.memorySize, .memory)
    return Step(resize: resizeIfForced(at: now))
  }

  /// Keeps the smaller of the sizes that were forced before and now.
  private mutating func force(_ size: Int, _ reason: Reason) {
    // pool-resize: of two pressures the smaller size counts; another pressure has no effect.
    guard size < forced?.size ?? self.size else { return }
    forced = Forced(size: size, reason: reason)
  }

  // MARK: Windows

  /// A window ends; `inUse` buffers are held.
  package mutating func endWindow(inUse: Int, at now: Int64) -> Step {
    let ended = window
    // pool-window: buffers that are still held belong to the peak of the next window as well.
    window = Window(peak: inUse)
    predictor.add(ended, inUse: inUse)
    // pool-breaker: the pool is fixed; only its new size may still have to wait for pool-bounds.
    guard !isTripped else { return Step(resize: resizeIfForced(at: now)) }
    let isHeld = holdEnd.map { now < $0 } ?? false
    var step = Step(trip: trip(ended, isHeld: isHeld))
    countStreaks()
    // pool-resize: a forced size has priority over a predicted size.
    step.resize = resizeIfForced(at: now)
    // pool-breaker: a pool that has the breaker's size already is fixed from this window on.
    if step.resize == nil, !isTripped {
      step.resize = resizeByPrediction(isHeld: isHeld, at: now)
    }
    return step
  }

  /// Whether further windows without requests would not change the pool, so that they can be
  /// skipped.
  ///
  /// - Parameter awaitsReturns: Whether a buffer that is held may come back.
  package func isAtRest(inUse: Int, at now: Int64, awaitsReturns: Bool = true) -> Bool {
    // pool-bounds: after the last change, a forced size is never applied, so the pool does not wait
    // for it.
    if resizes < PoolSizing.resizesMax {
      guard forced == nil, !needsRecreation, mayResize(at: now) else { return false }
    }
    guard holdEnd.map({ $0 <= now }) ?? true else { return false }
    // A buffer that comes back at the very end of a window still counts in it, and `trend` counts
    // completions.
    guard sizing.predictor != .trend || inUse == 0 || !awaitsReturns else { return false }
    var next = self
    return next.endWindow(inUse: inUse, at: now).isEmpty && next == self
  }

  private mutating func trip(_ ended: Window, isHeld: Bool) -> Trip? {
    // pool-bounds: after the last change the pool is a fixed one, and cannot become a larger one.
    guard sizing.isOn(.breaker), resizes < PoolSizing.resizesMax else { return nil }
    // Stalls while the pool is held small because of heat are intended.
    guard !isHeld else {
      breaker.forget()
      return nil
    }
    guard let found = breaker.add(requests: ended.requests, stalls: ended.stalls) else {
      return nil
    }
    isTripped = true
    // pool-breaker: its size replaces a pressure that still waits.
    forced = sizing.breakerSize == size ? nil : Forced(size: sizing.breakerSize, reason: .breaker)
    needsRecreation = false
    return Trip(requests: found.requests, stalls: found.stalls)
  }

  private mutating func countStreaks() {
    let isHigh = predictor.isAbove(percent: sizing.expandAbove, of: size)
    let isLow = predictor.isBelow(percent: sizing.shrinkBelow, of: size)
    // Bounded, so that a pool at rest has an equal state after a window (`isAtRest`).
    expansionStreak = isHigh ? Swift.min(expansionStreak + 1, sizing.expansionsNeeded()) : 0
    shrinkStreak = isLow ? Swift.min(shrinkStreak + 1, sizing.shrinksNeeded()) : 0
  }

  private mutating func resizeIfForced(at now: Int64) -> Resize? {
    // pool-bounds: a forced size is kept until a change is allowed.
    guard mayResize(at: now) else { return nil }
    if let forced {
      self.forced = nil
      // The pool may have shrunk meanwhile; a pressure never expands it.
      if forced.reason == .breaker || forced.size < size {
        return resize(to: forced.size, forced.reason, at: now)
      }
    }
    guard needsRecreation else { return nil }
    needsRecreation = false
    return resize(to: size, .recreate, at: now)
  }

  private mutating func resizeByPrediction(isHeld: Bool, at now: Int64) -> Resize? {
    guard mayResize(at: now) else { return nil }
    let isLast = resizes == PoolSizing.resizesMax - 1
    if sizing.isOn(.expand), expansionStreak >= sizing.expansionsNeeded(), !isHeld,
      size < sizing.max
    {
      // The last resize expands to the maximum, because the pool can never grow again.
      return resize(to: isLast ? sizing.max : size + 1, .expand, at: now)
    }
    // pool-resize: the last change is not spent on
    // shrinking, because the pool could not grow again.
    if sizing.isOn(.shrink), shrinkStreak >= sizing.shrinksNeeded(), size > sizing.min, !isLast {
      return resize(to: size - 1, .shrink, at: now)
    }
    return nil
  }

  private func mayResize(at now: Int64) -> Bool {
    // pool-bounds: they hold for every reason, pressure and breaker included.
    resizes < PoolSizing.resizesMax
      && lastResize.map { now - $0 >= PoolSizing.spacingNanoseconds } ?? true
  }

  private mutating func resize(to new: Int, _ reason: Reason, at now: Int64) -> Resize {
    defer { size = new }
    resizes += 1
    // pool-resize: predictions are counted again from here, because they compare with the new size.
    lastResize = now
    expansionStreak = 0
    shrinkStreak = 0
    return Resize(from: size, to: new, reason: reason)
  }
}
