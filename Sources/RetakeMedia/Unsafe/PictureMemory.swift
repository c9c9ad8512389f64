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
    /// Oldest first; never more than `waitingMax`.
    var waiting: [Block] = []
    var counts = Counts()
  }

  private let waitingMax: Int
  private let preparation: Preparation
  private let state = Locked(State())

  /// - Parameter waitingMax: Blocks kept for later; those given back beyond it are freed.
  package init(waitingMax: Int = 24, preparation: Preparation = .asItIs) {
    precondition(waitingMax >= 0, "a bound is not negative")
    self.waitingMax = waitingMax
    self.preparation = preparation
  }

  deinit {
    // SAFETY: every lent block holds a reference to this object, so only waiting ones are left.
    for block in state.withLock({ $0.waiting }) {
      retake_free(UnsafeMutableRawPointer(bitPattern: block.address))
    }
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
  func buffer(size: Int) -> UnsafeMutablePointer<AVBufferRef>? {
    guard let block = take(size: size),
      let bytes = UnsafeMutablePointer<UInt8>(bitPattern: block.address)
    else { return nil }
    // SAFETY: the block has `size` bytes and is nobody else's. The loan is retained once here and
    // released once, by the free callback, which the library calls exactly once.
    if preparation == .poisoned { memset(bytes, 0xA5, size) }
    let loan = Unmanaged.passRetained(Loan(memory: self, block: block))
    let buffer = av_buffer_create(bytes, size, Self.endLoan, loan.toOpaque(), 0)
    if buffer == nil {
      loan.release()
      giveBack(block)
    }
    return buffer
  }

  private func take(size: Int) -> Block? {
    let known = state.withLock { state -> Block? in
      guard let index = state.waiting.lastIndex(where: { $0.size == size }) else { return nil }
      state.counts.reused += 1
      state.counts.lent += 1
      return state.waiting.remove(at: index)
    }
    if let known { return known }
    guard let memory = retake_allocate(Int64(size)) else { return nil }
    // What a decoder leaves unwritten in fresh memory is black or green, never another process.
    memset(memory, 0, size)
    state.withLock { state in
      state.counts.made += 1
      state.counts.lent += 1
    }
    return Block(address: UInt(bitPattern: memory), size: size)
  }

  private func giveBack(_ block: Block) {
    let surplus = state.withLock { state -> Block? in
      state.counts.lent -= 1
      state.waiting.append(block)
      return state.waiting.count > waitingMax ? state.waiting.removeFirst() : nil
    }
    // SAFETY: the surplus block is in no list and in no picture any more.
    if let surplus { retake_free(UnsafeMutableRawPointer(bitPattern: surplus.address)) }
  }

  /// Keeps the memory's owner alive for as long as a picture holds a block.
  private final class Loan: Sendable {
    let memory: PictureMemory
    let block: Block

    init(memory: PictureMemory, block: Block) {
      self.memory = memory
      self.block = block
    }
  }

  /// Called by FFmpeg, on any thread, when nobody refers to the buffer any more.
  private static let endLoan:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = {
      opaque, _ in
      guard let opaque else { return }
      // SAFETY: `opaque` is the loan that `buffer(size:)` retained; this is its one release.
      let loan = Unmanaged<Loan>.fromOpaque(opaque).takeRetainedValue()
      loan.memory.giveBack(loan.block)
    }
}
