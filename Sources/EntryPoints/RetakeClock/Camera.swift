import Synchronization

/// Delivers the elements of a stream, one each time.
final class Camera: Sendable {
  private let instants: [VirtualClock.Instant]
  private let deliverElement: @Sendable (_ index: Int) -> Bool
  private let finish: @Sendable () -> Void
  private let position = Mutex(0)

  /// A camera that has not delivered an element yet.
  ///
  /// - Parameters:
  ///   - deliver: Yields the element at an index; returns false if the stream has ended.
  ///   - finish: Ends the stream after its last element.
  init(
    at instants: [VirtualClock.Instant], deliver: @escaping @Sendable (_ index: Int) -> Bool,
    finish: @escaping @Sendable () -> Void
  ) {
    (self.instants, deliverElement, self.finish) = (instants, deliver, finish)
  }

  /// Delivers the next element. Returns the instant of the following element, or `nil` if the
  /// stream has ended: after the last element, or because its reader is gone.
  func deliver() -> VirtualClock.Instant? {
    let index = position.withLock { position in
      position += 1
      return position - 1
    }
    guard deliverElement(index) else { return nil }
    if index + 1 < instants.count { return instants[index + 1] }
    finish()
    return nil
  }
}
