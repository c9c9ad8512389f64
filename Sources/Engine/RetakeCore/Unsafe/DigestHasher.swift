import CXXHash

/// Digests bytes incrementally. Integers are appended in little-endian order. Floats are appended
/// by their bits, with one NaN and no negative zero, so that equal values always have equal
/// digests.
public struct DigestHasher: ~Copyable {
  // SAFETY: the library creates the state. Only this value owns it, and deinit frees it.
  private let state: OpaquePointer

  /// A hasher that has no bytes yet. Ends the process if there is no memory.
  public init() {
    guard let state = XXH3_createState() else { preconditionFailure("out of memory") }
    self.state = state
    // xxhash.h: a state has to be reset before the first update, also a new one.
    XXH3_128bits_reset(state)
  }

  deinit {
    XXH3_freeState(state)
  }

  /// Appends the bytes alone, without their count. How they are split into calls makes no
  /// difference.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // SAFETY: the library reads exactly `count` bytes.
    XXH3_128bits_update(state, bytes.baseAddress, bytes.count)
  }

  /// Appends the bytes alone, without their count.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    let done: Void? = bytes.withContiguousStorageIfAvailable { append(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { append($0) } }
  }

  /// Appends the string's UTF-8 bytes, preceded by their count.
  public mutating func append(_ text: String) {
    var text = text
    // Without the counts, `ab` and `c` would have the digest of `a` and `bc`.
    append(Int64(text.utf8.count))
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends all bytes of the integer's type: an `Int32` and an `Int64` of equal value differ.
  public mutating func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { append($0) }
  }

  /// Appends 8 bytes. Every NaN has the same bytes, and negative zero has the bytes of zero.
  public mutating func append(_ value: Double) {
    // The bits of a NaN depend on the processor that made it: x86 sets the sign, ARM does not.
    append(value.isNaN ? 0x7ff8_0000_0000_0000 : (value == 0 ? 0 : value.bitPattern))
  }

  /// Appends 4 bytes. Every NaN has the same bytes, and negative zero has the bytes of zero.
  public mutating func append(_ value: Float) {
    append(value.isNaN ? UInt32(0x7fc0_0000) : (value == 0 ? 0 : value.bitPattern))
  }

  /// Appends 16 bytes: `high`, then `low`, each in little-endian order.
  public mutating func append(_ digest: Digest128) {
    append(digest.high)
    append(digest.low)
  }

  /// The digest of everything appended so far; more can be appended afterwards.
  public func finish() -> Digest128 {
    let hash = XXH3_128bits_digest(state)
    return Digest128(high: hash.high64, low: hash.low64)
  }
}
