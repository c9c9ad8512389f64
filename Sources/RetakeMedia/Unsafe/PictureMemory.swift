import CFFmpeg
import RetakeBuffers

/// The memory that decoders write their pictures into, used again when the last holder of a
/// picture lets go. Any thread may take and give back.
package final class PictureMemory: Sendable {
  /// What happens to memory before a decoder gets it.
  package enum Preparation: Sendable {
    case asItIs
    /// Filled with 0xA5, so that a result which hangs on old pixels shows.
    case poisoned
  }

  /// How often memory was made and used again.
  package struct Counts: Hashable, Sendable {
    package var made = 0
    package var reused = 0
    /// Blocks that pictures hold now.
    package var lent = 0
    /// Blocks that wait for the next picture.
    package var waiting = 0
  }

  private struct Block: Sendable {
    var address: UInt
    var size: Int
  }

  private struct State: Sendable {
    /// Oldest first; never more than `waitingMax`, nor more bytes than `waitingBytesMax`.
    var waiting: [Block] = []
    var waitingBytes = 0
    var counts = Counts()

    mutating func takeOldest() -> Block {
      let block = waiting.removeFirst()
      waitingBytes -= block.size
      return block
    }
  }

  private let waitingMax: Int
  private let waitingBytesMax: Int
  private let preparation: Preparation
  private let state = Locked(State())

  /// - Parameters:
  ///   - waitingMax: Blocks kept for later; those given back beyond it are freed.
  ///   - waitingBytesMax: The same in bytes, so that a few very large pictures are not kept.
  package init(
    waitingMax: Int = 24, waitingBytesMax: Int = PixelBudget.ofProcess.waitingBytesMax,
    preparation: Preparation = .asItIs
  ) {
    precondition(waitingMax >= 0 && waitingBytesMax >= 0, "a bound is not negative")
    self.waitingMax = waitingMax
    self.waitingBytesMax = waitingBytesMax
    self.preparation = preparation
  }

  deinit {
    // SAFETY: every lent block holds a reference to this object, so only waiting ones are left.
    free(state.withLock { $0.waiting })
  }

  package var counts: Counts {
    state.withLock { state in
      var counts = state.counts
      counts.waiting = state.waiting.count
      return counts
    }
  }

  /// A block of exactly `size` bytes as a counted buffer of FFmpeg's; it comes back when the last
  /// reference to the buffer is dropped. Nil when there is no memory.
  ///
  /// - Parameter pictures: Told of the end of the loan.
  func buffer(
    size: Int, for pictures: DecoderPictures
  ) -> UnsafeMutablePointer<AVBufferRef>? {
    guard let block = take(size: size),
      let bytes = UnsafeMutablePointer<UInt8>(bitPattern: block.address)
    else { return nil }
    // SAFETY: the block has `size` bytes and is nobody else's. The loan is retained once here and
    // released once, by the free callback, which the library calls exactly once.
    if preparation == .poisoned { memset(bytes, 0xA5, size) }
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

  private func take(size: Int) -> Block? {
    let known = state.withLock { state -> Block? in
      guard let index = state.waiting.lastIndex(where: { $0.size == size }) else { return nil }
      state.counts.reused += 1
      state.counts.lent += 1
      state.waitingBytes -= size
      return state.waiting.remove(at: index)
    }
    if let known { return known }
    guard let memory = allocate(size) else { return nil }
    // Zeroed: what a decoder leaves unwritten in it is black or green, never another process.
    state.withLock { state in
      state.counts.made += 1
      state.counts.lent += 1
    }
    return Block(address: UInt(bitPattern: memory), size: size)
  }

  /// Blocks of other sizes that wait are memory too: where there is none they go first.
  private func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
    if let memory = retake_allocate(Int64(size)) { return memory }
    freeWaiting()
    return retake_allocate(Int64(size))
  }

  /// Frees what waits for the next picture, where none comes soon.
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
      var surplus: [Block] = []
      while state.waiting.count > waitingMax || state.waitingBytes > waitingBytesMax {
        surplus.append(state.takeOldest())
      }
      return surplus
    }
    free(surplus)
  }

  private func free(_ blocks: [Block]) {
    // SAFETY: these blocks are in no list and in no picture any more.
    for block in blocks {
      retake_free(UnsafeMutableRawPointer(bitPattern: block.address), Int64(block.size))
    }
  }

  /// Keeps the memory's owner alive for as long as a picture holds a block.
  private final class Loan: Sendable {
    let memory: PictureMemory
    let block: Block
    let pictures: DecoderPictures
    /// What `pictures` calls it.
    let key = Locked<UInt>(0)

    init(memory: PictureMemory, block: Block, pictures: DecoderPictures) {
      self.memory = memory
      self.block = block
      self.pictures = pictures
    }
  }

  /// Called by FFmpeg, on any thread, when nobody refers to the buffer any more.
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
