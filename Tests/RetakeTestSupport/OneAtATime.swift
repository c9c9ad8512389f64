import Synchronization
import Testing

/// Runs one test at a time, of all tests with this trait and of the same kind, across suites and
/// targets.
///
/// It is for tests that cause faults under real processes: killed recorders, namespaces, servers
/// that do not answer, displays, browsers. In parallel they would compete for the machine, and
/// `.serialized` applies only within one suite. A test that waits for its turn does not hold a
/// thread. A test that has its turn runs on a separate thread: it mostly waits for processes, and
/// the pool of Swift's tasks has only one thread per processor. The suite runs outside that pool,
/// so that its first turn comes at the beginning of the run, and not after the pool has finished
/// all other tests.
package struct OneAtATime: TestTrait, SuiteTrait, TestScoping {
  package enum Kind: Sendable {
    /// Recorders, disks, databases.
    case recorders
    /// Displays, browsers, servers. They mostly wait, so a recorder may run at the same time.
    case displays
  }

  let kind: Kind

  package var isRecursive: Bool { true }

  private var turns: TurnLock {
    switch kind {
    case .recorders: .ofRecorders
    case .displays: .ofDisplays
    }
  }

  /// Suites and cases have a scope. A test itself has no scope, because its cases have scopes.
  package func scopeProvider(for test: Test, testCase: Test.Case?) -> OneAtATime? {
    test.isSuite || testCase != nil ? self : nil
  }

  /// Each case of a test waits for its turn, so that suites alternate.
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(ThreadExecutor.shared) {
      guard testCase != nil else { return try await function() }
      try await turns.hold { try await function() }
    }
  }
}

extension Trait where Self == OneAtATime {
  package static var oneAtATime: OneAtATime { OneAtATime(kind: .recorders) }
  package static func oneAtATime(_ kind: OneAtATime.Kind) -> OneAtATime { OneAtATime(kind: kind) }
}

/// A lock whose waiters are suspended tasks. They get it in the order in which they arrived.
package final class TurnLock: Sendable {
  static let ofRecorders = TurnLock()
  static let ofDisplays = TurnLock()

  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The locks that this task holds: a task does not acquire a lock twice.
  @TaskLocal private static var held: Set<ObjectIdentifier> = []

  private let state = Mutex(State())

  package init() {}

  package func hold<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    let name = ObjectIdentifier(self)
    guard !Self.held.contains(name) else { return try await body() }
    await take()
    defer { giveBack() }
    return try await Self.$held.withValue(Self.held.union([name])) { try await body() }
  }

  private func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        defer { state.isTaken = true }
        if state.isTaken { state.waiting.append(continuation) }
        return !state.isTaken
      }
      if isFree { continuation.resume() }
    }
  }

  private func giveBack() {
    let next = state.withLock { state in
      guard state.waiting.isEmpty else { return Optional(state.waiting.removeFirst()) }
      state.isTaken = false
      return nil
    }
    next?.resume()
  }
}
