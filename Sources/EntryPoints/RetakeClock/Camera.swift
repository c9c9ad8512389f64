import Synchronization

/// Delivers the elements of a stream, one each time.
final class Camera: Sendable {
  private let instants: [VirtualClock.Instant]
  private let deliverElement: @Sendable (_ index: Int) -> Bool
  private let finish: @Sendable () -> Void
  private let position = Mutex(0)

  /// A camera that has delivered nothing.
  ///
  /// - Parameters:
  ///   - deliver: Yields an element; whether someone may still read the stream.
  ///   - finish: Ends the stream after its last element.
  init(
    at instants: [VirtualClock.Instant], deliver: @escaping @Sendable (_ index: Int) -> Bool,
    finish: @escaping @Sendable () -> Void
  ) {
    (self.instants, deliverElement, self.finish) = (instants, deliver, finish)
  }

  /// Delivers the next element; returns the instant of the one after it, or `nil` when the stream ends,
  /// because that was the last one or because no one reads it any more.
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
