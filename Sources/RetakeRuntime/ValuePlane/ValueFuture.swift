import RetakeCore
import Synchronization

/// A value that is being computed, or will be, once its inputs are there.
///
/// A future is runnable only when all its inputs are done; whoever claims it runs it, exactly once.
package final class ValueFuture: @unchecked Sendable {
  // @unchecked: the state says who may touch what. `work` belongs to whoever claimed the future;
  // `outcome` and `digest` too, and to everybody once the state says done. `inputs` are changed by
  // the claimer alone, under `dependents`, and read by others under it. `place` is written before
  // the state says queued, and from then on the time plane alone reads and writes it.

  /// Computes from the outcomes of the inputs, in their order.
  package typealias Work = @Sendable (InputOutcomes) -> ValueOutcome

  /// The node whose output this is, by its number in the graph.
  package let node: Int
  package let frame: FrameID
  /// Of a forEach.
  package let item: Int?
  /// The thread that has to compute it, for a pinned stage; `nil` = any.
  package let lane: Int?
  /// The frame that this reads, or that a stage reads which this computes.
  let hold: FrameHold?
  /// It begins only when the gate has room for the frame.
  let opensHold: Bool
  private let isDigested: Bool
  private let state: Atomic<UInt32>
  private let dependents = Mutex(FutureList())
  private var inputs: [ValueFuture]
  private var work: Work?
  private var knownOutcome: ValueOutcome?
  private var knownDigest: Digest128?
  /// The queue that it lies or lay in.
  private(set) var place: QueuePlace?

  /// - Parameters:
  ///   - inputs: Made before this one: so there are no circles.
  ///   - isNeeded: Else it is speculation, done when nothing needed is left to do.
  ///   - isDigested: Whether whoever computes the value also digests it.
  package convenience init(
    node: Int, frame: FrameID, item: Int? = nil, inputs: [ValueFuture], lane: Int? = nil,
    isNeeded: Bool, isDigested: Bool, work: @escaping Work
  ) {
    self.init(
      node: node, frame: frame, item: item, inputs: inputs, lane: lane, isNeeded: isNeeded,
      isDigested: isDigested, hold: nil, opensHold: false, work: work)
  }

  /// - Parameters:
  ///   - hold: Counts this future, and ends when all that it counts have finished.
  ///   - opensHold: This is the frame's read.
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
    // One more than the inputs, so that nobody runs it before it is connected to all of them.
    state = Atomic(FutureState(missing: inputs.count + 1, isNeeded: isNeeded).word)
  }

  // MARK: What anybody may ask

  package var current: FutureState { FutureState(word: state.load(ordering: .acquiring)) }

  package var isDone: Bool { current.isDone }

  package var outcome: ValueOutcome? { isDone ? knownOutcome : nil }

  /// What broke the run, without a copy of the value.
  package var fault: (any Error)? {
    guard isDone, case .fault(let error) = knownOutcome else { return nil }
    return error
  }

  /// Its body, for the watchdog.
  var watched: WatchedBody { WatchedBody(node: node, frame: frame, item: item) }

  package var digest: Digest128? { isDone ? knownDigest : nil }

  /// The first input that is not done; `nil` when the future can run, runs, or is done.
  package var firstUnresolvedInput: ValueFuture? {
    guard current.status == .waiting else { return nil }
    return dependents.withLock { _ in inputs.first { !$0.isDone } }
  }

  // MARK: Changes

  /// Tells the inputs who waits for them. Call once, right after init.
  ///
  /// - Returns: Whether the future can run now.
  func connect() -> Bool {
    var resolved = 1
    for input in inputs where !input.addDependent(self) { resolved += 1 }
    return resolve(resolved)
  }

  /// `false` if this is already done: then nobody will be told.
  private func addDependent(_ dependent: ValueFuture) -> Bool {
    dependents.withLock {
      if isDone { return false }
      $0.append(dependent)
      return true
    }
  }

  /// So many inputs are done; `true` when nothing is missing any more.
  private func resolve(_ count: Int) -> Bool {
    update { $0.resolving(count) }?.after.missing == 0
  }

  /// Speculation became necessary; the state before.
  func markNeeded() -> FutureState? {
    if current.isNeeded { return nil }
    return update { $0.needed }?.before
  }

  /// Asks that the finish be told; `false` when it is done already.
  func markAwaited() -> Bool { update { $0.awaited } != nil }

  /// Notes the queue, unless somebody claimed the future: then it must not stay there.
  func note(_ place: QueuePlace) -> Bool {
    self.place = place
    // Bounded: the state changes a few times in a future's life.
    while true {
      let state = current
      guard state.isNeeded == place.isNeeded, let queued = state.queued else { return false }
      if exchange(state, queued) { return true }
    }
  }

  /// The time plane moved it to another queue.
  func move(to place: QueuePlace) { self.place = place }

  /// Takes the right and the duty to compute; the state before, or `nil` if that is not to be had.
  func claim() -> FutureState? { update { $0.claimed }?.before }

  /// Computes what was claimed.
  ///
  /// - Returns: Whoever can run because of it.
  func compute() -> FinishedValue {
    guard let work, !current.isCancelled else { return finish(.cancelled) }
    return finish(work(InputOutcomes(inputs)))
  }

  /// Gives the computation up unless it already began; dependents go on without it, but not before
  /// its inputs are done: who waits for the last of a chain waits for all of it.
  ///
  /// - Returns: The state before, and whoever can run because of it; `nil` when it is not finished
  ///   by this.
  func cancel() -> (before: FutureState, finished: FinishedValue)? {
    guard let (before, after) = update({ $0.cancelled }), after.status == .running else {
      return nil
    }
    return (before, finish(.cancelled))
  }

  private func finish(_ outcome: ValueOutcome) -> FinishedValue {
    knownOutcome = outcome
    knownDigest = isDigested ? outcome.digest : nil
    work = nil
    var before: FutureState?
    // What is let go here may free pixels: not under the lock.
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

/// What the end of a computation means for others.
struct FinishedValue {
  /// Futures whose last missing input this was.
  var runnable: FutureList
  /// The time plane waits for this very value.
  var isAwaited: Bool
  /// The frame that nobody reads any more because of it.
  var endedHold: FrameHold?
}

/// A few futures, mostly one: that one takes no memory of its own.
struct FutureList: Sendable {
  private(set) var first: ValueFuture?
  private(set) var others: [ValueFuture] = []

  var isEmpty: Bool { first == nil }
  var isSingle: Bool { first != nil && others.isEmpty }

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
