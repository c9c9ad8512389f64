import RetakeCore

/// Memory for frames, which is used again. The pool leases a frame that can be written to; its
/// memory comes back when the last reference to the finished frame is released.
///
/// There are never more frames than the pool's size, which is fixed or adapts to the load. A pool
/// that shrinks returns the memory to the system. The first frame of a kind makes its memory, and
/// later frames reuse it, so a pool never uses more memory than was leased at once.
///
/// ```swift
/// let frames = FramePool("frames", capacity: 8)
/// guard var frame = try frames.makeFrame(for: "camera", format: .bgra, width: 1920, height: 1080)
/// else { return }  // all are in use: a stall
/// frame.forEachRow(of: 0) { row, bytes in camera.read(row, into: bytes) }
/// session.push(frame.finish())
/// ```
///
/// In a stage, `StageContext.makeFrame` leases from the pool of the stage's own node.
public final class FramePool: Sendable {
  private let store: PoolStore
  let isPoisoned: Bool
  /// Whether a pool whose frames are all in use refuses another lease.
  let refuses: Bool
  let isVirtual: Bool
  /// Whether its frames are made in memory that is shared with programs, as long as that memory has
  /// space.
  package let isShared: Bool

  /// A pool of a fixed size.
  public init(_ id: String, capacity: Int) {
    requirement(capacity > 0, "a pool has a frame at least")
    store = PoolStore(id: id, PoolCounters(fixed: capacity))
    (isPoisoned, refuses, isVirtual, isShared) = (false, true, false, false)
  }

  /// A pool that adapts to the load. A `sizing` with an option out of its range ends the process.
  ///
  /// - Parameter capacity: The initial number of frames.
  public init(_ id: String, sizing: PoolSizing, capacity: Int = 8) {
    if let problem = sizing.problem { requirementFailure(problem.detail) }
    store = PoolStore(id: id, PoolCounters(PoolController(sizing, size: capacity)))
    (isPoisoned, refuses, isVirtual, isShared) = (false, true, false, false)
  }

  /// The memory of a pool whose leases the time plane admits: this pool refuses no lease.
  init(
    run id: String, size: Int, _ options: RunMemory.Options, idle: PoolStore.IdleBounds? = nil
  ) {
    store = PoolStore(id: id, PoolCounters(fixed: size), idle: idle)
    isPoisoned = options.isPoisoned
    (refuses, isVirtual, isShared) = (false, options.isVirtual, options.isShared)
  }

  /// The name that was given to the initializer; errors name it.
  public var id: String { store.id }

  /// Leases a frame for a stage; `nil` if all are in use.
  ///
  /// Its pixels are undefined: the memory may contain an earlier frame. Inside of a stage's body,
  /// in a replay, a pool refuses no frame: whether a frame is free would depend on the speed of the
  /// machine. Frames beyond the size are counted (`PoolReport.overflows`).
  ///
  /// - Parameters:
  ///   - stage: The name under which the lease is counted.
  ///   - width: Pixels.
  ///   - height: Pixels.
  ///   - matrix: `nil` means BT.601 for a YUV format below 720 lines, and otherwise BT.709.
  /// - Throws: `PoolError.allocation` if there is no memory for one more frame.
  public func makeFrame(
    for stage: String, format: PixelFormat, width: Int, height: Int,
    range: ColorRange = .limited, matrix: ColorMatrix? = nil
  ) throws -> WritableFrame? {
    let bytes = PlaneLayout(format: format, width: width, height: height).count
    switch lease(bytes + FrameStorage.padding, for: stage) {
    case .taken(let lease):
      return WritableFrame(
        lease, format: format, width: width, height: height, range: range, matrix: matrix)
    case .refused: return nil
    case .noMemory:
      throw PoolError.allocation(
        pool: id, cause: ErrorFacts.frameMemory(width: width, height: height).message)
    }
  }

  enum Leasing {
    case taken(PixelLease)
    case refused
    case noMemory
  }

  /// Leases undefined memory.
  func lease(_ bytes: Int, for stage: String) -> Leasing {
    let size = PixelMemory.size(for: bytes)
    let isBounded = refuses && FrameSupply.current?.isVirtual != true
    guard
      let (taken, idle) = store.take(
        for: stage, isBounded: isBounded, where: { $0.byteCount == size })
    else { return .refused }
    guard let memory = idle as? PixelMemory ?? store.made(size, for: taken) else {
      return .noMemory
    }
    if isPoisoned { memory.poison() }
    return .taken(PixelLease(memory, taken, of: store))
  }

  /// Makes memory for frames of these layouts in turn, until the pool keeps no more, or has half of
  /// the bytes that images may use in this process. Without this call, the first frames of the run
  /// need this time.
  ///
  /// - Parameter layouts: Only layouts that the pool will lease: the pool frees the memory of
  ///   another layout only when another frame needs the space.
  package func preallocate(_ layouts: [PlaneLayout]) {
    guard !layouts.isEmpty else { return }
    let bytesMax = PixelBudget.ofProcess.bytesMax / 2
    for number in 0..<store.size {
      let bytes = layouts[number % layouts.count].count + FrameStorage.padding
      guard bytes <= bytesMax - store.memory.bytes else { return }
      // Without memory now, the frames themselves may still get some, or fail by name.
      guard let memory = PixelMemory(PixelMemory.size(for: bytes)) else { return }
      memory.touch()
      guard store.add(memory) else { return }
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

  /// The time plane has given the pool another size. Memory beyond it that no frame uses is given
  /// back to the system now, and the rest when it comes back.
  package func resize(to size: Int) {
    store.changing { $0.setSize(size) }
  }

  /// The most frames that the pool may have now.
  package var size: Int { store.size }

  /// The counts of the frames so far.
  public var report: PoolReport { store.report }

  /// The memory that the pool has now, in use or not, in bytes.
  public var bytes: Int { store.memory.bytes }

  /// How often memory was made and used again.
  package var memory: PoolStore.Memory { store.memory }
}

extension PoolStore {
  /// New memory for a lease. If the allocation fails, the pool frees its idle memory and tries
  /// again.
  fileprivate func made(_ size: Int, for taken: PoolCounters.Taken) -> PixelMemory? {
    var memory = PixelMemory(size)
    if memory == nil {
      dropIdle()
      memory = PixelMemory(size)
    }
    if memory == nil { failed(taken) } else { noteMade(size) }
    return memory
  }
}
