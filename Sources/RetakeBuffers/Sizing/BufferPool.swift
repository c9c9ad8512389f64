import RetakeCore

/// Buffers that are used again: pictures, blocks of sound, packets, or whatever takes long to make.
/// There are never more than the pool's size, which is fixed or follows the load.
///
/// Leases are counted until they end, by the stage that took them. Time is told from outside: who
/// owns an adaptive pool calls `advance(to:)` now and then, once a window or oftener.
///
/// ```swift
/// let blocks = BufferPool("audio", capacity: 8) { AudioBlock(samples: 1_024) }
/// guard let lease = try blocks.lease(for: "filter") else { return }  // none is free: a stall
/// fill(lease.buffer)
/// lease.end()
/// ```
public final class BufferPool<Buffer: Sendable>: Sendable {
  private let make: @Sendable () throws -> Buffer
  private let store: PoolStore

  /// A pool of a fixed size.
  public init(_ id: String, capacity: Int, make: @escaping @Sendable () throws -> Buffer) {
    requirement(capacity > 0, "a pool has a buffer at least")
    self.make = make
    store = PoolStore(id: id, PoolBook(fixed: capacity))
  }

  /// A pool that follows the load.
  ///
  /// - Parameter capacity: What it begins with.
  public init(
    _ id: String, sizing: PoolSizing, capacity: Int = 8,
    make: @escaping @Sendable () throws -> Buffer
  ) {
    self.make = make
    store = PoolStore(id: id, PoolBook(PoolController(sizing, size: capacity)))
  }

  public var id: String { store.id }

  /// Takes a buffer for a stage; `nil` when all are held.
  ///
  /// - Throws: `PoolError.allocation` when there was room for one more, and it could not be made.
  public func lease(for stage: String) throws(PoolError) -> BufferLease<Buffer>? {
    guard let (taken, idle) = store.take(for: stage) else { return nil }
    if let box = idle as? BufferBox<Buffer> { return BufferLease(box, taken, of: store) }
    return BufferLease(try made(for: taken), taken, of: store)
  }

  private func made(for taken: PoolBook.Taken) throws(PoolError) -> BufferBox<Buffer> {
    do {
      return BufferBox(try make())
    } catch {
      store.failed(taken)
      throw .allocation(pool: id, cause: "\(error)")
    }
  }

  // MARK: Size

  /// Says what time it is, on any clock that never goes back: windows that are over end.
  ///
  /// - Returns: What was decided, in order.
  @discardableResult
  public func advance(to nanoseconds: Int64) -> [PoolController.Step] {
    store.changing { $0.advance(to: nanoseconds) }
  }

  /// The device is hot.
  public func becameHot(at nanoseconds: Int64) -> PoolController.Step {
    store.changing { $0.becameHot(at: nanoseconds) }
  }

  /// Memory is short.
  public func ranShortOfMemory(at nanoseconds: Int64) -> PoolController.Step {
    store.changing { $0.ranShortOfMemory(at: nanoseconds) }
  }

  /// What became of the buffers so far.
  public var report: PoolReport { store.report }
}

/// A hold on one of a pool's buffers. Whoever took it ends it, once.
///
/// One that is forgotten is a leak, which the pool counts by its stage: the buffer is not used
/// again, since somebody may still write to it, but its place is free.
public final class BufferLease<Buffer: Sendable>: Sendable {
  private let box: BufferBox<Buffer>
  private let taken: PoolBook.Taken
  private let store: PoolStore
  private let once = Once()

  init(_ box: BufferBox<Buffer>, _ taken: PoolBook.Taken, of store: PoolStore) {
    self.box = box
    self.taken = taken
    self.store = store
  }

  deinit {
    if once.begin() { store.noteLeak(taken) }
  }

  public var buffer: Buffer { box.buffer }

  /// Gives the buffer back. A second call is a mistake, which the pool counts by its stage.
  public func end() {
    if once.begin() { store.end(box, taken) } else { store.noteDoubleEnd(taken) }
  }
}

/// A buffer as those see it who do not ask what it is.
class IdleBuffer: @unchecked Sendable {
  // SAFETY: @unchecked because the class is open to its one subclass; neither has a variable.
}

final class BufferBox<Buffer: Sendable>: IdleBuffer, @unchecked Sendable {
  let buffer: Buffer

  init(_ buffer: Buffer) { self.buffer = buffer }
}
