import RetakeBuffers
import RetakeRuntime

/// Items that a live source's own thread hands to the recorder, in order.
final class LiveMailbox: Sendable {
  enum Item: Sendable {
    case frame(SourceFrame, arrivalNanoseconds: Int64, connection: Int)
    case missed(MissedFrame, arrivalNanoseconds: Int64, connection: Int)
    case lost(cause: String)
  }

  private struct State: Sendable {
    var items: [Item] = []
    /// The thread whose items are accepted; earlier threads were abandoned.
    var generation = 0
    var isClosed = false
  }

  /// Maximum number of waiting frames; the recorder removes each frame as soon as it can.
  private static let itemsMax = 16

  private let state = Locked(State())
  let arrived = ThreadCondition()
  private let relieved = ThreadCondition()

  /// Waits until the box has space, and puts the item.
  ///
  /// - Returns: false when the thread should end.
  func put(_ item: Item, generation: Int) -> Bool {
    // Ends: the recorder removes items or closes the box, and rings each time.
    while true {
      let isDone: Bool? = state.withLock {
        guard $0.generation == generation, !$0.isClosed else { return false }
        guard $0.items.count < Self.itemsMax else { return nil }
        $0.items.append(item)
        return true
      }
      if let isDone {
        if isDone { arrived.signal() }
        return isDone
      }
      relieved.wait()
    }
  }

  func take() -> Item? {
    let item: Item? = state.withLock { $0.items.isEmpty ? nil : $0.items.removeFirst() }
    if item != nil { relieved.signal() }
    return item
  }

  func takeAll() {
    state.withLock { $0.items = [] }
    relieved.signal()
  }

  /// From now on only items of a new thread are accepted.
  func nextGeneration() -> Int {
    // A replaced thread that waits for space must notice that it should end.
    defer { relieved.signal() }
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
    relieved.signal()
    arrived.signal()
  }
}
