import RetakeBuffers
import RetakeCore
import Testing

@testable import RetakeRuntime

@Suite struct ReadGateTests {
  private func read(_ sequence: Int, stages: Int = 1) -> ValueFuture {
    ValueFuture(
      node: 0, frame: FrameID(track: 0, sequence: sequence), inputs: [], isNeeded: true,
      isDigested: false, hold: FrameHold(futures: 1 + stages), opensHold: true
    ) { _ in .cancelled }
  }

  private func hold(_ read: ValueFuture) throws -> FrameHold { try #require(read.hold) }

  @Test func `a read without room is parked once, and begins when there is some`() throws {
    let gate = ReadGate(readsMax: 2)
    let reads = (0..<5).map { read($0) }
    #expect(reads.prefix(2).allSatisfy { gate.admit($0) })
    for _ in 0..<3 { #expect(!reads.dropFirst(2).contains { gate.admit($0) }) }
    #expect(gate.admit(reads[0]), "what was admitted stays so")
    let next = gate.end(try hold(reads[0]))
    #expect(next.map(\.frame.sequence) == [2], "the oldest, once")
    #expect(!gate.admit(reads[3]))
    #expect(gate.end(try hold(reads[2])).map(\.frame.sequence) == [3])
    #expect(gate.end(try hold(reads[1])).map(\.frame.sequence) == [4])
    #expect(gate.end(try hold(reads[3])).isEmpty)
    #expect(gate.end(try hold(reads[4])).isEmpty)
    for read in reads { #expect(gate.admit(read), "what has ended takes no room again") }
    #expect(gate.admit(read(5)) && gate.admit(read(6)) && !gate.admit(read(7)))
  }

  @Test func `a read that is cancelled while it is parked takes no room`() throws {
    let gate = ReadGate(readsMax: 1)
    let reads = (0..<3).map { read($0, stages: 0) }
    _ = reads.map { gate.admit($0) }
    for read in reads { _ = read.connect() }
    let cancelled = try #require(reads[1].cancel())
    #expect(gate.end(try #require(cancelled.finished.endedHold)).isEmpty)
    #expect(gate.end(try hold(reads[0])).map(\.frame.sequence) == [2])
  }

  @Test func `a hold ends with the last of its futures, in whatever order they finish`() {
    let hold = FrameHold(futures: 3)
    #expect([false, false, true] == (0..<3).map { _ in hold.finish(.cancelled) })
  }

  @Test(arguments: [2, 3, 8], [Workers.WaitingWork.any, .awaited])
  func `with room for one frame all frames are read, one at a time`(
    count: Int, waitingWork: Workers.WaitingWork
  ) throws {
    let workers = try Workers(
      count: count, perturbation: 5, readsMax: 1, waitingWork: waitingWork)
    defer { workers.stop() }
    let live = Locked((now: 0, most: 0))
    var last: [ValueFuture] = []
    for sequence in 0..<300 {
      let hold = FrameHold(futures: 3)
      func make(_ inputs: [ValueFuture], opens: Bool, _ change: Int) -> ValueFuture {
        ValueFuture(
          node: 0, frame: FrameID(track: 0, sequence: sequence), inputs: inputs, isNeeded: true,
          isDigested: false, hold: hold, opensHold: opens
        ) { _ in
          live.withLock {
            $0.now += change
            $0.most = max($0.most, $0.now)
          }
          return .value(Scalars([]))
        }
      }
      let read = make([], opens: true, 1)
      let first = make([read], opens: false, 0)
      let second = make([first], opens: false, -1)
      for future in [second, first, read] { workers.submit(future) }
      last.append(second)
    }
    for future in last.reversed() { _ = try workers.help(future) }
    #expect(live.withLock { $0.most } == 1)
    #expect(live.withLock { $0.now } == 0)
  }
}
