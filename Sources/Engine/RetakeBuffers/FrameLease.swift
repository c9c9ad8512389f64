/// Holds the buffer of a delivered frame, in a pipeline with pools.
///
/// The lease ends when the last reference to it is released: if the sink ignores the lease, as soon
/// as the sink returns. A sink that continues to use the frame keeps the lease, and ends it when it
/// is done.
public final class FrameLease: Sendable {
  private let ended: Locked<(@Sendable () -> Void)?>

  package init(_ ended: @escaping @Sendable () -> Void) {
    self.ended = Locked(ended)
  }

  deinit { end() }

  /// Ends the lease now. Later calls have no effect.
  public func end() {
    let ended = self.ended.withLock { ended in
      defer { ended = nil }
      return ended
    }
    // After the lock is released, because this calls foreign code (`Locked.withLock`).
    ended?()
  }
}
