import Testing

@testable import RetakeClock

/// The behavior of the clock and the time of a scope.
@Suite struct VirtualTimeTests {
  @Test func `sleeps wake by deadline, then in the order in which they began`() async throws {
    let lines = try await withVirtualTime { time in
      let clock = time.clock
      let trace = Trace { clock.now.description }
      await withTaskGroup(of: Void.self) { group in
        for (name, milliseconds) in [("a", 30), ("b", 10), ("c", 30), ("d", 10)] {
          group.addTask {
            try? await clock.sleep(for: .milliseconds(milliseconds))
            trace.add(name)
          }
        }
      }
      return trace.lines
    }
    #expect(lines == ["b @ 10ms", "d @ 10ms", "a @ 30ms", "c @ 30ms"])
  }

  @Test func `what a sleep starts comes to rest before the next one of its instant wakes`()
    async throws
  {
    let lines = try await withVirtualTime { time in
      let clock = time.clock
      let trace = Trace { clock.now.description }
      let second = Task {
        do {
          await Task.yield()
          try await clock.sleep(until: .milliseconds(5))
          trace.add("second woke")
        } catch {
          trace.add("second cancelled")
        }
      }
      Task {
        try await clock.sleep(until: .milliseconds(5))
        trace.add("first woke")
        await Task.yield()
        second.cancel()
      }
      await time.run(until: .milliseconds(5))
      return trace.lines
    }
    #expect(lines == ["first woke @ 5ms", "second cancelled @ 5ms"])
  }

  @Test func `time runs to an instant, for a while, and to the next event`() async throws {
    try await withVirtualTime { time in
      let clock = time.clock
      let task = Task(name: "steps") {
        for _ in 0..<3 { try await clock.sleep(for: .milliseconds(40)) }
      }
      #expect(time.now == .zero)
      await time.run(until: .milliseconds(10))
      #expect(time.now == .milliseconds(10))
      #expect(
        time.pendingSleeps == [
          PendingSleep(name: "steps", since: .zero, until: .milliseconds(40))
        ])
      #expect(await time.runToNextEvent() == .milliseconds(40))
      await time.run(for: .milliseconds(35))
      #expect(time.now == .milliseconds(75))
      #expect(await time.runToNextEvent() == .milliseconds(80))
      #expect(await time.runToNextEvent() == .milliseconds(120))
      try await task.value
      #expect(await time.runToNextEvent() == nil)
      await time.run(until: .milliseconds(1))
      #expect(time.now == .milliseconds(120))
    }
  }

  @Test func `while the body awaits anything else, time advances by itself`() async throws {
    let end = try await withVirtualTime { time in
      async let slow: Void = time.clock.sleep(for: .seconds(2))
      try await time.clock.sleep(for: .seconds(1))
      #expect(time.now == .seconds(1))
      try await slow
      return time.now
    }
    #expect(end == .seconds(2))
  }

  @Test func `a deadline in the past is the present`() async throws {
    try await withVirtualTime { time in
      await time.run(until: .seconds(1))
      try await time.clock.sleep(until: .milliseconds(3))
      try await time.clock.sleep(until: .init(nanoseconds: .min))
      #expect(time.now == .seconds(1))
    }
  }

  @Test func `a sleep for ever is the last instant, and can be cancelled`() async throws {
    try await withVirtualTime { time in
      let clock = time.clock
      let task = Task { try await clock.sleep(for: .seconds(Int64.max)) }
      await time.run(until: .seconds(60))
      #expect(time.pendingSleeps.map(\.until) == [.init(nanoseconds: .max)])
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(time.now == .seconds(60))
    }
  }

  @Test func `a task that is cancelled does not begin to sleep`() async throws {
    try await withVirtualTime { time in
      let clock = time.clock
      let task = Task { try await clock.sleep(for: .seconds(1)) }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(time.now == .zero)
      #expect(time.pendingSleeps == [])
    }
  }

  @Test func `tasks of every kind are in the scope, and priorities do not order them`() async throws
  {
    // The runtime enqueues a task that does not prefer the scope a second time, before its first
    // line.
    let expected = ["body", "group", "detached", "low", "high", "async let", "after"]
    for _ in 0..<20 {
      let lines = try await withVirtualTime { time in
        let clock = time.clock
        let trace = Trace()
        trace.add("body")
        let tasks = [
          Task.detached { trace.add("detached") },
          Task(priority: .low) { trace.add("low") },
          Task(priority: .high) { trace.add("high") },
        ]
        await withTaskGroup(of: Void.self) { $0.addTask { trace.add("group") } }
        for task in tasks { await task.value }
        async let last: Void = trace.add("async let")
        await last
        try await Task.detached { try await clock.sleep(for: .milliseconds(1)) }.value
        trace.add("after")
        return trace.lines
      }
      #expect(lines == expected)
    }
  }

  @Test func `the value and the error of the body are the caller's`() async throws {
    struct Planned: Error {}
    #expect(try await withVirtualTime { _ in 7 } == 7)
    await #expect(throws: Planned.self) {
      try await withVirtualTime { time in
        Task { try await time.clock.sleep(for: .seconds(9)) }
        throw Planned()
      }
    }
  }

  @Test func `task-local values reach the body`() async throws {
    let value = try await Probe.$value.withValue(5) {
      try await withVirtualTime { _ in await Task { Probe.value }.value }
    }
    #expect(value == 5)
  }

  private enum Probe { @TaskLocal static var value = 0 }

  @Test(
    arguments: [
      (0, "0s"), (1, "1ns"), (50_000_000, "50ms"), (1_200_000_000, "1.2s"),
      (16_667_000, "16.667ms"),
      (16_666_667, "16.666667ms"), (-40_000_000, "-40ms"), (3_600_000_000_000, "3600s"),
      (1_000_000_001, "1.000000001s"), (.min, "-9223372036.854775808s"),
    ] as [(Int64, String)])
  func `an instant is written briefly and exactly`(_ nanoseconds: Int64, _ text: String) {
    #expect(VirtualClock.Instant(nanoseconds: nanoseconds).description == text)
  }

  @Test func `instants that do not fit are the first or the last`() {
    #expect(VirtualClock.Instant.seconds(.max).nanoseconds == .max)
    #expect(VirtualClock.Instant.seconds(.min).nanoseconds == .min)
    #expect(VirtualClock.Instant(nanoseconds: .max).advanced(by: .seconds(1)).nanoseconds == .max)
    #expect(VirtualClock.Instant(nanoseconds: .min).advanced(by: .seconds(-1)).nanoseconds == .min)
    let whole = VirtualClock.Instant(nanoseconds: .min).duration(to: .init(nanoseconds: .max))
    #expect(whole == .nanoseconds(Int64.max) - .nanoseconds(Int64.min))
  }
}
