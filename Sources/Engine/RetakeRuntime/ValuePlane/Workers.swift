import Foundation
package import RetakeCore
import RetakeTimePlane
import Synchronization

/// Real threads that compute values. Their number affects speed only.
///
/// The time plane helps while it waits, and counts as one worker: with 0 or 1 workers there are no
/// other workers. Each worker has a queue for the futures that its work made runnable, and takes
/// the newest from it. If its queue is empty, it steals the oldest from the others. Pinned futures
/// are computed on the thread of their lane, in addition to the workers.
///
/// Workers never wait for a value, because only futures that can run are queued. So a future that
/// is not done is being computed, is in a queue, or waits for a future that is.
package final class Workers: Sendable {
  /// The futures that the time plane computes while it waits for a value.
  package enum WaitingWork: Sendable {
    /// Anything that can run.
    case any
    /// Only futures that the value depends on. So the time plane is never inside the body of a
    /// later frame when the value is done. Another thread works in its place.
    case awaited
  }

  /// The largest number of workers, without the threads of lanes.
  package static let countMax = 256

  private static let processors = ProcessInfo.processInfo.activeProcessorCount

  /// The first queue belongs to the time plane.
  let queues: [RunnableQueue]
  /// The number of futures in all queues.
  let queued: QueuedCount
  let idle: IdleWorkers
  /// By the number that futures refer to. Their threads exist from the start.
  let lanes: [Int: Lane]
  let liveThreads: Atomic<Int>
  /// Wakes the time plane.
  let condition: ThreadCondition
  /// How often a thread without work looks for some before it rests: about 10 µs in total, and
  /// never if threads share a processor.
  let looks: Int
  /// Bounds the frames in memory; `nil` if something else bounds them.
  let gate: ReadGate?
  private let isInline: Bool
  private let waitingWork: WaitingWork
  private let perturbation: UInt64?
  private let watch: RunWatch?
  private let stopped = Atomic(false)

  /// - Parameters:
  ///   - count: Includes the time plane; 0 computes each value as soon as it can run.
  ///   - lanes: The lanes that futures will refer to.
  ///   - perturbation: A seed for delays before each computation, to prove that they do not matter.
  ///   - readsMax: The largest number of frames in memory whose reads open a hold. With 0 or 1
  ///     workers, frames are read when they are needed, and not counted.
  ///   - waitingWork: With `.awaited` and at least 2 workers, there is one thread more.
  ///   - watch: Notified of activities that may never end.
  ///   - niceness: Of all its threads; see `LiveOptions.niceness`.
  /// - Throws: `RuntimeError.noThread`; in that case all its threads have ended.
  package init(
    count: Int, lanes: [Int] = [], perturbation: UInt64? = nil, readsMax: Int? = nil,
    waitingWork: WaitingWork = .any, watch: RunWatch? = nil, niceness: Int = 0
  ) throws(RuntimeError) {
    precondition((0...Self.countMax).contains(count), "between 0 and \(Self.countMax) workers")
    // With `.awaited` the time plane computes less, so there is one more worker thread.
    let workers = 0..<(max(1, count) + (waitingWork == .awaited && count > 1 ? 1 : 0))
    self.waitingWork = waitingWork
    isInline = count == 0
    gate = count > 1 ? readsMax.map { ReadGate(readsMax: $0) } : nil
    looks = (2...Self.processors).contains(workers.count) ? 2_000 : 0
    self.perturbation = perturbation
    self.watch = watch
    condition = watch?.condition ?? ThreadCondition()
    let queued = QueuedCount()
    self.queued = queued
    queues = workers.map { RunnableQueue(index: $0, queued: queued) }
    idle = IdleWorkers(conditions: [condition] + workers.dropFirst().map { _ in ThreadCondition() })
    self.lanes = Dictionary(
      lanes.map { ($0, Lane(number: $0)) }, uniquingKeysWith: { first, _ in first })
    liveThreads = Atomic(0)
    do throws(RuntimeError) {
      for worker in workers.dropFirst() {
        try startThread("retake-worker-\(worker)", niceness) { $0.work(as: worker) }
      }
      for (number, lane) in self.lanes.sorted(by: { $0.key < $1.key }) {
        try startThread("retake-lane-\(number)", niceness) { $0.work(on: lane) }
      }
    } catch {
      stop()
      throw error
    }
  }

  // MARK: Calls of the time plane

  /// Accepts a new future. It is computed when its inputs are done and a thread is free.
  ///
  /// - Parameter isTaken: Whether the caller is a worker that looks for work right after this call,
  ///   so that no other worker has to be woken.
  package func submit(_ future: ValueFuture, isTaken: Bool = false) {
    if future.connect() { enqueue(future, from: 0, isTaken: isTaken) }
    if isInline { drain() }
  }

  /// A future that was submitted as speculation became needed.
  package func need(_ future: ValueFuture) {
    guard let before = future.markNeeded(), before.isRunnable, before.isQueued,
      let place = future.place
    else { return }
    queue(of: future, at: place)?.promote(future, at: place)
    // A thread that looked at the needed queue before and at the speculative queue after it missed
    // the future.
    if let lane = future.lane { lanes[lane]?.condition.signal() } else { idle.wakeOne() }
  }

  /// The future is no longer needed. A computation that has begun continues.
  package func cancel(_ future: ValueFuture) {
    guard let (before, finished) = future.cancel() else { return }
    unqueue(future, before)
    enqueue(finished, from: 0)
    if isInline { drain() }
  }

  /// Computes or waits until the future is done.
  ///
  /// - Throws: If the watchdog gave up the body that this call waits for.
  package func help(_ future: ValueFuture) throws(HungBody) -> ValueOutcome {
    if let outcome = future.outcome { return outcome }
    // From the future back to the inputs that have to be done first.
    var path = [future]
    // Bounded: futures depend on earlier ones only, and each turn computes an earlier future or
    // waits.
    while let last = path.last {
      if last.isDone {
        path.removeLast()
      } else if let input = last.firstUnresolvedInput {
        path.append(input)
      } else if let finished = executeHere(last) {
        path.removeLast()
        enqueue(finished, from: 0, except: path.last)
      } else if waitingWork == .awaited {
        // Another thread computes it, or will do so when the gate admits it.
        try restUntilDone(last)
      } else if let other = take(as: 0) {
        // Also done if the next step is a read that the gate has not admitted, because other work
        // frees a place.
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

  /// Calls foreign code that computes no value, such as a sink's, under the watchdog.
  package func watching(node: Int, frame: FrameID, _ body: () -> Void) {
    watch?.beginRunning(WatchedBody(node: node, frame: frame))
    body()
    if watch?.end() != nil { restForEver() }
  }

  /// Ends the threads after their current work. Queued futures are cancelled.
  ///
  /// A thread that the watchdog gave up is abandoned.
  package func stop() {
    stopped.store(true, ordering: .sequentiallyConsistent)
    idle.wakeAll()
    for lane in lanes.values { lane.condition.signal() }
    watch?.beginStopping()
    // A thread rings the condition when it ends; a body that the watchdog gave up may never end.
    while liveThreads.load(ordering: .sequentiallyConsistent) > 0, watch?.isGivenUp != true {
      condition.wait()
    }
    _ = watch?.end()
    cancelQueued()
  }

  /// Like `stop`, but does not wait: each thread ends after its current work, whenever that is.
  package func abandon() {
    stopped.store(true, ordering: .sequentiallyConsistent)
    idle.wakeAll()
    for lane in lanes.values { lane.condition.signal() }
    cancelQueued()
  }

  // MARK: Helpers of the time plane

  /// Computes on this thread, unless another thread does, or only a lane may.
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
    // Bounded: each turn removes a future that was queued once.
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
    // If this thread was woken for work but does not do it, it wakes another thread.
    if future.isDone, !queued.isZero { idle.wakeOne() }
  }

  /// Waits until `future` is done; may return earlier.
  private func restUntilDone(_ future: ValueFuture) throws(HungBody) {
    guard future.markAwaited() else { return }
    try wait(for: future)
  }

  private func wait(for future: ValueFuture) throws(HungBody) {
    watch?.beginWaiting { [self] in culprit(of: future) }
    condition.wait()
    if case .waiting(let body) = watch?.end() { throw HungBody(body: body) }
  }

  /// The body that delays a future: the body of its first input that is not done, its own, or the
  /// body that runs before it on its lane; `nil` if the future is done by now.
  private func culprit(of future: ValueFuture) -> WatchedBody? {
    var last = future
    // Bounded: futures depend on earlier futures only.
    while let input = last.firstUnresolvedInput { last = input }
    if last.isDone { return nil }
    guard let lane = last.lane, last.current.status == .waiting else { return last.watched }
    return lanes[lane]?.body.withLock { $0 } ?? last.watched
  }

  /// The thread was given up while it ran foreign code. No other thread waits for it.
  private func restForEver() -> Never {
    let never = ThreadCondition()
    while true { never.wait() }
  }

  private func cancelQueued() {
    for lane in lanes.sorted(by: { $0.key < $1.key }).map(\.value) {
      while let future = lane.next() { _ = queues[0].append(future) }
    }
    // Bounded: each turn removes a future that was queued once, or that became runnable by a
    // cancellation.
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

  // MARK: Shared by all threads

  var isStopped: Bool { stopped.load(ordering: .sequentiallyConsistent) }

  /// Spins for a time that depends only on the seed and the future: 0 to about 200 µs.
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
