import RetakeCore

/// Reusable buffers: images, blocks of audio, packets, or anything that is slow to create. There
/// are never more than the pool's size, which is fixed or adapts to the load.
///
/// Leases are counted until they end, by the stage that took them. The pool reads no clock: the
/// owner of an adaptive pool calls `advance(to:)` regularly, at least once per window.
///
/// ```swift
/// let blocks = BufferPool("audio", capacity: 8) { AudioBlock(samples: 1_024) }
/// guard let lease = try blocks.lease(for: "filter") else { return }  // none is free: a stall
/// fill(lease.buffer)
/// lease.end()
/// ```
///
/// A pool that adapts to the load is given the time:
///
/// ```swift
/// let frames = BufferPool("frames", sizing: PoolSizing()) {
///   [UInt8](repeating: 0, count: 1 << 20)
/// }
/// frames.advance(to: nanoseconds)  // once per window, from a monotonic clock
/// print(frames.report.size, frames.report.stalls)
/// ```
public final class BufferPool<Buffer: Sendable>: Sendable {
  private let make: @Sendable () throws -> Buffer
  private let store: PoolStore

  /// A pool of a fixed size.
  public init(_ id: String, capacity: Int, make: @escaping @Sendable () throws -> Buffer) {
    requirement(capacity > 0, "a pool has a buffer at least")
    self.make = make
    store = PoolStore(id: id, PoolCounters(fixed: capacity))
  }

  /// A pool that adapts to the load. A `sizing` with an option out of its range ends the process.
  ///
  /// - Parameter capacity: The initial number of buffers.
  public init(
    _ id: String, sizing: PoolSizing, capacity: Int = 8,
    make: @escaping @Sendable () throws -> Buffer
  ) {
    if let problem = sizing.problem { requirementFailure(problem.detail) }
    self.make = make
    store = PoolStore(id: id, PoolCounters(PoolController(sizing, size: capacity)))
  }

  /// The name that was given to the initializer; errors name it.
  public var id: String { store.id }

  /// Leases a buffer for a stage; `nil` if all are held.
  ///
  /// Inside of a stage's body, in a replay, no buffer is refused: a replay computes ahead of
  /// virtual time and holds results until they are reported, so whether a buffer is free would
  /// depend on the speed of the machine. Buffers beyond the size are counted
  /// (`PoolReport.overflows`). A live run refuses them.
  ///
  /// - Throws: `PoolError.allocation` if one more buffer was allowed, but could not be created.
  public func lease(for stage: String) throws -> BufferLease<Buffer>? {
    let isBounded = FrameSupply.current?.isVirtual != true
    guard let (taken, idle) = store.take(for: stage, isBounded: isBounded) else { return nil }
    if let box = idle as? BufferBox<Buffer> { return BufferLease(box, taken, of: store) }
    // Outside the pool's lock, because `make` is foreign code and may be slow.
    return BufferLease(try made(for: taken), taken, of: store)
  }

  private func made(for taken: PoolCounters.Taken) throws -> BufferBox<Buffer> {
    do {
      return BufferBox(try make())
    } catch {
      store.failed(taken)
      throw PoolError.allocation(pool: id, cause: "\(error)")
    }
  }

  // MARK: Size

  /// Reports the time, from any monotonic clock. Windows that are over end.
  ///
  /// - Returns: The decisions, in order.
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

  /// The counts of the buffers so far.
  public var report: PoolReport { store.report }
}

final class BufferBox<Buffer: Sendable>: IdleBuffer, @unchecked Sendable {
  // SAFETY: @unchecked because its superclass is; the only property is a Sendable constant.
  let buffer: Buffer

  init(_ buffer: Buffer) { self.buffer = buffer }
}
