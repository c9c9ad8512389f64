/// Holds one of a pool's buffers. The stage that took it must end it, once.
///
/// A lease that is released without an end is a leak, which the pool counts by its stage. The
/// buffer is not reused, because it may still be written to, but its place is free.
public final class BufferLease<Buffer: Sendable>: Sendable {
  private let box: BufferBox<Buffer>
  private let taken: PoolCounters.Taken
  private let store: PoolStore
  private let once = Once()

  init(_ box: BufferBox<Buffer>, _ taken: PoolCounters.Taken, of store: PoolStore) {
    self.box = box
    self.taken = taken
    self.store = store
  }

  deinit {
    if once.begin() { store.noteLeak(taken) }
  }

  /// Must not be used after `end()`, when another stage may have it.
  public var buffer: Buffer { box.buffer }

  /// Returns the buffer. A second call is a mistake, which the pool counts by its stage.
  public func end() {
    if once.begin() { store.end(box, taken) } else { store.noteDoubleEnd(taken) }
  }
}
