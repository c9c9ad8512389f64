import CFFmpeg
package import RetakeBuffers

/// The memory that decoders write their pictures into. A block is reused when the last reference to
/// its picture is released. Any thread may borrow and return blocks.
package final class ImageMemory: Sendable {
  /// How memory is prepared before a decoder gets it.
  package enum Preparation: Sendable {
    case asItIs
    /// Filled with 0xA5, so that a result which depends on old pixels is noticed.
    case poisoned
    /// One byte in 251 is set to 0xA5: for a fraction of the time, a block of pixels that a decoder
    /// left unwritten is noticed.
    case marked
  }

  /// How often memory was allocated and reused.
  package struct Counts: Hashable, Sendable {
    package var made = 0
    package var reused = 0
    /// Blocks that pictures use now.
    package var lent = 0
    /// Blocks that wait for the next picture.
    package var waiting = 0
  }

  private struct Block: Sendable {
    var address: UInt
    var size: Int
    /// The memory's owner, if it is in an arena.
    var shared: PixelBlock?
  }

  private struct State: Sendable {
    /// Oldest first; never more than `waitingMax`, nor more bytes than `waitingBytesMax`.
    var waiting: [Block] = []
    var waitingBytes = 0
    var waitingMax: Int
    var counts = Counts()

    mutating func takeSurplus(bytesMax: Int) -> [Block] {
      var surplus: [Block] = []
      // Bounded: each turn removes a block.
      while waiting.count > waitingMax || waitingBytes > bytesMax { surplus.append(takeOldest()) }
      return surplus
    }

    private mutating func takeOldest() -> Block {
      let block = waiting.removeFirst()
      waitingBytes -= block.size
      return block
    }
  }

  private let waitingBytesMax: Int
  private let preparation: Preparation
  private let arena: FrameArena?
  private let state: Locked<State>

  /// - Parameters:
  ///   - waitingMax: Maximum number of blocks kept for later; further blocks are freed.
  ///   - waitingBytesMax: The same in bytes, so that a few very large pictures are not kept.
  ///   - arena: Where blocks are made, as far as they fit; `nil` = the arena in which frames are
  ///     made then.
  package init(
    waitingMax: Int = 24, waitingBytesMax: Int = PixelBudget.ofProcess.waitingBytesMax,
    preparation: Preparation = .asItIs, arena: FrameArena? = nil
  ) {
    precondition(waitingMax >= 0 && waitingBytesMax >= 0, "a bound is not negative")
    state = Locked(State(waitingMax: waitingMax))
    self.waitingBytesMax = waitingBytesMax
    self.preparation = preparation
    self.arena = arena
  }

  deinit {
    // SAFETY: every lent block holds a reference to this object, so only waiting blocks remain.
    free(state.withLock { $0.waiting })
  }

  package var counts: Counts {
    state.withLock { state in
      var counts = state.counts
      counts.waiting = state.waiting.count
      return counts
    }
  }

  /// A block of exactly `size` bytes as a counted FFmpeg buffer. It is returned when the last
  /// reference to the buffer is released. Nil when the allocation fails.
  ///
  /// - Parameter pictures: Notified when the block is returned.
  func buffer(
    size: Int, for pictures: DecoderPictures
  ) -> UnsafeMutablePointer<AVBufferRef>? {
    guard let block = take(size: size),
      let bytes = UnsafeMutablePointer<UInt8>(bitPattern: block.address)
    else { return nil }
    // SAFETY: the block has `size` bytes and no other owner. The loan is retained once here and
    // released once, by the free callback, which the library calls exactly once.
    prepare(bytes, size)
    let loan = Loan(memory: self, block: block, pictures: pictures)
    let retained = Unmanaged.passRetained(loan)
    guard let buffer = av_buffer_create(bytes, size, Self.endLoan, retained.toOpaque(), 0) else {
      retained.release()
      giveBack(block)
      return nil
    }
    loan.key.withLock { $0 = UInt(bitPattern: buffer.pointee.buffer) }
    return buffer
  }

  /// Storage in a block, which `fill` fills before any other code sees it. The block is returned
  /// when the storage is released. `nil` when the allocation fails.
  func storage(
    _ layout: PlaneLayout, fill: (UnsafeMutableRawPointer) -> Void
  ) -> FrameStorage? {
    let size = layout.count + FrameStorage.padding
    guard let block = take(size: size),
      let bytes = UnsafeMutablePointer<UInt8>(bitPattern: block.address)
    else { return nil }
    // SAFETY: the block has `size` bytes, and no other owner until the storage returns it.
    prepare(bytes, size)
    fill(UnsafeMutableRawPointer(bytes))
    let planes = zip(layout.offsets, layout.strides).map {
      FrameStorage.Plane(base: UnsafePointer(bytes + $0), stride: $1)
    }
    return FrameStorage(planes: planes) { self.giveBack(block) }
  }

  private func prepare(_ bytes: UnsafeMutablePointer<UInt8>, _ size: Int) {
    switch preparation {
    case .asItIs: break
    case .poisoned: memset(bytes, 0xA5, size)
    // 251 is prime, so that the marks of a picture's rows are not below each other.
    case .marked: for place in stride(from: 0, to: size, by: 251) { bytes[place] = 0xA5 }
    }
  }

  private func take(size: Int) -> Block? {
    let known = state.withLock { state -> Block? in
      guard let index = state.waiting.lastIndex(where: { $0.size == size }) else { return nil }
      state.counts.reused += 1
      state.counts.lent += 1
      state.waitingBytes -= size
      return state.waiting.remove(at: index)
    }
    if let known { return known }
    let shared = PixelBlock(size, in: arena ?? .current)
    // Zeroed, like memory of the heap.
    if let shared { memset(shared.base, 0, size) }
    guard let memory = shared?.base ?? allocate(size) else { return nil }
    // Zeroed: whatever a decoder leaves unwritten is black or green, never another process's data.
    state.withLock { state in
      state.counts.made += 1
      state.counts.lent += 1
    }
    return Block(address: UInt(bitPattern: memory), size: size, shared: shared)
  }

  /// Frees the waiting blocks of other sizes first if an allocation fails.
  private func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    if let memory = retake_allocate(Int64(size)) { return memory }
    freeWaiting()
    return retake_allocate(Int64(size))
  }

  /// Frees the waiting blocks when no picture is needed soon.
  package func freeWaiting() {
    free(
      state.withLock { state in
        defer { (state.waiting, state.waitingBytes) = ([], 0) }
        return state.waiting
      })
  }

  private func giveBack(_ block: Block) {
    let surplus = state.withLock { state -> [Block] in
      state.counts.lent -= 1
      state.waiting.append(block)
      state.waitingBytes += block.size
      return state.takeSurplus(bytesMax: waitingBytesMax)
    }
    free(surplus)
  }

  /// Changes the number of blocks that may wait, and frees the surplus blocks.
  package func keepWaiting(atMost count: Int) {
    let surplus = state.withLock { state -> [Block] in
      state.waitingMax = count
      return state.takeSurplus(bytesMax: waitingBytesMax)
    }
    free(surplus)
  }

  private func free(_ blocks: [Block]) {
    // SAFETY: these blocks are no longer in any list or picture.
    for block in blocks {
      if let shared = block.shared {
        shared.free()
        continue
      }
      retake_free(UnsafeMutableRawPointer(bitPattern: block.address), Int64(block.size))
    }
  }

  /// Keeps the memory's owner alive for as long as a picture uses a block.
  private final class Loan: Sendable {
    let memory: ImageMemory
    let block: Block
    let pictures: DecoderPictures
    /// The key of the loan in `pictures`.
    let key = Locked<UInt>(0)

    init(memory: ImageMemory, block: Block, pictures: DecoderPictures) {
      self.memory = memory
      self.block = block
      self.pictures = pictures
    }
  }

  /// FFmpeg calls this, on any thread, when the last reference to the buffer is released.
  private static let endLoan:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = {
      opaque, _ in
      guard let opaque else { return }
      // SAFETY: `opaque` is the loan that `buffer(size:)` retained; this is its one release.
      let loan = Unmanaged<Loan>.fromOpaque(opaque).takeRetainedValue()
      loan.pictures.end(loan.key.withLock { $0 })
      loan.memory.giveBack(loan.block)
    }
}
