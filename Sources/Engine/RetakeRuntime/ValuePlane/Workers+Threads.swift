import Synchronization

extension Workers {
  /// - Throws: `RuntimeError.noThread`.
  func startThread(
    _ name: String, _ niceness: Int, _ body: @escaping @Sendable (Workers) -> Void
  ) throws(RuntimeError) {
    liveThreads.add(1, ordering: .sequentiallyConsistent)
    do throws(RuntimeError) {
      _ = try NamedThread(name) { [self] in
        if niceness > 0 { NamedThread.yieldProcessor(niceness: niceness) }
        body(self)
        liveThreads.subtract(1, ordering: .sequentiallyConsistent)
        condition.signal()
      }
    } catch {
      liveThreads.subtract(1, ordering: .sequentiallyConsistent)
      throw error
    }
  }

  // MARK: Workers

  func work(as worker: Int) {
    while !isStopped {
      if let future = take(as: worker) {
        execute(future, as: worker)
      } else {
        rest(as: worker)
      }
    }
  }

  /// Needed work comes before speculation, and the worker's own queue before the others'.
  func take(as worker: Int) -> ValueFuture? {
    take(as: worker, needed: true) ?? take(as: worker, needed: false)
  }

  private func take(as worker: Int, needed: Bool) -> ValueFuture? {
    // The time plane's queue is in the order in which frames will be needed.
    let own =
      worker == 0
      ? queues[0].popOldest(needed: needed) : queues[worker].popNewest(needed: needed)
    if let own { return own }
    for distance in 1..<max(2, queues.count) {
      let victim = queues[(worker + distance) % queues.count]
      if let stolen = victim.popOldest(needed: needed) { return stolen }
    }
    return nil
  }

  /// Computes a future, then a future that can run because of it, and so on.
  private func execute(_ future: ValueFuture, as worker: Int) {
    var next: ValueFuture? = future
    // Bounded: each turn is a step from a future to a dependent future.
    while let future = next {
      delay(before: future)
      guard future.claim() != nil else { return }
      let finished = future.compute()
      next = finished.runnable.first.flatMap { mayFollow($0) ? $0 : nil }
      enqueue(finished, from: worker, except: next)
    }
  }

  /// Whether a future that has just become runnable should be computed next.
  private func mayFollow(_ future: ValueFuture) -> Bool {
    guard future.lane == nil, !isStopped else { return false }
    guard future.current.isNeeded || queues.allSatisfy({ $0.isEmpty(ofNeeded: true) }) else {
      return false
    }
    return gate?.admit(future) ?? true
  }

  private func rest(as worker: Int) {
    if isWorkNear({ false }) { return }
    // Registered first: a thread that queues work from now on sees this worker. See `IdleWorkers`.
    idle.add(worker)
    if queued.isZero, !isStopped { idle.rest(worker) }
    idle.remove(worker)
  }

  /// Looks for work for a moment, because waking a thread is slower than that.
  func isWorkNear(_ isOver: () -> Bool) -> Bool {
    for _ in 0..<looks {
      if isStopped || isOver() || !queued.isZero { return true }
    }
    return false
  }

  /// Queues each future that can run now: on its lane, or in the queue of the worker that made it
  /// runnable. The future that this thread computes next is not queued.
  func enqueue(_ finished: FinishedValue, from worker: Int, except kept: ValueFuture? = nil) {
    if finished.isAwaited { condition.signal() }
    finished.runnable.forEach { if $0 !== kept || $0.lane != nil { enqueue($0, from: worker) } }
    guard let hold = finished.endedHold, let gate else { return }
    for future in gate.end(hold) { enqueue(future, from: worker) }
  }

  func enqueue(_ future: ValueFuture, from worker: Int, isTaken: Bool = false) {
    if let gate, !gate.admit(future) { return }
    if let number = future.lane {
      guard let lane = lanes[number] else {
        preconditionFailure("futures name lanes that the workers have")
      }
      // Only the lane's own thread computes these, so only that thread is woken.
      if lane.queue.append(future) { lane.condition.signal() }
    } else if queues[worker].append(future), !isTaken {
      idle.wakeOne()
    }
  }

  // MARK: Lanes

  func work(on lane: Lane) {
    while !isStopped {
      guard let future = lane.next() else {
        lane.condition.wait()
        continue
      }
      delay(before: future)
      lane.body.withLock { $0 = future.watched }
      if future.claim() != nil { enqueue(future.compute(), from: 0) }
      lane.body.withLock { $0 = nil }
    }
  }
}
