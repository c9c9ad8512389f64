import Foundation

/// Memory of one frame, which belongs to a pool while no frame uses it.
final class PixelMemory: IdleBuffer, @unchecked Sendable {
  // SAFETY: @unchecked because of the pointer. The memory has one user at a time, the holder of the
  // lease, and it is freed once, in deinit.

  let base: UnsafeMutableRawPointer
  private let size: Int

  override var byteCount: Int { size }

  /// From this size on, memory is mapped separately, so that it returns to the system when it is
  /// freed. A heap may keep freed memory.
  private static let mappedMin = 1 << 16
  private static let pageBytes = 4_096

  /// Memory of a frame is reused only for a frame of the same size.
  static func size(for bytes: Int) -> Int {
    let unit = bytes < mappedMin ? FrameStorage.alignment : pageBytes
    let (sum, overflow) = bytes.addingReportingOverflow(unit - 1)
    return overflow ? bytes : sum / unit * unit
  }

  /// - Parameter size: From `size(for:)`.
  init?(_ size: Int) {
    guard let base = size < Self.mappedMin ? Self.allocated(size) : Self.mapped(size) else {
      return nil
    }
    (self.base, self.size) = (base, size)
  }

  deinit {
    if size < Self.mappedMin { free(base) } else { munmap(base, size) }
  }

  /// Memory of the heap, for `free`.
  fileprivate static func allocated(_ size: Int) -> UnsafeMutableRawPointer? {
    var block: UnsafeMutableRawPointer?
    return posix_memalign(&block, FrameStorage.alignment, size) == 0 ? block : nil
  }

  private static func mapped(_ size: Int) -> UnsafeMutableRawPointer? {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    guard let block = mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0) else { return nil }
    return block == MAP_FAILED ? nil : block
  }

  /// Writes to everything, so that the system has given all pages before the first frame comes.
  func touch() { memset(base, 0, size) }

  /// Overwrites everything with 0xA5, so that a result that depends on old pixels is noticed.
  func poison() { memset(base, 0xA5, size) }
}

/// The use of memory by one frame. The memory goes back when this object is released.
final class PixelLease: @unchecked Sendable {
  // SAFETY: @unchecked because of the pointer, which is valid as long as this object exists. Only a
  // frame that is not finished writes to it (`WritableFrame`, `FrameStorage.make`).

  private enum Owner {
    case pool(PixelMemory, PoolCounters.Taken, PoolStore)
    case arena(PixelBlock)
    case heap
  }

  let base: UnsafeMutableRawPointer
  private let owner: Owner

  init(_ memory: PixelMemory, _ taken: PoolCounters.Taken, of store: PoolStore) {
    base = memory.base
    owner = .pool(memory, taken, store)
  }

  private init(_ base: UnsafeMutableRawPointer, _ owner: Owner) {
    (self.base, self.owner) = (base, owner)
  }

  deinit {
    switch owner {
    case .pool(let memory, let taken, let store): store.end(memory, taken)
    case .arena(let block): block.free()
    case .heap: free(base)
    }
  }

  /// Undefined memory for a frame: of the arena that frames are shared in now, of the pool of the
  /// stage that runs on this thread, or of the heap. `nil` if there is no memory.
  ///
  /// An arena belongs to the process, but a run without programs does not use it: the memory of its
  /// pools must not depend on other runs in the process.
  static func make(
    _ bytes: Int, from supply: FrameSupply? = .current,
    sharedIn arena: @autoclosure () -> FrameArena? = .current
  ) -> PixelLease? {
    if supply?.pool.isShared ?? true, let block = PixelBlock(bytes, in: arena()) {
      if supply?.pool.isPoisoned == true { memset(block.base, 0xA5, bytes) }
      return PixelLease(block.base, .arena(block))
    }
    if let supply {
      guard case .taken(let lease) = supply.pool.lease(bytes, for: supply.stage) else { return nil }
      return lease
    }
    return PixelMemory.allocated(bytes).map { PixelLease($0, .heap) }
  }
}
