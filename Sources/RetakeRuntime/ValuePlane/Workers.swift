import Foundation
import RetakeCore
import Synchronization

/// Real threads that compute values. Their number changes the speed and nothing else.
///
/// The time plane helps while it waits and counts as one: with 0 or 1 workers there are no threads
/// beside it. Each worker has a queue of its own for what its work made possible, and takes the
/// newest from it; where that is empty it steals the oldest from the others. Pinned futures are
/// computed on the thread of their lane, beside the workers.
///
/// Workers never wait for a value: only what can run is queued. So whatever is not done is being
/// computed, or lies in a queue, or waits for something that is or does.
package final class Workers: Sendable {
  /// What the time plane computes while it waits for a value.
  package enum WaitingWork: Sendable {
    /// Anything that can run.
    case any
    /// Only what the value depends on. The time plane is then never inside the body of a later
    /// frame when the value is there; another thread takes its place.
    case awaited
  }

  /// The most workers, not counting the threads of lanes.
  package static let countMax = 256

  private static let processors = ProcessInfo.processInfo.activeProcessorCount

  /// The time plane's is the first.
  let queues: [RunnableQueue]
  /// In all of them.
  let queued: QueuedCount
  let idle: IdleWorkers
  /// By the number that futures name; their threads are there from the beginning.
  let lanes: [Int: Lane]
  let liveThreads: Atomic<Int>
  /// Wakes the time plane.
  let bell: Bell
  /// How often a thread without work looks for some before it rests: about 10 µs in all, and not
  /// at all where threads share a processor.
  let looks: Int
  /// Bounds the frames in memory; `nil` where that is somebody else's business.
  let gate: ReadGate?
  private let isInline: Bool
  private let waitingWork: WaitingWork
  private let perturbation: UInt64?
  private let watch: RunWatch?
  private let stopped = Atomic(false)

  /// - Parameters:
  ///   - count: The time plane included; 0 computes each value as soon as it can be.
  ///   - lanes: Those that futures will name.
  ///   - perturbation: A seed for delays before each computation, to prove that they do not matter.
  ///   - readsMax: Frames in memory at once, of those whose reads open a hold; with 0 or 1 workers
  ///     they are read when they are asked for, and not counted.
  ///   - waitingWork: With `.awaited` and at least 2 workers there is one thread more.
  ///   - watch: Told of what may never end.
  /// - Throws: `RuntimeError.noThread`; none of its threads is left then.
  package init(
    count: Int, lanes: [Int] = [], perturbation: UInt64? = nil, readsMax: Int? = nil,
    waitingWork: WaitingWork = .any, watch: RunWatch? = nil
  ) throws(RuntimeError) {
    precondition((0...Self.countMax).contains(count), "between 0 and 256 workers")
    let workers = 0..<(max(1, count) + (waitingWork == .awaited && count > 1 ? 1 : 0))
    self.waitingWork = waitingWork
    isInline = count == 0
    gate = count > 1 ? readsMax.map { ReadGate(readsMax: $0) } : nil
    looks = (2...Self.processors).contains(workers.count) ? 2_000 : 0
    self.perturbation = perturbation
    self.watch = watch
    bell = watch?.bell ?? Bell()
    let queued = QueuedCount()
    self.queued = queued
    queues = workers.map { RunnableQueue(index: $0, queued: queued) }
    idle = IdleWorkers(bells: [bell] + workers.dropFirst().map { _ in Bell() })
    self.lanes = Dictionary(
      lanes.map { ($0, Lane(number: $0)) }, uniquingKeysWith: { first, _ in first })
    liveThreads = Atomic(0)
    do throws(RuntimeError) {
      for worker in workers.dropFirst() {
        try startThread("retake-worker-\(worker)") { $0.work(as: worker) }
      }
      for (number, lane) in self.lanes.sorted(by: { $0.key < $1.key }) {
        try startThread("retake-lane-\(number)") { $0.work(on: lane) }
      }
    } catch {
      stop()
      throw error
    }
  }

  // MARK: The time plane's words

  /// Takes a new future over: it is computed when its inputs are there and somebody is free.
  ///
  /// - Parameter isTaken: The caller is a worker that looks for work at once when it is done with
  ///   this, so nobody is woken.
  package func submit(_ future: ValueFuture, isTaken: Bool = false) {
    if future.connect() { enqueue(future, from: 0, isTaken: isTaken) }
    if isInline { drain() }
  }

  /// What was submitted as speculation became necessary.
  package func need(_ future: ValueFuture) {
    guard let before = future.markNeeded(), before.isRunnable, before.isQueued,
      let place = future.place
    else { return }
    queue(of: future, at: place)?.promote(future, at: place)
    // Whoever looked among the needed before and among the speculative after that saw nothing.
    if let lane = future.lane { lanes[lane]?.bell.ring() } else { idle.wakeOne() }
  }

  /// Nobody needs the future any more; what began already goes on.
  package func cancel(_ future: ValueFuture) {
    guard let (before, finished) = future.cancel() else { return }
    unqueue(future, before)
    enqueue(finished, from: 0)
    if isInline { drain() }
  }

  /// Computes or waits until the future is done.
  ///
  /// - Throws: When the watchdog gave up the body that this waits for.
  package func help(_ future: ValueFuture) throws(HungBody) -> ValueOutcome {
    if let outcome = future.outcome { return outcome }
    // From the future back to what has to be done first.
    var path = [future]
    // Bounded: futures depend on earlier ones only, and each turn does one of them or waits.
    while let last = path.last {
      if last.isDone {
        path.removeLast()
      } else if let input = last.firstUnresolvedInput {
        path.append(input)
      } else if let finished = executeHere(last) {
        path.removeLast()
        enqueue(finished, from: 0, except: path.last)
      } else if waitingWork == .awaited {
        // Another thread computes it, or will when there is room for it.
        try restUntilDone(last)
      } else if let other = take(as: 0) {
        // Also where the next step is a read without room: this makes some.
        if let finished = executeHere(other) { enqueue(finished, from: 0) }
      } else {
        try rest(until: future)
      }
    }
    guard let outcome = future.outcome else {
      preconditionFailure("the path is empty when the future is done")
    }
    return outcome
  }

  /// Calls somebody else's code that computes no value, such as a sink's, where the watchdog sees
  /// it.
  package func watching(node: Int, frame: FrameID, _ body: () -> Void) {
    watch?.beginRunning(WatchedBody(node: node, frame: frame))
    body()
    if watch?.end() != nil { restForEver() }
  }

  /// Ends the threads after what they are doing now; what is queued is cancelled.
  ///
  /// A thread that the watchdog gives up is left to itself.
  package func stop() {
    stopped.store(true, ordering: .sequentiallyConsistent)
    idle.wakeAll()
    for lane in lanes.values { lane.bell.ring() }
    watch?.beginStopping()
    while liveThreads.load(ordering: .sequentiallyConsistent) > 0, watch?.isGivenUp != true {
      bell.wait()
    }
    _ = watch?.end()
    cancelQueued()
  }

  /// As `stop`, but waits for nobody: threads end after what they are doing, whenever that is.
  package func abandon() {
    stopped.store(true, ordering: .sequentiallyConsistent)
    idle.wakeAll()
    for lane in lanes.values { lane.bell.ring() }
    cancelQueued()
  }

  // MARK: What the time plane does

  /// Computes on this thread, unless somebody else does or only a lane may.
  private func executeHere(_ future: ValueFuture) -> FinishedValue? {
    guard future.lane == nil, gate?.admit(future) ?? true else { return nil }
    delay(before: future)
    guard let before = future.claim() else { return nil }
    unqueue(future, before)
    watch?.beginRunning(future.watched)
    let finished = future.compute()
    if watch?.end() != nil { restForEver() }
    return finished
  }

  private func drain() {
    // Bounded: each turn takes what was queued once.
    while !isStopped, let future = take(as: 0) {
      if let finished = executeHere(future) { enqueue(finished, from: 0) }
    }
  }

  /// Waits until `future` is done or there is work.
  private func rest(until future: ValueFuture) throws(HungBody) {
    if isWorkNear({ future.isDone }) { return }
    guard future.markAwaited() else { return }
    idle.add(0)
    defer { idle.remove(0) }
    guard queued.isZero else { return }
    try wait(for: future)
    // Whoever was woken for work and does none passes that on.
    if future.isDone, !queued.isZero { idle.wakeOne() }
  }

  /// Waits until `future` is done; may return before that.
  private func restUntilDone(_ future: ValueFuture) throws(HungBody) {
    guard future.markAwaited() else { return }
    try wait(for: future)
  }

  private func wait(for future: ValueFuture) throws(HungBody) {
    watch?.beginWaiting { [self] in culprit(of: future) }
    bell.wait()
    if case .waiting(let body) = watch?.end() { throw HungBody(body: body) }
  }

  /// The body that holds a future up: that of its first input that is not there, its own, or the
  /// one before it on its lane; `nil` when it is there by now.
  private func culprit(of future: ValueFuture) -> WatchedBody? {
    var last = future
    // Bounded: futures depend on earlier ones only.
    while let input = last.firstUnresolvedInput { last = input }
    if last.isDone { return nil }
    guard let lane = last.lane, last.current.status == .waiting else { return last.watched }
    return lanes[lane]?.body.withLock { $0 } ?? last.watched
  }

  /// The thread was given up while it was in somebody else's code: nobody expects it back.
  private func restForEver() -> Never {
    let never = Bell()
    while true { never.wait() }
  }

  private func cancelQueued() {
    for lane in lanes.sorted(by: { $0.key < $1.key }).map(\.value) {
      while let future = lane.next() { _ = queues[0].append(future) }
    }
    // Bounded: each turn takes what was queued once, or became so by that.
    while let future = take(as: 0) {
      guard let (_, finished) = future.cancel() else { continue }
      finished.runnable.forEach { _ = queues[0].append($0) }
    }
  }

  private func unqueue(_ future: ValueFuture, _ before: FutureState) {
    guard before.isQueued, let place = future.place else { return }
    queue(of: future, at: place)?.remove(future, at: place)
  }

  private func queue(of future: ValueFuture, at place: QueuePlace) -> RunnableQueue? {
    if let lane = future.lane { return lanes[lane]?.queue }
    return queues[place.queue]
  }

  // MARK: What all threads do

  var isStopped: Bool { stopped.load(ordering: .sequentiallyConsistent) }

  /// Spins for a while that depends on nothing but the seed and the future: 0 to about 200 µs.
  func delay(before future: ValueFuture) {
    guard let perturbation else { return }
    let bits = Draw.bits(
      seed: perturbation, node: UInt64(future.node) << 32 | UInt64(future.frame.track),
      sequence: future.frame.sequence, item: future.item ?? -1, purpose: .perturbation)
    var hasher = DigestHasher()
    for round in 0..<(bits % 4_096) { hasher.append(round) }
    withExtendedLifetime(hasher.finish()) {}
  }
}
