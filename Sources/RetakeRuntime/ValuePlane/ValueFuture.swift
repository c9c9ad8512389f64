import RetakeCore
import RetakeGraph
import Synchronization

/// What became of one computation.
package enum ValueOutcome: Sendable {
  case value(any PipelineValue)
  case failure(StageError)
  /// The engine or the session is broken: the run cannot go on.
  case fault(any Error)
  /// Nobody needs it any more.
  case cancelled

  /// XXH3-128 of the value's canonical bytes, or of the failure's code; `nil` if there is none.
  package var digest: Digest128? {
    switch self {
    case .value(let value): value.digest
    case .failure(let error): Digest128(of: error.code)
    case .fault, .cancelled: nil
    }
  }
}

/// A value that is being computed, or will be, once its inputs are there.
///
/// A future is runnable only when all its inputs are done; whoever claims it runs it, exactly once.
package final class ValueFuture: Sendable {
  /// Computes from the outcomes of the inputs, in their order.
  package typealias Work = @Sendable ([ValueOutcome]) -> ValueOutcome

  private enum Status {
    case waiting
    case running
    case done(ValueOutcome, Digest128?)
  }

  private struct State {
    var status = Status.waiting
    var inputs: [ValueFuture]
    var unresolved: Int
    var dependents: [ValueFuture] = []
    var work: Work?
    var isNeeded: Bool
  }

  private let state: Mutex<State>
  private let isDigested: Bool
  /// What injected delays are drawn for.
  package let label: UInt64

  package init(
    inputs: [ValueFuture], label: UInt64, isNeeded: Bool, isDigested: Bool,
    work: @escaping Work
  ) {
    state = Mutex(
      State(inputs: inputs, unresolved: inputs.count, work: work, isNeeded: isNeeded))
    self.label = label
    self.isDigested = isDigested
  }

  /// Tells the inputs who waits for them. Call once, right after init.
  ///
  /// - Returns: Whether the future can run now.
  package func connect() -> Bool {
    for input in state.withLock({ $0.inputs }) where input.addDependent(self) {
      _ = inputResolved()
    }
    return isRunnable
  }

  package var outcome: ValueOutcome? {
    state.withLock {
      guard case .done(let outcome, _) = $0.status else { return nil }
      return outcome
    }
  }

  package var digest: Digest128? {
    state.withLock {
      guard case .done(_, let digest) = $0.status else { return nil }
      return digest
    }
  }

  package var isDone: Bool {
    state.withLock {
      guard case .done = $0.status else { return false }
      return true
    }
  }

  package var isNeeded: Bool { state.withLock { $0.isNeeded } }

  /// Speculation became necessary.
  package func markNeeded() { state.withLock { $0.isNeeded = true } }

  private var isRunnable: Bool {
    state.withLock {
      guard case .waiting = $0.status else { return false }
      return $0.unresolved == 0
    }
  }

  /// The first input that is not done; `nil` when the future can run, runs, or is done.
  package var firstUnresolvedInput: ValueFuture? {
    let inputs = state.withLock { state -> [ValueFuture] in
      guard case .waiting = state.status else { return [] }
      return state.inputs
    }
    return inputs.first { !$0.isDone }
  }

  /// `true` if this is already done: then nobody will be told.
  private func addDependent(_ dependent: ValueFuture) -> Bool {
    state.withLock {
      if case .done = $0.status { return true }
      $0.dependents.append(dependent)
      return false
    }
  }

  /// One input is done; `true` when that was the last one that was missing.
  private func inputResolved() -> Bool {
    state.withLock {
      $0.unresolved -= 1
      guard case .waiting = $0.status else { return false }
      return $0.unresolved == 0
    }
  }

  /// Claims and runs the computation if nobody else has; the result is the futures that can run
  /// because of it, or `nil` if there was nothing to do.
  package func run() -> [ValueFuture]? {
    let claimed = state.withLock { state -> (Work, [ValueFuture])? in
      guard case .waiting = state.status, state.unresolved == 0, let work = state.work else {
        return nil
      }
      state.status = .running
      return (work, state.inputs)
    }
    guard let (work, inputs) = claimed else { return nil }
    let outcome = work(inputs.compactMap(\.outcome))
    return finish(outcome, isDigested ? outcome.digest : nil)
  }

  /// Gives the computation up unless it already began; dependents go on without it, but not before
  /// its inputs are done: who waits for the last of a chain waits for all of it.
  package func cancel() -> [ValueFuture] {
    let isMine = state.withLock { state -> Bool in
      guard case .waiting = state.status else { return false }
      guard state.unresolved == 0 else {
        state.work = { _ in .cancelled }
        return false
      }
      state.status = .running
      return true
    }
    return isMine ? finish(.cancelled, nil) : []
  }

  private func finish(_ outcome: ValueOutcome, _ digest: Digest128?) -> [ValueFuture] {
    let dependents = state.withLock { state -> [ValueFuture] in
      state.status = .done(outcome, digest)
      state.work = nil
      state.inputs = []
      defer { state.dependents = [] }
      return state.dependents
    }
    return dependents.filter { $0.inputResolved() }
  }
}
