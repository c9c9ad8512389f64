/// A delivered frame's hold on the buffer that it lies in, where a pipeline has pools.
///
/// It ends when nobody refers to it any more: whoever does nothing lets go as soon as the sink
/// returns. A sink that goes on with the frame keeps it, and ends it when it is done.
public final class FrameLease: Sendable {
  private let ended: Locked<(@Sendable () -> Void)?>

  package init(_ ended: @escaping @Sendable () -> Void) {
    self.ended = Locked(ended)
  }

  deinit { end() }

  /// Ends the lease now; later calls do nothing.
  public func end() {
    let ended = self.ended.withLock { ended in
      defer { ended = nil }
      return ended
    }
    ended?()
  }
}
