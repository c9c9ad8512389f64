import Dispatch
import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime

@Suite struct WorkersTests {
  private struct Broken: Error {}

  /// A future that adds one to the sum of its inputs.
  private func sum(
    _ inputs: [ValueFuture] = [], isNeeded: Bool = true, lane: Int? = nil,
    started: Locked<Int>? = nil
  ) -> ValueFuture {
    make(inputs, isNeeded: isNeeded, lane: lane) { outcomes in
      started?.withLock { $0 += 1 }
      let values = outcomes.map { number($0) ?? 0 }
      return .value(Scalars([.init("sum", values.reduce(1, +))]))
    }
  }

  private func make(
    _ inputs: [ValueFuture] = [], isNeeded: Bool = true, lane: Int? = nil,
    work: @escaping ValueFuture.Work
  ) -> ValueFuture {
    ValueFuture(
      node: 0, frame: FrameID(track: 0, sequence: inputs.count), inputs: inputs, lane: lane,
      isNeeded: isNeeded, isDigested: true, work: work)
  }

  private func number(_ outcome: ValueOutcome) -> Double? {
    guard case .value(let value) = outcome else { return nil }
    return (value as? Scalars)?.entries.first?.value
  }

  private func withWorkers(
    _ count: Int, waitingWork: Workers.WaitingWork = .any, _ body: (Workers) throws -> Void
  ) throws {
    let workers = try Workers(
      count: count, lanes: [1], perturbation: 9, waitingWork: waitingWork)
    defer { workers.stop() }
    try body(workers)
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `whoever asks for the last of a chain gets it, however long it is`(count: Int) throws {
    try withWorkers(count) { workers in
      var last = sum()
      workers.submit(last)
      for _ in 1..<2_000 {
        last = sum([last])
        workers.submit(last)
      }
      let outcome = try workers.help(last)
      #expect(number(outcome) == 2_000)
      #expect(last.digest != nil)
    }
  }

  @Test(arguments: [0, 1, 2, 8])
  func `many wait for one, and one for many`(count: Int) throws {
    try withWorkers(count) { workers in
      let root = sum()
      let middle = (0..<500).map { _ in sum([root]) }
      let last = sum(middle)
      for future in middle + [last] { workers.submit(future) }
      #expect(!last.isDone)
      workers.submit(root)
      let outcome = try workers.help(last)
      #expect(number(outcome) == 1_001)
      for future in middle { #expect(future.isDone) }
    }
  }

  @Test(arguments: [(Workers.WaitingWork.any, true), (.awaited, false)])
  func `the time plane helps with other values while it waits, unless only the awaited counts`(
    waitingWork: Workers.WaitingWork, helps: Bool
  ) throws {
    try withWorkers(2, waitingWork: waitingWork) { workers in
      let waiting = pthread_self()
      let (firstBegan, laterBegan) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let laterThread = Locked<pthread_t?>(nil)
      let first = make { _ in
        firstBegan.signal()
        laterBegan.wait()
        return .value(Scalars([.init("sum", 1)]))
      }
      let later = make { _ in
        laterThread.withLock { $0 = pthread_self() }
        laterBegan.signal()
        return .value(Scalars([.init("sum", 2)]))
      }
      workers.submit(first)
      firstBegan.wait()
      workers.submit(later)
      let outcome = try workers.help(first)
      #expect(number(outcome) == 1)
      let thread = try #require(laterThread.withLock { $0 })
      #expect((pthread_equal(thread, waiting) != 0) == helps)
    }
  }

  @Test(arguments: [0, 1, 2, 4])
  func `long chains over a lane come to their end when only the awaited is computed`(count: Int)
    throws
  {
    try withWorkers(count, waitingWork: .awaited) { workers in
      var last = sum()
      workers.submit(last)
      for step in 1..<500 {
        last = sum([last], isNeeded: step % 2 == 0, lane: step % 3 == 0 ? 1 : nil)
        workers.submit(last)
        workers.submit(sum([last], isNeeded: false))
      }
      let outcome = try workers.help(last)
      #expect(number(outcome) == 500)
    }
  }

  @Test(arguments: [1, 2, 8])
  func `each computation runs once, whoever claims it`(count: Int) throws {
    try withWorkers(count) { workers in
      let started = Locked(0)
      let futures = (0..<300).map { _ in sum(started: started) }
      for future in futures { workers.submit(future) }
      for future in futures.reversed() { _ = try workers.help(future) }
      for future in futures { #expect(future.claim() == nil) }
      #expect(started.withLock { $0 } == 300)
    }
  }

  @Test(arguments: [0, 1, 2, 8])
  func `what is cancelled is not computed, and what depends on it continues without`(count: Int)
    throws
  {
    try withWorkers(count) { workers in
      let started = Locked(0)
      let gate = sum()
      let given = sum([gate], isNeeded: false, started: started)
      let after = sum([given])
      for future in [given, after] { workers.submit(future) }
      workers.cancel(given)
      #expect(!after.isDone)
      workers.submit(gate)
      let outcome = try workers.help(after)
      #expect(number(outcome) == 1)
      guard case .cancelled? = given.outcome else {
        Issue.record("cancelled, not \(String(describing: given.outcome))")
        return
      }
      #expect(given.digest == nil)
      #expect(started.withLock { $0 } == 0)
      workers.cancel(given)
      workers.cancel(after)
      let again = try workers.help(after)
      #expect(number(again) == 1)
    }
  }

  @Test(arguments: [1, 2, 4])
  func `what becomes needed while its lane looks for work is not overlooked`(count: Int) throws {
    let workers = try Workers(count: count, lanes: [1])
    defer { workers.stop() }
    for _ in 0..<5_000 {
      let pinned = sum(isNeeded: false, lane: 1)
      workers.submit(pinned)
      workers.need(pinned)
      #expect(number(try workers.help(pinned)) == 1)
    }
  }

  @Test func `without threads, what can run runs when it is submitted`() throws {
    let workers = try Workers(count: 0, lanes: [1])
    let first = sum()
    let second = sum([first])
    workers.submit(second)
    #expect(!second.isDone)
    workers.submit(first)
    #expect(second.isDone)
    workers.stop()
  }

  @Test func `with one worker nothing runs until somebody asks`() throws {
    try withWorkers(1) { workers in
      let future = sum()
      workers.submit(future)
      #expect(!future.isDone)
      let outcome = try workers.help(future)
      #expect(number(outcome) == 1)
    }
  }

  @Test func `what is needed comes before speculation, however long that has waited`() throws {
    try withWorkers(1) { workers in
      let order = Locked<[String]>([])
      let isOver = DispatchSemaphore(value: 0)
      func note(_ word: String, isNeeded: Bool) -> ValueFuture {
        make(isNeeded: isNeeded) { _ in
          order.withLock { $0.append(word) }
          isOver.signal()
          return .cancelled
        }
      }
      // Ends after the other futures have ended, so the time plane helps with the others.
      let pinned = make(lane: 1) { _ in
        for _ in 0..<4 { isOver.wait() }
        return .cancelled
      }
      for word in ["maybe", "perhaps"] { workers.submit(note(word, isNeeded: false)) }
      for word in ["needed", "needed too"] { workers.submit(note(word, isNeeded: true)) }
      workers.submit(pinned)
      _ = try workers.help(pinned)
      #expect(order.withLock { $0 } == ["needed", "needed too", "maybe", "perhaps"])
    }
  }

  @Test(arguments: [0, 1, 2, 8])
  func `failures and faults travel along a chain`(count: Int) throws {
    try withWorkers(count) { workers in
      let failed = make { _ in
        .failure(StageError(code: "a.b", message: ""))
      }
      let faulty = make([failed]) { _ in
        .fault(Broken())
      }
      workers.submit(failed)
      workers.submit(faulty)
      guard case .fault(let error) = try workers.help(faulty), error is Broken else {
        Issue.record("a fault stays one")
        return
      }
      #expect(failed.digest == Digest128(of: "a.b"))
      #expect(faulty.digest == nil)
    }
  }

  @Test(arguments: [0, 1, 2, 64])
  func `stopping drops what is queued and ends every thread`(count: Int) throws {
    let started = Locked(0)
    let workers = try Workers(count: count, lanes: [1])
    for _ in 0..<200 { workers.submit(sum(isNeeded: false, started: started)) }
    workers.stop()
    let afterStop = started.withLock { $0 }
    for _ in 0..<50 where count > 0 { workers.submit(sum(started: started)) }
    workers.stop()
    #expect(started.withLock { $0 } == afterStop)
    #expect(afterStop <= 200)
  }
}
