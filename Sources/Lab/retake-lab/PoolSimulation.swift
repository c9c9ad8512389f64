import RetakeBench
import RetakeBuffers

/// One pool under one load without events and with one server, as `PoolTrial` runs it on the
/// engine, but as a loop over a few numbers: about a hundred times faster, for searches. A test
/// compares the two.
struct PoolSimulation {
  struct Outcome: Hashable, Sendable {
    var frames: Int
    /// Frames that found no free buffer when they arrived.
    var stalls = 0
    var lost = 0
    /// Buffers times nanoseconds, until the load's end.
    var sizeArea: Int64 = 0
    var nanoseconds: Int64
    var peakUsed = 0
    var waits: [Int64] = []
    var resizes: [Change] = []
    var isBroken = false

    /// The mean over time, in hundredths of a buffer.
    var meanHundredths: Int { Int((sizeArea * 100 + nanoseconds / 2) / nanoseconds) }
    var stallsPerTenThousand: Int { (stalls * 10_000 + frames / 2) / frames }
  }

  struct Change: Hashable, Sendable {
    var time: Int64
    /// Buffers before and after.
    var from: Int
    var to: Int
  }

  let arrivals: [Int64]
  let costs: [Int64]
  /// Its wait may be changed: arrivals and costs do not depend on it.
  var load: PoolLoad

  init(_ load: PoolLoad) {
    precondition(load.events.isEmpty && load.executors == 1, "no device, and one server")
    self.load = load
    arrivals = (0..<load.frameCount).map { load.time(ofFrame: $0) }
    costs = (0..<load.frameCount).map { load.cost(ofFrame: $0) }
  }

  func run(_ contender: PoolContender) -> Outcome {
    var run = Run(self, contender)
    // Ends: each step is at a later time, and the frames end.
    while run.step() {}
    return run.finished()
  }
}

extension PoolSimulation {
  private struct Run {
    private let arrivals: [Int64]
    private let costs: [Int64]
    private let end: Int64
    private let limit: Int64?
    private let driverFrames: Int
    private var controller: PoolController?
    private var windowEnd: Int64 = .max
    /// When a larger size is in force, and the size.
    private var ready: (time: Int64, size: Int) = (.max, 0)
    private var capacity: Int
    private var inUse = 0
    /// When the body that runs will end.
    private var bodyEnd: Int64 = .max
    /// Frames that leased a buffer, in order; work on the first `served` frames has begun.
    private var queue: [Int] = []
    private var served = 0
    private var next = 0
    private var inHand: (frame: Int, limit: Int64)?
    private var behind: [Int] = []
    private var sizeSince: Int64 = 0
    private var outcome: Outcome

    init(_ simulation: PoolSimulation, _ contender: PoolContender) {
      let load = simulation.load
      (arrivals, costs) = (simulation.arrivals, simulation.costs)
      end = load.nanoseconds
      (limit, driverFrames) = (load.wait?.nanoseconds, load.driverFrames)
      capacity = contender.capacity
      outcome = Outcome(frames: arrivals.count, nanoseconds: load.nanoseconds)
      guard var sizing = contender.adaptive else { return }
      sizing.resizeNanoseconds = load.resizeNanoseconds
      controller = PoolController(sizing, size: contender.capacity)
      windowEnd = (arrivals.first ?? 0) + sizing.windowNanoseconds
    }

    /// Does all that happens at the next time: ends first, then the size, then arrivals.
    mutating func step() -> Bool {
      guard bodyEnd < .max || next < arrivals.count || inHand != nil else { return false }
      let now = nextTime
      if bodyEnd == now { endBody(at: now) }
      if ready.time == now { putInForce(at: now) }
      if windowEnd == now { endWindow(at: now) }
      if let waiting = inHand, inUse < capacity {
        inHand = nil
        outcome.waits.append(now - arrivals[waiting.frame])
        lease(waiting.frame, at: now, isCounted: true)
        admitBehind(at: now)
      }
      if let waiting = inHand, waiting.limit == now {
        inHand = nil
        outcome.lost += 1
        admitBehind(at: now)
      }
      if next < arrivals.count, arrivals[next] == now {
        next += 1
        arrive(next - 1, at: now)
      }
      return true
    }

    private var nextTime: Int64 {
      let time = min(bodyEnd, windowEnd, ready.time, inHand?.limit ?? .max)
      return next < arrivals.count ? min(time, arrivals[next]) : time
    }

    mutating func finished() -> Outcome {
      changeSize(to: capacity, at: end)
      outcome.isBroken = controller?.isTripped ?? false
      return outcome
    }

    // MARK: Bodies

    private mutating func endBody(at now: Int64) {
      bodyEnd = .max
      inUse -= 1
      controller?.returned()
      serve(at: now)
    }

    private mutating func serve(at now: Int64) {
      guard bodyEnd == .max, served < queue.count else { return }
      bodyEnd = now + costs[queue[served]]
      served += 1
    }

    // MARK: Frames

    private mutating func arrive(_ frame: Int, at now: Int64) {
      guard inHand != nil else { return admit(frame, at: now, isLate: false) }
      outcome.stalls += 1
      guard behind.count >= driverFrames else { return behind.append(frame) }
      controller?.stalled()
      outcome.lost += 1
    }

    private mutating func admit(_ frame: Int, at now: Int64, isLate: Bool) {
      guard inUse >= capacity else {
        if isLate { outcome.waits.append(now - arrivals[frame]) }
        return lease(frame, at: now, isCounted: false)
      }
      controller?.stalled()
      if !isLate { outcome.stalls += 1 }
      guard let limit else { return outcome.lost += 1 }
      inHand = (frame, now + limit)
    }

    private mutating func admitBehind(at now: Int64) {
      while inHand == nil, !behind.isEmpty {
        admit(behind.removeFirst(), at: now, isLate: true)
      }
    }

    private mutating func lease(_ frame: Int, at now: Int64, isCounted: Bool) {
      inUse += 1
      outcome.peakUsed = max(outcome.peakUsed, now < end ? inUse : 0)
      if isCounted {
        controller?.leasedAfterStall(inUse: inUse)
      } else {
        controller?.leased(inUse: inUse)
      }
      queue.append(frame)
      serve(at: now)
    }

    // MARK: Sizes

    private mutating func endWindow(at now: Int64) {
      guard var controller else { return }
      let step = controller.endWindow(inUse: inUse, at: now)
      windowEnd += controller.sizing.windowNanoseconds
      self.controller = controller
      guard let resize = step.resize else { return }
      outcome.resizes.append(Change(time: now, from: resize.from, to: resize.to))
      let delay = controller.sizing.resizeNanoseconds
      guard resize.to > resize.from, delay > 0 else { return changeSize(to: resize.to, at: now) }
      ready = (now + delay, resize.to)
    }

    private mutating func putInForce(at now: Int64) {
      let size = ready.size
      ready = (.max, 0)
      if size == controller?.size { changeSize(to: size, at: now) }
    }

    private mutating func changeSize(to size: Int, at now: Int64) {
      let until = min(now, end)
      outcome.sizeArea += Int64(capacity) * max(0, until - sizeSince)
      sizeSince = max(sizeSince, until)
      capacity = size
    }
  }
}
