import RetakeTestSupport
import Testing

@testable import RetakeTimePlane

@Suite struct EventQueueTests {
  @Test func `pushes and pops in any mixture give what a sorted list gives`() {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<200 {
      var queue = EventQueue()
      var list: [EventKey] = []
      for number in 0..<random.pick(1...80) {
        let event = event(number, &random)
        queue.push(event)
        list.append(event.key)
        list.sort()
        #expect(queue.first?.key == list.first)
        if random.chance(45) {
          #expect(queue.pop()?.key == list.removeFirst())
        }
        #expect(queue.count == list.count)
        #expect(queue.isEmpty == list.isEmpty)
      }
      while let popped = queue.pop() { #expect(popped.key == list.removeFirst()) }
      #expect(list.isEmpty)
    }
  }

  private func event(_ number: Int, _ random: inout SeededGenerator) -> Event {
    let key = EventKey(
      time: Int64(random.pick(-2...2)), band: random.pick([.release, .arrivals]),
      microstep: random.pick(0...2), phase: random.pick([.completion, .delivery, .dispatch]),
      node: random.pick(0...3), sequence: number)
    return Event(key: key, kind: .delivery, target: 0, work: Work(slot: number))
  }

  @Test func `a key keeps its parts apart up to their bounds`() {
    let parts = [
      EventKey(
        time: .min, band: .observation, microstep: 1 << 36, phase: .dispatch, node: 0xf_ffff,
        track: 0xf_ffff, sequence: 1 << 43, item: 1 << 31, ordinal: 1 << 31)
    ]
    for key in parts {
      #expect(key.band == .observation)
      #expect(key.microstep == 1 << 36)
      #expect(key.phase == .dispatch)
      #expect(key.node == 0xf_ffff)
    }
    let whole = EventKey(time: 0, band: .release, phase: .delivery, node: 1, item: -1)
    let first = EventKey(time: 0, band: .release, phase: .delivery, node: 1, item: 0)
    #expect(whole < first)
  }

  @Test func `a queue takes what its policy says`() {
    var newest = QueueStateMachine(capacity: 1, policy: .dropNewest)
    #expect(newest.receive(1, at: 0) == .accepted)
    #expect(newest.receive(2, at: 0) == .droppedNewest)
    var oldest = QueueStateMachine(capacity: 1, policy: .dropOldest)
    #expect(oldest.receive(1, at: 0) == .accepted)
    #expect(oldest.receive(2, at: 1) == .droppedOldest(Work(slot: 1)))
    #expect(oldest.take() == .init(work: Work(slot: 2), since: 1))
    var replace = QueueStateMachine(capacity: 1, policy: .replace)
    #expect(replace.receive(1, at: 0) == .accepted)
    #expect(replace.receive(2, at: 0) == .replaced(Work(slot: 1)))
    var block = QueueStateMachine(capacity: 2, policy: .block)
    #expect(block.receive(1, at: 0) == .accepted)
    #expect(block.receive(2, at: 0) == .accepted)
    #expect(block.receive(3, at: 0) == .blocked)
    #expect(block.claimUnblock() == nil)
    #expect(block.unblock(at: 5) == nil)
    #expect(block.take()?.work == Work(slot: 1))
    #expect(block.claimUnblock() == Work(slot: 3))
    #expect(block.take()?.work == Work(slot: 2))
    #expect(block.claimUnblock() == nil)
    #expect(block.unblock(at: 7) == Work(slot: 3))
    #expect(block.take() == .init(work: Work(slot: 3), since: 7))
  }
}

extension QueueStateMachine {
  /// A frame is sent along the edge, and offered at the same instant.
  fileprivate mutating func receive(_ slot: Int, at time: Int64) -> QueueVerdict {
    send()
    return offer(Work(slot: slot), at: time)
  }
}
