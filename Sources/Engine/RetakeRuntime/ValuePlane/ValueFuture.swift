package import RetakeCore
import Synchronization

/// A value that is being computed, or will be once its inputs are done.
///
/// A future can run only when all its inputs are done. The thread that claims it runs it, exactly
/// once.
package final class ValueFuture: @unchecked Sendable {
  // @unchecked: the state determines which thread may use each property. `work` belongs to the
  // thread that claimed the future. So do `outcome` and `digest`, which every thread may read once
  // the state is done. Only the claiming thread changes `inputs`, under the lock of `dependents`;
  // others read them under it. `place` is written before the state is queued, and from then on only
  // the time plane reads and writes it.

  /// Computes the outcome from the outcomes of the inputs, in order.
  package typealias Work = @Sendable (InputOutcomes) -> ValueOutcome

  /// The node that has this output, by its number in the graph.
  package let node: Int
  package let frame: FrameID
  /// The item of a forEach.
  package let item: Int?
  /// The lane whose thread has to compute it, for a pinned stage; `nil` = any thread.
  package let lane: Int?
  /// The hold of the frame that this future reads, or that its stage reads.
  let hold: FrameHold?
  /// Whether it begins only when the gate has a free place for the frame.
  let opensHold: Bool
  private let isDigested: Bool
  private let state: Atomic<UInt32>
  private let dependents = Mutex(FutureList())
  private var inputs: [ValueFuture]
  private var work: Work?
  private var knownOutcome: ValueOutcome?
  private var knownDigest: Digest128?
  /// The queue that it is or was in.
  private(set) var place: QueuePlace?

  /// - Parameters:
  ///   - inputs: Created before this future, so cycles are impossible.
  ///   - isNeeded: Otherwise it is speculation, which is computed when there is no needed work.
  ///   - isDigested: Whether the thread that computes the value also digests it.
  package convenience init(
    node: Int, frame: FrameID, item: Int? = nil, inputs: [ValueFuture], lane: Int? = nil,
    isNeeded: Bool, isDigested: Bool, work: @escaping Work
  ) {
    self.init(
      node: node, frame: frame, item: item, inputs: inputs, lane: lane, isNeeded: isNeeded,
      isDigested: isDigested, hold: nil, opensHold: false, work: work)
  }

  /// - Parameters:
  ///   - hold: Counts this future, and ends when all futures that it counts have finished.
  ///   - opensHold: Whether this is the read of the frame.
  init(
    node: Int, frame: FrameID, item: Int? = nil, inputs: [ValueFuture], lane: Int? = nil,
    isNeeded: Bool, isDigested: Bool, hold: FrameHold?, opensHold: Bool = false,
    work: @escaping Work
  ) {
    self.node = node
    self.frame = frame
    self.item = item
    self.inputs = inputs
    self.lane = lane
    self.isDigested = isDigested
    self.hold = hold
    self.opensHold = opensHold
    self.work = work
    // One more than the inputs, so that no thread runs it before it is connected to all of them.
    state = Atomic(FutureState(missing: inputs.count + 1, isNeeded: isNeeded).word)
  }

  // MARK: Queries

  package var current: FutureState { FutureState(word: state.load(ordering: .acquiring)) }

  package var isDone: Bool { current.isDone }

  package var outcome: ValueOutcome? { isDone ? knownOutcome : nil }

  /// The error that ends the run, without a copy of the value.
  package var fault: (any Error)? {
    guard isDone, case .fault(let error) = knownOutcome else { return nil }
    return error
  }

  /// The body of the future, for the watchdog.
  var watched: WatchedBody { WatchedBody(node: node, frame: frame, item: item) }

  package var digest: Digest128? { isDone ? knownDigest : nil }

  /// The first input that is not done; `nil` if the future can run, runs, or is done.
  package var firstUnresolvedInput: ValueFuture? {
    guard current.status == .waiting else { return nil }
    return dependents.withLock { _ in inputs.first { !$0.isDone } }
  }

  // MARK: Changes

  /// Registers this future with its inputs. Call this once, right after init.
  ///
  /// - Returns: Whether the future can run now.
  func connect() -> Bool {
    var resolved = 1
    for input in inputs where !input.addDependent(self) { resolved += 1 }
    return resolve(resolved)
  }

  /// `false` if this future is already done: then the dependent will not be notified.
  private func addDependent(_ dependent: ValueFuture) -> Bool {
    dependents.withLock {
      // Under the lock that `finish` holds, so a dependent is either notified or sees the end here.
      if isDone { return false }
      $0.append(dependent)
      return true
    }
  }

  /// Notes that the given number of inputs are done; `true` if no input is missing any more.
  private func resolve(_ count: Int) -> Bool {
    update { $0.resolving(count) }?.after.missing == 0
  }

  /// Speculation became needed. Returns the state before.
  func markNeeded() -> FutureState? {
    if current.isNeeded { return nil }
    return update { $0.needed }?.before
  }

  /// Requests a notification of the finish; `false` if the future is done already.
  func markAwaited() -> Bool { update { $0.awaited } != nil }

  /// Notes the queue, unless a thread has claimed the future: then it must not stay there.
  func note(_ place: QueuePlace) -> Bool {
    self.place = place
    // Bounded: the state changes a few times in a future's life.
    while true {
      let state = current
      guard state.isNeeded == place.isNeeded, let queued = state.queued else { return false }
      if exchange(state, queued) { return true }
    }
  }

  /// The time plane has moved it to another queue.
  func move(to place: QueuePlace) { self.place = place }

  /// Claims the computation. Returns the state before, or `nil` if the claim is not possible.
  func claim() -> FutureState? { update { $0.claimed }?.before }

  /// Computes a claimed future.
  ///
  /// - Returns: The futures that can run because of it.
  func compute() -> FinishedValue {
    // It was cancelled while an input was missing; its dependents still wait for it.
    guard let work, !current.isCancelled else { return finish(.cancelled) }
    return finish(work(InputOutcomes(inputs)))
  }

  /// Cancels the computation unless it has already begun. Dependents continue without it, but not
  /// before its inputs are done: a thread that waits for the last future of a chain waits for all
  /// futures of the chain.
  ///
  /// - Returns: The state before, and the futures that can run because of it; `nil` if this call
  ///   does not finish the future.
  func cancel() -> (before: FutureState, finished: FinishedValue)? {
    guard let (before, after) = update({ $0.cancelled }), after.status == .running else {
      return nil
    }
    return (before, finish(.cancelled))
  }

  private func finish(_ outcome: ValueOutcome) -> FinishedValue {
    // Written before the state is done, because from then on every thread may read them.
    knownOutcome = outcome
    knownDigest = isDigested ? outcome.digest : nil
    work = nil
    var before: FutureState?
    // Releasing these values may free pixels, which must not happen under the lock.
    let (waiting, released) = dependents.withLock { list -> (FutureList, [ValueFuture]) in
      before = update { $0.finished }?.before
      defer {
        list = FutureList()
        inputs = []
      }
      return (list, inputs)
    }
    withExtendedLifetime(released) {}
    return FinishedValue(
      runnable: waiting.filter { $0.resolve(1) }, isAwaited: before?.isAwaited ?? false,
      endedHold: hold?.finish(outcome) == true ? hold : nil)
  }

  private func update(
    _ change: (FutureState) -> FutureState?
  ) -> (before: FutureState, after: FutureState)? {
    // Bounded: the state changes a few times in a future's life.
    while true {
      let before = current
      guard let after = change(before) else { return nil }
      if exchange(before, after) { return (before, after) }
    }
  }

  private func exchange(_ before: FutureState, _ after: FutureState) -> Bool {
    state.compareExchange(
      expected: before.word, desired: after.word, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

/// The effects of a finished computation on others.
struct FinishedValue {
  /// Futures whose last missing input this was.
  var runnable: FutureList
  /// Whether the time plane waits for this value.
  var isAwaited: Bool
  /// The hold of a frame that has no readers left after this computation.
  var endedHold: FrameHold?
}

/// A few futures, mostly one. A single future needs no array.
struct FutureList: Sendable {
  private(set) var first: ValueFuture?
  private(set) var others: [ValueFuture] = []

  var isEmpty: Bool { first == nil }

  mutating func append(_ future: ValueFuture) {
    if first == nil {
      first = future
    } else {
      others.append(future)
    }
  }

  func filter(_ isIncluded: (ValueFuture) -> Bool) -> FutureList {
    var list = FutureList()
    forEach { if isIncluded($0) { list.append($0) } }
    return list
  }

  func forEach(_ body: (ValueFuture) -> Void) {
    if let first { body(first) }
    for future in others { body(future) }
  }
}
