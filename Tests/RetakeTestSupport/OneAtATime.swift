import Synchronization
import Testing

/// Of all tests with this trait and of one kind, in whatever suite or target, one runs at a time.
///
/// It is for tests that plant faults under real processes: killed recorders, namespaces, servers
/// that do not answer, displays, browsers. In parallel they take the machine from one another.
/// `.serialized` holds only inside one suite. A test that waits for its turn holds no thread, and one
/// that has it runs on a thread of its own: it mostly waits for processes, and the pool of Swift's
/// tasks has only one thread for each processor. The whole suite runs outside that pool, so that its
/// first turn comes when the run begins, and not when the pool has done all other tests.
package struct OneAtATime: TestTrait, SuiteTrait, TestScoping {
  package enum Kind: Sendable {
    /// Recorders, disks, databases.
    case recorders
    /// Displays, browsers, servers: they mostly wait, so that a recorder may run next to one.
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

  /// Suites and cases have a scope; a test alone has none, as its cases have theirs.
  package func scopeProvider(for test: Test, testCase: Test.Case?) -> OneAtATime? {
    test.isSuite || testCase != nil ? self : nil
  }

  /// Each case of a test takes a turn of its own, so that suites take turns too.
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

/// A lock whose waiters are suspended tasks; they get it in the order in which they came.
package final class TurnLock: Sendable {
  static let ofRecorders = TurnLock()
  static let ofDisplays = TurnLock()

  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The locks that this task holds: one that it has already is not taken twice.
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
