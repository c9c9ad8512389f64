import CFFmpeg
import RetakeBuffers

/// The pictures that one decoder has borrowed from a `ImageMemory`, and the limit on their size.
///
/// Only pictures that the decoder refers to count; a picture that only a reader still holds does
/// not count. So the rejection of a stream depends only on the stream, not on the speed of its
/// readers.
package final class DecoderPictures: Sendable {
  /// Why a decoder got no memory.
  enum Refusal: Hashable, Sendable {
    /// The allocation failed.
    case noMemory
    /// The decoder would have exceeded its limit.
    case limit(width: Int, height: Int, bytes: Int)
  }

  private struct Loan: Sendable {
    var bytes: Int
    /// Whether a reader holds it, with one reference.
    var isRead = false
  }

  private struct State: Sendable {
    /// By the address of FFmpeg's `AVBuffer`, which lives for as long as its entry here.
    var loans: [UInt: Loan] = [:]
    var bytesMost = 0
    var refusal: Refusal?
  }

  let memory: ImageMemory
  let bytesMax: Int
  /// The decoder's lines in FFmpeg's log.
  let log: DecoderLog
  private let state = Locked(State())

  init(codec: String, memory: ImageMemory, bytesMax: Int) {
    log = DecoderLog(codec: codec)
    self.memory = memory
    self.bytesMax = bytesMax
  }

  /// Peak memory of the decoder, including the picture that it was decoding.
  package var bytesMost: Int { state.withLock { $0.bytesMost } }

  /// Memory that it uses now.
  package var bytesHeld: Int { state.withLock { Self.held($0.loans) } }

  /// Why the decoder got no memory since the last call of this method.
  func takeRefusal() -> Refusal? {
    state.withLock { state in
      defer { state.refusal = nil }
      return state.refusal
    }
  }

  /// A block for the next picture; nil when an allocation failed or the limit would be exceeded.
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

  /// The last reference to the block is gone; FFmpeg frees the buffer right after this.
  func end(_ key: UInt) { state.withLock { $0.loans[key] = nil } }

  private static func held(_ loans: [UInt: Loan]) -> Int {
    var bytes = 0
    // The order does not matter for a sum.
    for (key, loan) in loans {
      // SAFETY: the entry is removed, under this lock, before FFmpeg frees the buffer. The
      // reference is only read.
      var reference = AVBufferRef()
      reference.buffer = OpaquePointer(bitPattern: key)
      if av_buffer_get_ref_count(&reference) > (loan.isRead ? 1 : 0) { bytes += loan.bytes }
    }
    return bytes
  }
}

extension AVFrame {
  /// The key of the picture's block in `DecoderPictures`.
  var loanKey: UInt? { buf.0.map { UInt(bitPattern: $0.pointee.buffer) } }
}
