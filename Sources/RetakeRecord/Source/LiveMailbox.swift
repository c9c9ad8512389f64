import RetakeBuffers
import RetakeRuntime

/// What a live source's own thread hands to the recorder, in order.
final class LiveMailbox: Sendable {
  enum Item: Sendable {
    case frame(SourceFrame, arrivalNanoseconds: Int64, connection: Int)
    case missed(MissedFrame, arrivalNanoseconds: Int64, connection: Int)
    case lost(cause: String)
  }

  private struct State: Sendable {
    var items: [Item] = []
    /// The thread whose items count; others were left alone.
    var generation = 0
    var isClosed = false
  }

  /// Frames that wait here, at most: the recorder takes each as soon as it can.
  private static let itemsMax = 16

  private let state = Locked(State())
  let arrived = Bell()
  private let relieved = Bell()

  /// Waits for room.
  ///
  /// - Returns: false when the thread is to end.
  func put(_ item: Item, generation: Int) -> Bool {
    // Ends: the recorder takes what is here, or closes the box, and rings each time.
    while true {
      let isDone: Bool? = state.withLock {
        guard $0.generation == generation, !$0.isClosed else { return false }
        guard $0.items.count < Self.itemsMax else { return nil }
        $0.items.append(item)
        return true
      }
      if let isDone {
        if isDone { arrived.ring() }
        return isDone
      }
      relieved.wait()
    }
  }

  func take() -> Item? {
    let item: Item? = state.withLock { $0.items.isEmpty ? nil : $0.items.removeFirst() }
    if item != nil { relieved.ring() }
    return item
  }

  func takeAll() {
    state.withLock { $0.items = [] }
    relieved.ring()
  }

  /// From now on the items of another thread count.
  func nextGeneration() -> Int {
    defer { relieved.ring() }
    return state.withLock {
      $0.generation += 1
      return $0.generation
    }
  }

  func isCurrent(_ generation: Int) -> Bool {
    state.withLock { $0.generation == generation && !$0.isClosed }
  }

  func close() {
    state.withLock {
      $0.isClosed = true
      $0.items = []
    }
    relieved.ring()
    arrived.ring()
  }
}
