import CFFmpeg

/// HMAC with SHA-256 (RFC 2104), from FFmpeg's implementation. Without the key, no valid code can
/// be computed for any bytes.
package struct HmacSha256: ~Copyable {
  package static let count = 32
  /// The library accepts lengths as 32-bit numbers.
  private static let pieceMax = 1 << 30

  // SAFETY: the library makes the state, only this value owns it, and deinit frees it.
  private let state: OpaquePointer

  package init(key: [UInt8]) {
    state = FFmpeg.required(av_hmac_alloc(AV_HMAC_SHA256))
    av_hmac_init(state, key, UInt32(key.count))
  }

  deinit {
    av_hmac_free(state)
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceMax))
      // SAFETY: the library reads exactly the piece.
      av_hmac_update(
        state, piece.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(piece.count))
      rest = rest.dropFirst(piece.count)
    }
  }

  package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

  /// The code of all appended bytes.
  package consuming func finish() -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Self.count)
    av_hmac_final(state, &code, UInt32(code.count))
    return code
  }
}
