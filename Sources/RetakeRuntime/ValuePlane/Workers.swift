import Collections
import Foundation
import RetakeCore

/// Real threads that compute values. Their number changes the speed and nothing else.
///
/// The time plane helps while it waits and counts as one: with 0 or 1 workers there are no threads
/// beside it. Workers never wait for a value: only what can run is queued.
package final class Workers: @unchecked Sendable {
  // @unchecked: everything mutable is used only with `condition` locked.
  private let condition = NSCondition()
  private var needed = RunnableQueue()
  private var speculative = RunnableQueue()
  private var isStopped = false
  private var liveThreads = 0
  private let isInline: Bool
  /// Whether somebody takes from the queues: with one worker, the time plane finds what it needs by
  /// itself, and what is queued would be held for ever.
  private let isQueueing: Bool
  private let perturbation: UInt64?

  /// The most threads that are ever made.
  package static let countMax = 256

  /// - Parameters:
  ///   - count: The time plane included; 0 computes each value as soon as it can be.
  ///   - perturbation: A seed for delays before each computation, to prove that they do not matter.
  package init(count: Int, perturbation: UInt64? = nil) {
    precondition((0...Self.countMax).contains(count), "between 0 and 256 workers")
    isInline = count == 0
    isQueueing = count != 1
    self.perturbation = perturbation
    liveThreads = max(0, count - 1)
    for number in 0..<liveThreads {
      let thread = Thread { [self] in work() }
      thread.name = "retake-worker-\(number + 1)"
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  /// Makes a future and queues it if it can run.
  package func submit(_ future: ValueFuture) {
    guard future.connect() else { return }
    enqueue([future])
    if isInline { drain() }
  }

  package func cancel(_ future: ValueFuture) {
    enqueue(future.cancel())
    if isInline { drain() }
  }

  /// Computes or waits until the future is done. Only the time plane calls this.
  package func help(_ future: ValueFuture) -> ValueOutcome {
    while true {
      if let outcome = future.outcome { return outcome }
      if execute(runnable(before: future)) { continue }
      if let other = popNeeded() {
        _ = execute(other)
        continue
      }
      condition.lock()
      // A finished computation broadcasts after it is done, so nothing is missed under the lock.
      if !future.isDone, needed.isEmpty { condition.wait() }
      condition.unlock()
    }
  }

  /// Ends the threads after what they are doing now; what is queued is dropped.
  package func stop() {
    condition.lock()
    isStopped = true
    needed.removeAll()
    speculative.removeAll()
    condition.broadcast()
    while liveThreads > 0 { condition.wait() }
    condition.unlock()
  }

  /// Walks back from a future to one whose inputs are all done.
  private func runnable(before future: ValueFuture) -> ValueFuture {
    var candidate = future
    // Bounded: futures depend on earlier ones only.
    while let input = candidate.firstUnresolvedInput { candidate = input }
    return candidate
  }

  private func work() {
    while let future = next() { _ = execute(future) }
    condition.lock()
    liveThreads -= 1
    condition.broadcast()
    condition.unlock()
  }

  private func next() -> ValueFuture? {
    condition.lock()
    defer { condition.unlock() }
    while !isStopped {
      if let future = needed.popFirst() ?? speculative.popFirst() { return future }
      condition.wait()
    }
    return nil
  }

  private func popNeeded() -> ValueFuture? {
    condition.lock()
    defer { condition.unlock() }
    return needed.popFirst()
  }

  private func drain() {
    // Bounded: each turn runs a future that was queued once.
    while true {
      condition.lock()
      let future = needed.popFirst() ?? speculative.popFirst()
      condition.unlock()
      guard let future else { return }
      _ = execute(future)
    }
  }

  private func execute(_ future: ValueFuture) -> Bool {
    if let perturbation { Self.delay(perturbation, label: future.label) }
    guard let dependents = future.run() else { return false }
    enqueue(dependents)
    return true
  }

  private func enqueue(_ futures: [ValueFuture]) {
    guard isQueueing else { return }
    condition.lock()
    for future in futures {
      if future.isNeeded { needed.append(future) } else { speculative.append(future) }
    }
    condition.broadcast()
    condition.unlock()
  }

  /// Spins for a while that depends on nothing but the seed and the label: 0 to about 200 µs.
  private static func delay(_ seed: UInt64, label: UInt64) {
    let bits = Draw.bits(seed: seed, node: label, sequence: 0, item: 0, purpose: .perturbation)
    var hasher = DigestHasher()
    for round in 0..<(bits % 4_096) { hasher.append(round) }
    withExtendedLifetime(hasher.finish()) {}
  }
}

/// Futures that can run, oldest first. Some were run meanwhile by whoever needed them: they are let
/// go in time, because their values hold pixels.
private struct RunnableQueue {
  /// The least length at which finished futures are looked for.
  private static let sweepLengthMin = 16

  private var futures: Deque<ValueFuture> = []
  private var sweepLength = sweepLengthMin

  var isEmpty: Bool { futures.isEmpty }

  mutating func append(_ future: ValueFuture) {
    futures.append(future)
    guard futures.count >= sweepLength else { return }
    futures.removeAll { $0.isDone }
    // Each sweep is paid for by as many appends as it leaves behind.
    sweepLength = max(Self.sweepLengthMin, 2 * futures.count)
  }

  mutating func popFirst() -> ValueFuture? { futures.popFirst() }

  mutating func removeAll() { futures.removeAll() }
}
