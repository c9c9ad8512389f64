import Testing

@testable import RetakeClock

/// The structs that decide.
@Suite struct DecisionTests {
  /// A scope whose tasks are 10, its first, and 12.
  private func membership() -> Membership {
    var membership = Membership()
    membership.add(10)
    membership.add(12)
    return membership
  }

  @Test(
    arguments: [
      // A task of the scope.
      (12, .noTask, true, .take), (12, .noTask, false, .takeFromOutside),
      (12, .task(99), false, .takeFromOutside),
      // A new task that a task of the scope enqueues, even if that task continued elsewhere.
      (15, .task(12), true, .take), (15, .task(12), false, .takeFromOutside),
      // A task of others: older than the scope, or enqueued by others.
      (7, .task(12), true, .pass), (7, .noTask, true, .pass), (15, .task(14), true, .pass),
      (15, .task(14), false, .pass), (15, .noTask, false, .pass),
      // An actor's job.
      (0, .task(10), true, .take), (0, .noTask, true, .take), (0, .task(14), true, .pass),
      (0, .noTask, false, .pass),
    ] as [(UInt64, Membership.Enqueuer, Bool, Membership.Verdict)])
  func `a job belongs to the scope or not`(
    _ job: UInt64, _ enqueuer: Membership.Enqueuer, _ isInside: Bool, _ verdict: Membership.Verdict
  ) {
    var membership = membership()
    #expect(membership.verdict(job: job, by: enqueuer, isInside: isInside) == verdict)
    let isKnown = job == 12 || (job == 15 && verdict != .pass)
    #expect(membership.contains(job) == isKnown)
  }

  @Test func `before its first task nothing belongs to a scope`() {
    var membership = Membership()
    #expect(membership.isEmpty)
    #expect(membership.verdict(job: 5, by: .noTask, isInside: true) == .pass)
  }

  @Test func `a heap returns wakes, then arrivals, and those of one kind as they began`() {
    var queue = DueQueue()
    var expected: [DueQueue.Entry] = []
    for order in 0..<500 {
      let instant = VirtualClock.Instant(nanoseconds: Int64(order * 7_919 % 97))
      let phase = order.isMultiple(of: 3) ? DueQueue.Phase.arrival : .wake
      queue.insert(phase, at: instant, order: order)
      expected.append(.init(instant: instant, phase: phase, order: order))
    }
    var found: [DueQueue.Entry] = []
    // Ends: each round removes one entry.
    while let first = queue.first {
      found.append(first)
      queue.removeFirst()
    }
    #expect(found == expected.sorted())
    let key = { (entry: DueQueue.Entry) in
      Int(entry.instant.nanoseconds) * 10_000 + entry.phase.rawValue * 1_000 + entry.order
    }
    #expect(found.map(key) == expected.map(key).sorted())
  }
}
