import Testing

@testable import RetakeForeign

/// The order and the bounds of a program's timers.
@Suite struct ProgramTimersTests {
  private func timers(_ settings: [(id: Int64, at: Int64)], now: Int64 = 0) throws -> ProgramTimers
  {
    var timers = ProgramTimers()
    timers.advance(to: now)
    for (id, at) in settings { try timers.set(id, at: at) }
    return timers
  }

  private func drain(_ timers: ProgramTimers, upTo limit: Int64 = .max) -> [String] {
    var timers = timers
    var due: [String] = []
    while let next = timers.next(upTo: limit) { due.append("\(next.id)@\(next.nanoseconds)") }
    return due
  }

  @Test func `timers are due by time, then as they were set`() throws {
    let some = try timers([(1, 30), (2, 10), (3, 30), (4, 20)])
    #expect(drain(some) == ["2@10", "4@20", "1@30", "3@30"])
    #expect(drain(some, upTo: 20) == ["2@10", "4@20"])
  }

  @Test func `a timer that is set again has one time, and its turn is the later one`() throws {
    #expect(drain(try timers([(1, 10), (2, 20), (1, 20)])) == ["2@20", "1@20"])
  }

  @Test func `a cancelled timer is never due`() throws {
    var some = try timers([(1, 10), (2, 20)])
    some.cancel(1)
    some.cancel(7)
    #expect(drain(some) == ["2@20"])
  }

  @Test func `a time that is over is the present`() throws {
    #expect(drain(try timers([(1, 10), (2, 60)], now: 50)) == ["1@50", "2@60"])
  }

  @Test func `what is set behind a mark is not due at the end`() throws {
    var some = try timers([(1, 10), (2, 20)])
    let mark = some.mark
    #expect(some.next(of: mark)?.id == 1)
    try some.set(3, at: 15)
    try some.set(2, at: 30)
    #expect(some.next(of: mark) == nil)
  }

  @Test func `timers at one instant, and timers at once, are bounded`() throws {
    var some = ProgramTimers()
    some.advance(to: 5)
    let fault = #expect(throws: ForeignFailure.self) {
      // Bounded by the guard that is tested.
      for id in 0..<Int64(10 * ProgramTimers.atInstantMax) {
        try some.set(id, at: 0)
        _ = some.next(upTo: 5)
      }
    }
    #expect(fault == .endlessTimers(nanoseconds: 5))
    // At the next instant the count begins again.
    some.advance(to: 6)
    try some.set(1, at: 6)
    #expect(throws: ForeignFailure.self) {
      for id in 0...Int64(ProgramTimers.countMax) { try some.set(id, at: 100) }
    }
  }
}
