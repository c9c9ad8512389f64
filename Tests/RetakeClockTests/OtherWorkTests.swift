import Synchronization
import Testing

@testable import RetakeClock

/// Scopes next to other work of the process: the hooks are called for all of its jobs.
@Suite struct OtherWorkTests {
  @Test func `a scope runs its own jobs, and none of others`() async throws {
    let others = OtherWork()
    let running = (0..<4).map { _ in Task { await others.run() } }
    for program in AsyncProgram.allCases {
      for _ in 0..<25 {
        let lines = try await withVirtualTime { time in
          let driver = DriverThread.current
          others.forget()
          let clock = time.clock
          let trace = Trace {
            #expect(DriverThread.current == driver)
            return clock.now.description
          }
          await program.run(clock: clock, unit: .milliseconds(1), trace: trace)
          #expect(!others.threads.contains(driver))
          return trace.lines
        }
        #expect(lines == program.expected)
      }
    }
    for task in running { task.cancel() }
    for task in running { await task.value }
    #expect(others.rounds > 0)
    #expect(!others.wasInScope)
  }

  @Test func `others continue while a scope is open`() async throws {
    let others = OtherWork()
    let running = Task { await others.run() }
    try await withVirtualTime { time in
      let before = others.rounds
      // Ends: with the next round of the others.
      while others.rounds < before + 2 { try await time.clock.sleep(for: .nanoseconds(1)) }
    }
    running.cancel()
    await running.value
    #expect(!others.wasInScope)
  }

  @Test func `a task of the scope that leaves an actor of others returns`() async throws {
    // The actor is created outside, and only the scope uses it: its jobs are the scope's.
    let shared = Shared()
    for _ in 0..<20 {
      let order = try await withVirtualTime { time in
        let clock = time.clock
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<4 {
            group.addTask {
              try? await clock.sleep(for: .milliseconds(4 - number))
              await shared.add(number)
            }
          }
        }
        return await shared.take()
      }
      #expect(order == [3, 2, 1, 0])
    }
  }

  private actor Shared {
    private var numbers: [Int] = []

    func add(_ number: Int) { numbers.append(number) }

    func take() -> [Int] {
      defer { numbers = [] }
      return numbers
    }
  }

  private final class OpenCount: Sendable {
    private let stored = Mutex(0)

    var count: Int { stored.withLock { $0 } }

    func add(_ number: Int) { stored.withLock { $0 += number } }
  }

  /// More scopes at once than the pool has threads: waiting for a turn blocks no thread.
  @Test func `scopes take turns`() async throws {
    let open = OpenCount()
    let ends = try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<100 {
        group.addTask {
          try await withVirtualTime { time in
            open.add(1)
            for _ in 0..<10 { try await time.clock.sleep(for: .milliseconds(number)) }
            #expect(open.count == 1)
            open.add(-1)
            return time.now.nanoseconds / 1_000_000
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ends.sorted() == (0..<100).map { $0 * 10 })
  }

  @Test func `a caller that is cancelled while it waits for its turn gets none`() async throws {
    let (turns, turn) = AsyncStream.makeStream(of: Void.self)
    let lock = ScopeLock()
    try await lock.acquire()
    let waiting = Task {
      turn.yield()
      try await lock.acquire()
    }
    for await _ in turns { break }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    lock.release()
    try await lock.acquire()
    lock.release()
  }

  @Test func `cancelling the caller cancels the body`() async throws {
    let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
    let limits = VirtualTimeLimits(patience: .seconds(86_400))
    let caller = Task {
      try await withVirtualTime(limits: limits) { _ in
        isReady.yield()
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        try Task.checkCancellation()
      }
    }
    for await _ in ready { break }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
  }

  @MainActor final class Model {
    private(set) var lines: [String] = []
    private(set) var threads: Set<UInt> = []
    private var waiting: Task<Void, any Error>?
    private let clock: VirtualClock

    init(clock: VirtualClock) { self.clock = clock }

    func touch(_ text: String) {
      waiting?.cancel()
      waiting = Task {
        try await clock.sleep(for: .milliseconds(50))
        MainActor.assertIsolated()
        threads.insert(DriverThread.current)
        lines.append("\(text) \(clock.now)")
      }
    }

    func finish() async throws { try await waiting?.value }
  }

  @Test func `code of the main actor runs in virtual time, on the main thread`() async throws {
    for _ in 0..<20 {
      try await withVirtualTime { time in
        let driver = DriverThread.current
        let model = await Model(clock: time.clock)
        for text in ["a", "b", "c"] {
          await model.touch(text)
          await time.run(for: .milliseconds(20))
        }
        await model.touch("d")
        try await model.finish()
        #expect(await model.lines == ["d 110ms"])
        #expect(await !model.threads.contains(driver))
      }
    }
  }

  @Test @MainActor func `a body of the main actor runs in virtual time`() async throws {
    let lines = try await withVirtualTime { @MainActor time in
      MainActor.assertIsolated()
      let model = Model(clock: time.clock)
      model.touch("a")
      await time.run(until: .seconds(1))
      MainActor.assertIsolated()
      return model.lines
    }
    #expect(lines == ["a 50ms"])
  }

  @Test func `the hooks are there while a scope is open, and not afterwards`() async throws {
    let hooks = try RuntimeHooks.current.get()
    let before = try await betweenScopes { hooks.installed }
    let during = try await withVirtualTime { _ in hooks.installed }
    #expect(during != before)
    #expect(try await betweenScopes { hooks.installed } == before)
  }

  /// No scope is open meanwhile, whatever other tests do.
  private func betweenScopes<Value>(_ body: () -> Value) async throws -> Value {
    try await ScopeLock.shared.acquire()
    defer { ScopeLock.shared.release() }
    return body()
  }
}
