/// Decides how many buffers an adaptive pool has. A state machine that knows numbers only: told what
/// is asked for and held, and when a window ends, it says what shall be.
///
/// It reads no clock and waits for nobody, so the decision core uses it in replay as it does live,
/// and `BufferPool` for buffers of any kind.
public struct PoolController: Hashable, Sendable {
  /// Why a pool changes its size.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    case expand
    case shrink
    case thermal
    case memory
    case breaker
    /// The same number of new buffers, since one could not be made.
    case recreate
  }

  public struct Resize: Hashable, Sendable {
    public var from: Int
    public var to: Int
    public var reason: Reason
  }

  /// Too many requests found no buffer: from now on the pool is a fixed one.
  public struct Trip: Hashable, Sendable {
    public var requests: Int
    public var stalls: Int
  }

  /// What was decided, in this order.
  public struct Step: Hashable, Sendable {
    public var trip: Trip?
    public var resize: Resize?

    public var isEmpty: Bool { trip == nil && resize == nil }
  }

  /// What happened in one window.
  public struct Window: Hashable, Sendable {
    /// The most buffers that were held at once.
    public var peak = 0
    /// Buffers that came back: the velocity.
    public var completed = 0
    public var requests = 0
    /// Requests that found no buffer.
    public var stalls = 0
  }

  /// A size that no prediction asked for, as soon as the bounds allow it.
  private struct Forced: Hashable, Sendable {
    var size: Int
    var reason: Reason
  }

  public let sizing: PoolSizing
  public private(set) var size: Int
  public private(set) var resizes = 0
  public private(set) var isTripped = false
  /// The one that goes on.
  public private(set) var window = Window()
  private var predictor: PoolPredictor
  private var breaker: PoolBreaker
  private var expansionStreak = 0
  private var shrinkStreak = 0
  private var lastResize: Int64?
  /// Until then the pool does not grow.
  private var holdEnd: Int64?
  private var forced: Forced?
  private var needsRecreation = false

  /// - Parameter size: What the pool begins with; kept between `min` and `max`.
  public init(_ sizing: PoolSizing, size: Int) {
    self.sizing = sizing
    self.size = Swift.min(Swift.max(size, sizing.min), sizing.max)
    predictor = PoolPredictor(sizing)
    breaker = PoolBreaker(sizing)
  }

  /// The most buffers that are foreseen to be held at once, in 1/65,536 of a buffer.
  package var predicted: Int64 { predictor.predicted }

  // MARK: What happens within a window

  /// Somebody asked for a buffer and got it; so many are held now.
  public mutating func leased(inUse: Int) {
    window.requests += 1
    window.peak = Swift.max(window.peak, inUse)
  }

  /// Somebody asked for a buffer and there was none.
  public mutating func stalled() {
    window.requests += 1
    window.stalls += 1
  }

  public mutating func returned() { window.completed += 1 }

  /// A buffer could not be made: at the end of the window the pool is made anew.
  public mutating func allocationFailed() {
    if sizing.isOn(.recreate) { needsRecreation = true }
  }

  // MARK: Pressure

  /// The device is hot: few buffers at once, and no more for a while.
  public mutating func becameHot(at now: Int64) -> Step {
    guard sizing.isOn(.thermal), !isTripped else { return Step() }
    holdEnd = now + sizing.thermalHoldNanoseconds
    force(sizing.thermalSize, .thermal)
    return Step(resize: resizeIfForced(at: now))
  }

  /// Memory is short: as few buffers as will do.
  public mutating func ranShortOfMemory(at now: Int64) -> Step {
    guard sizing.isOn(.memory), !isTripped else { return Step() }
    force(sizing.memorySize, .memory)
    return Step(resize: resizeIfForced(at: now))
  }

  /// The smaller of what was forced before and now.
  private mutating func force(_ size: Int, _ reason: Reason) {
    guard size < forced?.size ?? self.size else { return }
    forced = Forced(size: size, reason: reason)
  }

  // MARK: Windows

  /// A window ends; so many buffers are held.
  public mutating func endWindow(inUse: Int, at now: Int64) -> Step {
    let ended = window
    window = Window(peak: inUse)
    predictor.add(peak: Swift.max(ended.peak, inUse))
    guard !isTripped else { return Step(resize: resizeIfForced(at: now)) }
    let isHeld = holdEnd.map { now < $0 } ?? false
    var step = Step(trip: trip(ended, isHeld: isHeld))
    countStreaks()
    step.resize = resizeIfForced(at: now) ?? resizeByPrediction(isHeld: isHeld, at: now)
    return step
  }

  /// Whether windows without requests would go on changing nothing, so that none need be counted.
  public func isAtRest(inUse: Int, at now: Int64) -> Bool {
    if resizes < PoolSizing.resizesMax {
      guard forced == nil, !needsRecreation, mayResize(at: now) else { return false }
    }
    guard holdEnd.map({ $0 <= now }) ?? true else { return false }
    var next = self
    return next.endWindow(inUse: inUse, at: now).isEmpty && next == self
  }

  private mutating func trip(_ ended: Window, isHeld: Bool) -> Trip? {
    guard sizing.isOn(.breaker) else { return nil }
    // Stalls in the heat are meant to be.
    guard !isHeld else {
      breaker.forget()
      return nil
    }
    guard let found = breaker.add(requests: ended.requests, stalls: ended.stalls) else {
      return nil
    }
    isTripped = true
    forced = sizing.breakerSize == size ? nil : Forced(size: sizing.breakerSize, reason: .breaker)
    needsRecreation = false
    return Trip(requests: found.requests, stalls: found.stalls)
  }

  private mutating func countStreaks() {
    let isHigh = predictor.isAbove(percent: sizing.expandAbove, of: size)
    let isLow = predictor.isBelow(percent: sizing.shrinkBelow, of: size)
    expansionStreak = isHigh ? Swift.min(expansionStreak + 1, sizing.expansionsNeeded()) : 0
    shrinkStreak = isLow ? Swift.min(shrinkStreak + 1, sizing.shrinksNeeded()) : 0
  }

  private mutating func resizeIfForced(at now: Int64) -> Resize? {
    guard mayResize(at: now) else { return nil }
    if let forced {
      self.forced = nil
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
      // A pool that can never grow again is not left small.
      return resize(to: isLast ? sizing.max : size + 1, .expand, at: now)
    }
    if sizing.isOn(.shrink), shrinkStreak >= sizing.shrinksNeeded(), size > sizing.min, !isLast {
      return resize(to: size - 1, .shrink, at: now)
    }
    return nil
  }

  private func mayResize(at now: Int64) -> Bool {
    resizes < PoolSizing.resizesMax
      && lastResize.map { now - $0 >= PoolSizing.spacingNanoseconds } ?? true
  }

  private mutating func resize(to new: Int, _ reason: Reason, at now: Int64) -> Resize {
    defer { size = new }
    resizes += 1
    lastResize = now
    expansionStreak = 0
    shrinkStreak = 0
    return Resize(from: size, to: new, reason: reason)
  }
}
