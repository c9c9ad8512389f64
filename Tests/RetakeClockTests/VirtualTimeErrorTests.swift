import Synchronization
import Testing

@testable import RetakeClock

/// The errors of scopes that do not end as they should. Without patience, no test waits in real
/// time.
@Suite struct VirtualTimeErrorTests {
  static let impatient = VirtualTimeLimits(patience: .zero)

  /// Continuations that are never resumed, kept so that they are not lost.
  final class Kept: Sendable {
    private let stored = Mutex<[CheckedContinuation<Void, Never>]>([])

    func wait() async {
      await withCheckedContinuation { continuation in stored.withLock { $0.append(continuation) } }
    }

    func resumeAll() {
      let all = stored.withLock { stored in
        defer { stored = [] }
        return stored
      }
      for continuation in all { continuation.resume() }
    }
  }

  func failure(
    limits: VirtualTimeLimits = impatient,
    _ body: @escaping @Sendable (VirtualTime) async throws -> Void
  ) async throws -> VirtualTimeError {
    let error = await #expect(throws: VirtualTimeError.self) {
      try await withVirtualTime(limits: limits, body)
    }
    return try #require(error)
  }

  @Test func `sleeps that never woke are named`() async throws {
    let failure = try await failure { time in
      let clock = time.clock
      await time.run(until: .milliseconds(1_200))
      Task { [clock = clock.named("debounce")] in try await clock.sleep(for: .milliseconds(50)) }
      Task(name: "poll") { try await clock.sleep(for: .milliseconds(40)) }
      await time.run(for: .milliseconds(10))
    }
    #expect(
      failure
        == .sleepsNeverWoke(
          [
            .init(name: "poll", since: .milliseconds(1_200), until: .milliseconds(1_240)),
            .init(name: "debounce", since: .milliseconds(1_200), until: .milliseconds(1_250)),
          ], at: .milliseconds(1_210)))
    #expect(
      failure.description.hasPrefix(
        "2 sleeps never woke before the scope ended at 1.21s: poll: 40ms, begun at 1.2s; "
          + "debounce: 50ms, begun at 1.2s."))
  }

  @Test func `a task that outlives the scope is an error`() async throws {
    let kept = Kept()
    let failure = try await failure { time in
      Task { await kept.wait() }
      await time.run(until: .milliseconds(3))
    }
    #expect(failure == .tasksOutlive(at: .milliseconds(3)))
    kept.resumeAll()
  }

  @Test func `a task that ends in time is none`() async throws {
    let kept = Kept()
    let end = try await withVirtualTime(limits: Self.impatient) { time in
      let task = Task { await kept.wait() }
      await time.run(until: .milliseconds(3))
      kept.resumeAll()
      await task.value
      return time.now
    }
    #expect(end == .milliseconds(3))
  }

  @Test func `a body that waits for nothing is stuck`() async throws {
    let kept = Kept()
    let failure = try await failure { time in
      try await time.clock.sleep(for: .milliseconds(7))
      await kept.wait()
    }
    #expect(failure == .stuck(at: .milliseconds(7)))
    kept.resumeAll()
  }

  @Test func `a loop in which no time passes is stopped, and its task named`() async throws {
    let limits = VirtualTimeLimits(jobsPerInstantMax: 500, patience: .zero)
    let failure = try await failure(limits: limits) { time in
      let clock = time.clock
      let task = Task(name: "spin") {
        try await clock.sleep(for: .milliseconds(4))
        // Ends: never; the test checks the scope's limit.
        while true { try await clock.sleep(for: .zero) }
      }
      try await task.value
    }
    guard case .tooManyJobs(500, .milliseconds(4), let tasks) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(tasks.count == 1 && tasks[0].hasPrefix("spin (task "))
  }

  @Test func `as many jobs as the limit permits may run at one instant`() async throws {
    let limits = VirtualTimeLimits(jobsPerInstantMax: 500)
    try await withVirtualTime(limits: limits) { time in
      for _ in 0..<10 {
        for _ in 0..<100 { await Task.yield() }
        try await time.clock.sleep(for: .nanoseconds(1))
      }
      #expect(time.now.nanoseconds == 10)
    }
  }

  @Test func `what ticks for ever is stopped while the body waits`() async throws {
    let kept = Kept()
    let limits = VirtualTimeLimits(durationMax: .seconds(10), patience: .zero)
    let failure = try await failure(limits: limits) { time in
      let clock = time.clock
      Task(name: "tick") {
        // Ends: never; the test checks the scope's limit.
        while true { try await clock.sleep(for: .seconds(3)) }
      }
      await kept.wait()
    }
    #expect(
      failure
        == .tooLong(
          limit: .seconds(10),
          pending: [.init(name: "tick", since: .seconds(9), until: .seconds(12))]))
    kept.resumeAll()
  }

  @Test func `a thread that resumes a task is reported`() async throws {
    for isStructured in [true, false] {
      let kept = Kept()
      let failure = try await failure(limits: VirtualTimeLimits(patience: .seconds(86_400))) {
        time in
        let clock = time.clock
        let waits = { @Sendable in await kept.wait() }
        // A sleep of zero ends when all jobs have come to rest: a task that calls an async function
        // may be enqueued again before it waits, and then a thread that begins at once could be
        // first.
        let start = { @Sendable in
          try await clock.sleep(for: .zero)
          try DriverThread.start { kept.resumeAll() }
        }
        if isStructured {
          async let starting: Void = start()
          await waits()
          try await starting
        } else {
          let task = Task { await waits() }
          try await Task { try await start() }.value
          await task.value
        }
      }
      guard case .resumedFromOutside(let tasks, .zero) = failure else {
        Issue.record("\(failure)")
        return
      }
      #expect(tasks.count == 1 && tasks[0].hasPrefix("task "))
    }
  }

  @Test func `a foreign task that uses the clock is reported`() async throws {
    let (clocks, clock) = AsyncStream.makeStream(of: VirtualClock.self)
    let foreign = Task {
      for await clock in clocks { try await clock.sleep(for: .milliseconds(1)) }
    }
    let failure = try await failure(limits: VirtualTimeLimits(patience: .seconds(86_400))) { time in
      clock.yield(time.clock)
      clock.finish()
      // Returns when the foreign sleep has begun and woken.
      try await foreign.value
    }
    guard case .resumedFromOutside = failure else {
      Issue.record("\(failure)")
      return
    }
  }

  @Test func `a main thread that is blocked is reported`() async throws {
    let hooks = try RuntimeHooks.current.get()
    // First, so that no scope of another test waits for the main thread meanwhile.
    try await ScopeLock.shared.acquire()
    defer { ScopeLock.shared.release() }
    let condition = ScopeCondition()
    // The main queue is first in, first out: the job of the scope comes after this one, whose wait
    // ends with the scope. On a busy machine that takes minutes.
    VirtualMainExecutor.onMain { _ = condition.wait(atMost: .seconds(86_400)) }
    await #expect(throws: VirtualTimeError.mainThreadBusy(at: .zero)) {
      defer { condition.signal() }
      try await Scope(hooks: hooks, limits: Self.impatient).run { _ in await MainActor.run {} }
    }
  }

  @Test func `a scope within a scope is refused`() async throws {
    let failure = try await failure { _ in try await withVirtualTime { _ in } }
    #expect(failure == .nested)
    let detached = try await self.failure { _ in
      try await Task.detached { try await withVirtualTime { _ in } }.value
    }
    #expect(detached == .nested)
  }

  @Test func `a clock ends with its scope`() async throws {
    let clock = try await withVirtualTime { $0.clock }
    await #expect(throws: VirtualTimeError.ended) { try await clock.sleep(for: .milliseconds(1)) }
    let time = try await withVirtualTime { $0 }
    await time.run(for: .seconds(1))
    #expect(time.now == .zero)
    #expect(await time.frames([1], at: [.zero]).first { _ in true } == nil)
  }

  @Test(arguments: [
    "swift_task_enqueueGlobal_hook", "swift_task_getMainExecutor_hook", "swift_task_getCurrent",
    "swift_task_getJobTaskId",
  ])
  func `a runtime without a symbol is reported`(_ missing: String) throws {
    #expect(throws: VirtualTimeError.unsupportedRuntime(symbol: missing)) {
      try RuntimeHooks { $0 == missing ? nil : UnsafeMutableRawPointer(bitPattern: 64) }
    }
    #expect(throws: Never.self) { try RuntimeHooks.current.get() }
  }

  @Test(
    arguments: [
      .unsupportedRuntime(symbol: "x"), .nested, .noThread(reason: "y"), .ended,
      .sleepsNeverWoke([], at: .zero), .tasksOutlive(at: .zero), .stuck(at: .zero),
      .tooManyJobs(limit: 1, at: .zero, tasks: ["a"]), .tooLong(limit: .seconds(1), pending: []),
      .resumedFromOutside(tasks: ["a"], at: .zero), .mainThreadBusy(at: .zero),
    ] as [VirtualTimeError])
  func `a failure says what to do`(_ error: VirtualTimeError) {
    let advice = [
      "use ", "make ", "raise ", "Run ", "Cancel ", "Resume ", "Let ", "End ", "Replace ", "Find ",
    ]
    #expect(advice.contains { error.description.contains($0) })
  }

  @Test func `many sleeps are listed in part`() {
    let sleeps = (0..<11).map {
      PendingSleep(name: "s\($0)", since: .zero, until: .seconds(1))
    }
    let text = VirtualTimeError.sleepsNeverWoke(sleeps, at: .zero).description
    #expect(text.contains("s7: 1s, begun at 0s; and 3 more. "))
  }
}
