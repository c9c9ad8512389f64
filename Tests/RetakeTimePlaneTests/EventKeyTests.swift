import Testing

@testable import RetakeTimePlane

@Suite struct EventKeyTests {
  @Test func `keys compare by time, band, microstep, phase, node, track, sequence, item, ordinal`()
  {
    let rising = [
      EventKey(time: -5, band: .observation, microstep: 9, phase: .dispatch, node: 9),
      EventKey(time: 0, band: .environment, microstep: 9, phase: .dispatch, node: 9),
      EventKey(time: 0, band: .release, microstep: 0, phase: .dispatch, node: 9),
      EventKey(time: 0, band: .release, microstep: 1, phase: .completion, node: 9),
      EventKey(time: 0, band: .release, microstep: 1, phase: .control, node: 0),
      EventKey(time: 0, band: .release, microstep: 1, phase: .control, node: 1),
      EventKey(time: 0, band: .release, microstep: 1, phase: .control, node: 1, track: 1),
      EventKey(
        time: 0, band: .release, microstep: 1, phase: .control, node: 1, track: 1, sequence: 1),
      EventKey(
        time: 0, band: .release, microstep: 1, phase: .control, node: 1, track: 1, sequence: 1,
        item: 0),
      EventKey(
        time: 0, band: .release, microstep: 1, phase: .control, node: 1, track: 1, sequence: 1,
        item: 0, ordinal: 1),
      EventKey(time: 0, band: .arrivals, phase: .arrival, node: 0),
    ]
    for (left, right) in zip(rising, rising.dropFirst()) {
      #expect(left < right)
      #expect(!(right < left))
    }
  }

  @Test func `an event for the current instant takes the next microstep only if it must`() {
    let current = EventKey(time: 7, band: .release, phase: .delivery, node: 3, sequence: 5)
    let later = EventKey.following(current, phase: .dispatch, node: 0)
    #expect(later.microstep == 0)
    let earlier = EventKey.following(current, phase: .completion, node: 3, sequence: 5)
    #expect(earlier.microstep == 1)
    let same = EventKey.following(current, phase: .delivery, node: 3, sequence: 5)
    #expect(same.microstep == 1)
  }

  @Test func `the queue pops in the order of keys whatever the order of pushes`() {
    var queue = EventQueue()
    let keys = (0..<500).map { number in
      EventKey(
        time: Int64(Draw.bits(seed: 3, node: 1, sequence: number, item: 0, purpose: .cost) % 50),
        band: .release, phase: .completion, node: number)
    }
    for key in keys { queue.push(Event(key: key, kind: .completion, target: 0)) }
    var popped: [EventKey] = []
    while let event = queue.pop() { popped.append(event.key) }
    #expect(popped == keys.sorted())
  }
}
