import Synchronization

/// The workers that rest. They are woken one at a time when there is work.
///
/// A worker that wants to rest registers first and then looks for work once more. A thread that
/// creates work creates it first and then looks here. So no work waits while a worker rests, and no
/// worker is woken without work.
final class IdleWorkers: Sendable {
  private struct Resting {
    /// The worker that rested last is woken first, because its memory is the warmest.
    var threads: [Int] = []
    var isTimePlane = false
  }

  private let resting = Mutex(Resting())
  private let count = Atomic(0)
  private let conditions: [ThreadCondition]

  /// - Parameter conditions: One per worker; the time plane's is the first.
  init(conditions: [ThreadCondition]) {
    self.conditions = conditions
  }

  func add(_ worker: Int) {
    resting.withLock {
      if worker == 0 { $0.isTimePlane = true } else { $0.threads.append(worker) }
      count.add(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Reverts `add`, unless another thread has already woken the worker.
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

  /// Wakes one resting worker, if there is one. The time plane comes last, because it has more to
  /// do than to help.
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
    if let woken { conditions[woken].signal() }
  }

  func wakeAll() {
    for condition in conditions { condition.signal() }
  }

  func rest(_ worker: Int) { conditions[worker].wait() }
}
