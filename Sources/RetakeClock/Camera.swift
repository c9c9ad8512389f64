import Synchronization

/// Yields given elements into a stream, one each time.
final class Camera<Element: Sendable>: Sendable {
  private let elements: [Element]
  private let instants: [VirtualClock.Instant]
  private let stream: AsyncStream<Element>.Continuation
  private let position = Mutex(0)

  init(
    _ elements: [Element], at instants: [VirtualClock.Instant],
    _ stream: AsyncStream<Element>.Continuation
  ) {
    (self.elements, self.instants, self.stream) = (elements, instants, stream)
  }

  /// Yields the next element; returns the instant of the one after it, or `nil` when the stream ends,
  /// because that was the last one or because no one reads it any more.
  func deliver() -> VirtualClock.Instant? {
    let index = position.withLock { position in
      position += 1
      return position - 1
    }
    if case .terminated = stream.yield(elements[index]) { return nil }
    if index + 1 < instants.count { return instants[index + 1] }
    stream.finish()
    return nil
  }
}
