import Synchronization

@testable import RetakeClock

/// Work outside of every scope, of the kinds that tests have, until it is cancelled. It notes the
/// threads on which it runs.
final class OtherWork: Sendable {
  private actor Counter {
    var count = 0

    func add() { count += 1 }
  }

  private struct State {
    var threads: Set<UInt> = []
    var isInScope = false
    var rounds = 0
  }

  private let state = Mutex(State())

  /// The threads since `forget`.
  var threads: Set<UInt> { state.withLock { $0.threads } }
  /// Whether any of it was ever taken for work of a scope.
  var wasInScope: Bool { state.withLock { $0.isInScope } }
  var rounds: Int { state.withLock { $0.rounds } }

  func forget() { state.withLock { $0.threads = [] } }

  func run() async {
    let counter = Counter()
    // Ends: when the test cancels it.
    while !Task.isCancelled {
      await round(counter)
      state.withLock { $0.rounds += 1 }
    }
  }

  private func round(_ counter: Counter) async {
    note()
    await counter.add()
    note()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          await Task.yield()
          self.note()
        }
      }
    }
    await Task { self.note() }.value
    await Task.detached { self.note() }.value
    async let one: Void = counter.add()
    await one
    await MainActor.run { self.note() }
  }

  private func note() {
    let isInScope = Scope.mark != nil || Scope.open?.isCurrent == true
    state.withLock { state in
      state.threads.insert(DriverThread.current)
      if isInScope { state.isInScope = true }
    }
  }
}
