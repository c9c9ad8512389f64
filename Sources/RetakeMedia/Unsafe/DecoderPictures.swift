import CFFmpeg
import RetakeBuffers

/// The pictures that one decoder has out of a `PictureMemory`, and the bound on them.
///
/// What counts is what the decoder itself refers to: a frame that only its reader still holds is the
/// reader's. So whether a stream is refused depends on the stream alone, not on who was slow.
package final class DecoderPictures: Sendable {
  /// Why a decoder got no memory.
  enum Refusal: Hashable, Sendable {
    /// The system had none.
    case noMemory
    /// The decoder would have held more than it may.
    case limit(width: Int, height: Int, bytes: Int)
  }

  private struct Loan: Sendable {
    var bytes: Int
    /// A reader has it, with one reference.
    var isRead = false
  }

  private struct State: Sendable {
    /// By the address of FFmpeg's `AVBuffer`, which lives for as long as its entry here.
    var loans: [UInt: Loan] = [:]
    var bytesMost = 0
    var refusal: Refusal?
  }

  let memory: PictureMemory
  let bytesMax: Int
  private let state = Locked(State())

  init(memory: PictureMemory, bytesMax: Int) {
    self.memory = memory
    self.bytesMax = bytesMax
  }

  /// The most that the decoder ever held, the picture that it was making included.
  package var bytesMost: Int { state.withLock { $0.bytesMost } }

  /// What it holds now.
  package var bytesHeld: Int { state.withLock { Self.held($0.loans) } }

  /// Why the decoder got no memory since the last time that somebody asked.
  func takeRefusal() -> Refusal? {
    state.withLock { state in
      defer { state.refusal = nil }
      return state.refusal
    }
  }

  /// A block for the next picture; nil when there is none, or when it would be too much.
  func buffer(size: Int, width: Int, height: Int) -> UnsafeMutablePointer<AVBufferRef>? {
    let isWithin = state.withLock { state in
      let bytes = Self.held(state.loans) + size
      guard bytes <= bytesMax else {
        state.refusal = .limit(width: width, height: height, bytes: bytes)
        return false
      }
      state.bytesMost = max(state.bytesMost, bytes)
      return true
    }
    guard isWithin else { return nil }
    guard let buffer = memory.buffer(size: size, for: self) else {
      state.withLock { $0.refusal = .noMemory }
      return nil
    }
    let key = UInt(bitPattern: buffer.pointee.buffer)
    state.withLock { $0.loans[key] = Loan(bytes: size) }
    return buffer
  }

  /// A reader took the picture out of the decoder.
  func beginReading(_ key: UInt) { state.withLock { $0.loans[key]?.isRead = true } }

  func endReading(_ key: UInt) { state.withLock { $0.loans[key]?.isRead = false } }

  /// Nobody refers to the block any more; FFmpeg frees the buffer right after this.
  func end(_ key: UInt) { state.withLock { $0.loans[key] = nil } }

  private static func held(_ loans: [UInt: Loan]) -> Int {
    var bytes = 0
    // The order does not matter to a sum.
    for (key, loan) in loans {
      // SAFETY: the entry goes, under this lock, before FFmpeg frees the buffer. The reference is
      // only looked through.
      var reference = AVBufferRef()
      reference.buffer = OpaquePointer(bitPattern: key)
      if av_buffer_get_ref_count(&reference) > (loan.isRead ? 1 : 0) { bytes += loan.bytes }
    }
    return bytes
  }
}

extension AVFrame {
  /// What `DecoderPictures` calls the picture's block.
  var loanKey: UInt? { buf.0.map { UInt(bitPattern: $0.pointee.buffer) } }
}
