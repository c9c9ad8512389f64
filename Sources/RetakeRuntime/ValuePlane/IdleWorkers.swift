import Synchronization

/// Who rests, and is woken when there is something to do: one at a time.
///
/// Whoever wants to rest says so first and then looks once more for work; whoever makes work makes
/// it first and then looks here. So no work is left lying while somebody rests, and nobody is woken
/// for nothing.
final class IdleWorkers: Sendable {
  private struct Resting {
    /// The last to rest is the first to be woken: its memory is the warmest.
    var threads: [Int] = []
    var isTimePlane = false
  }

  private let resting = Mutex(Resting())
  private let count = Atomic(0)
  private let bells: [Bell]

  /// - Parameter bells: One a worker; the time plane's is the first.
  init(bells: [Bell]) {
    self.bells = bells
  }

  func add(_ worker: Int) {
    resting.withLock {
      if worker == 0 { $0.isTimePlane = true } else { $0.threads.append(worker) }
      count.add(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Takes back `add`, where nobody was faster and woke the worker.
  func remove(_ worker: Int) {
    resting.withLock {
      if worker == 0, $0.isTimePlane {
        $0.isTimePlane = false
      } else if worker > 0, let index = $0.threads.lastIndex(of: worker) {
        $0.threads.remove(at: index)
      } else {
        return
      }
      count.subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Wakes one that rests, if there is one; the time plane last, because it has more to do than
  /// to help.
  func wakeOne() {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    let woken = resting.withLock { resting -> Int? in
      var woken = resting.threads.popLast()
      if woken == nil, resting.isTimePlane {
        resting.isTimePlane = false
        woken = 0
      }
      if woken != nil { count.subtract(1, ordering: .sequentiallyConsistent) }
      return woken
    }
    if let woken { bells[woken].ring() }
  }

  func wakeAll() {
    for bell in bells { bell.ring() }
  }

  func rest(_ worker: Int) { bells[worker].wait() }
}
