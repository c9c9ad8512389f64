import RetakeTestSupport
import Testing

@testable import RetakeRuntime

@Suite struct FutureStateTests {
  @Test func `a future is claimed once, and only when nothing is missing`() throws {
    let new = FutureState(missing: 2, isNeeded: false)
    #expect(new.claimed == nil)
    let ready = new.resolving(2)
    #expect(ready.isRunnable)
    let running = try #require(ready.claimed)
    #expect(running.status == .running)
    #expect(running.claimed == nil)
    #expect(running.cancelled == nil)
    #expect(running.queued == nil)
    let done = try #require(running.finished)
    #expect(done.isDone)
    #expect(done.claimed == nil)
    #expect(done.finished == nil)
    #expect(done.awaited == nil)
    #expect(done.cancelled == nil)
  }

  @Test func `what is cancelled before it can run is claimed later, to do nothing`() throws {
    let cancelled = try #require(FutureState(missing: 1, isNeeded: true).cancelled)
    #expect(cancelled.status == .waiting)
    #expect(cancelled.isCancelled)
    let claimed = try #require(cancelled.resolving(1).claimed)
    #expect(claimed.isCancelled)
  }

  @Test func `whoever cancels what could run has claimed it`() throws {
    let cancelled = try #require(FutureState(missing: 0, isNeeded: true).cancelled)
    #expect(cancelled.status == .running)
    #expect(cancelled.claimed == nil)
    #expect(cancelled.finished?.isDone == true)
  }

  @Test func `no change loses what another one noted`() throws {
    let ready = FutureState(missing: FutureState.inputsMax, isNeeded: false)
      .resolving(FutureState.inputsMax).needed
    let queued = try #require(ready.queued)
    let done = try #require(queued.awaited?.claimed?.finished)
    #expect(done.isNeeded && done.isQueued && done.isAwaited && !done.isCancelled)
    #expect(done.missing == 0)
  }
}

@Suite struct FutureRingTests {
  private func future(_ number: Int) -> ValueFuture {
    ValueFuture(
      node: 0, frame: .init(track: 0, sequence: number), inputs: [], isNeeded: true,
      isDigested: false
    ) { _ in .cancelled }
  }

  @Test(arguments: 1...20)
  func `a ring gives out what a list would`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var ring = FutureRing()
    var model: [(future: ValueFuture, position: Int)] = []
    for number in 0..<2_000 {
      switch generator.pick(0...9) {
      case 0...4:
        let future = future(number)
        model.append((future, ring.append(future)))
      case 5: #expect(ring.popOldest() === (model.isEmpty ? nil : model.removeFirst().future))
      case 6: #expect(ring.popNewest() === model.popLast()?.future)
      default:
        guard !model.isEmpty else { continue }
        let (future, position) = model.remove(at: generator.pick(0...model.count - 1))
        let removals = (0..<2).map { _ in ring.remove(future, at: position) }
        #expect(removals == [true, false])
      }
      #expect(ring.isEmpty == model.isEmpty)
    }
    for entry in model { #expect(ring.popOldest() === entry.future) }
    #expect(ring.popOldest() == nil)
  }

  @Test func `what was taken is not held`() {
    var ring = FutureRing()
    weak var held: ValueFuture?
    do {
      let future = future(1)
      held = future
      _ = ring.append(self.future(0))
      let position = ring.append(future)
      _ = ring.append(self.future(2))
      let isRemoved = ring.remove(future, at: position)
      #expect(isRemoved)
    }
    #expect(held == nil)
    #expect(!ring.isEmpty)
  }
}
