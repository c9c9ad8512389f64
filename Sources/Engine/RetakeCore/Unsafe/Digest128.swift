import CXXHash

/// A 128-bit XXH3 digest: 32 lower-case hexadecimal digits, high half first.
///
/// It is fast (28 GB/s measured) and not cryptographic: it detects accidents, not attacks.
public struct Digest128: Hashable, Sendable, CustomStringConvertible {
  /// The upper 64 bits: the first 16 digits.
  package var high: UInt64
  /// The lower 64 bits: the last 16 digits.
  package var low: UInt64

  /// A placeholder for a digest that is not known yet. The digest of no bytes is a different one.
  package static let zero = Digest128(high: 0, low: 0)

  /// A digest that was computed before, from its two halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The digest of the bytes, with the seed 0. The buffer may be empty.
  public init(of bytes: UnsafeRawBufferPointer) {
    // SAFETY: the library reads exactly `count` bytes; an empty buffer may have a null base.
    let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
    self.init(high: hash.high64, low: hash.low64)
  }

  /// The digest of the bytes: the same as of a buffer that contains them.
  public init(of bytes: some Sequence<UInt8>) {
    var hasher = DigestHasher()
    hasher.append(bytes)
    self = hasher.finish()
  }

  /// The digest of the string's UTF-8 bytes.
  public init(of text: String) {
    // `withUTF8` is mutating, because it may have to make the string contiguous.
    var text = text
    self = text.withUTF8 { Digest128(of: UnsafeRawBufferPointer($0)) }
  }

  /// Parses 32 hexadecimal digits; `nil` for any other form.
  public init?(hex: some StringProtocol) {
    // `UInt64(_:radix:)` alone would accept a sign, and `isHexDigit` alone full-width digits.
    guard hex.utf8.count == 32, hex.allSatisfy({ $0.isHexDigit && $0.isASCII }),
      let high = UInt64(hex.prefix(16), radix: 16), let low = UInt64(hex.dropFirst(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  public var description: String { Self.hex(high) + Self.hex(low) }

  /// The first eight digits: enough to distinguish two values in a table.
  package var short: String { String(description.prefix(8)) }

  /// The 16 bytes, most significant first.
  package var bytes: [UInt8] {
    [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
  }

  /// The inverse of `bytes`; `nil` unless there are exactly 16 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    func half(_ part: some Sequence<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: half(bytes.prefix(8)), low: half(bytes.dropFirst(8)))
  }

  private static func hex(_ value: UInt64) -> String {
    // `String(_:radix:)` has no leading zeros, and a half has always 16 digits.
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// A secret for keyed digests. Without it, the digest of given bytes cannot be computed.
///
/// XXH3 with a secret is fast, but not a proven authentication code. Important data also has such a
/// code.
package struct DigestSecret: Sendable {
  /// The number of bytes; the library requires at least 136.
  package static let count = 192

  private let bytes: [UInt8]

  /// - Parameter bytes: `count` bytes without a pattern.
  package init(_ bytes: [UInt8]) {
    precondition(bytes.count == Self.count, "a secret of digests has \(Self.count) bytes")
    self.bytes = bytes
  }

  package func digest(of data: UnsafeRawBufferPointer) -> Digest128 {
    // SAFETY: the library reads exactly the given number of bytes of each buffer.
    let hash = XXH3_128bits_withSecret(data.baseAddress, data.count, bytes, bytes.count)
    return Digest128(high: hash.high64, low: hash.low64)
  }
}

extension Digest128: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let digest = Digest128(hex: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a digest is 32 hexadecimal digits")
    }
    self = digest
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

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

  /// Appends 8 bytes. Every NaN has the same bytes, and negative zero has those of zero.
  public mutating func append(_ value: Double) {
    // The bits of a NaN depend on the processor that made it: x86 sets the sign, ARM does not.
    append(value.isNaN ? 0x7ff8_0000_0000_0000 : (value == 0 ? 0 : value.bitPattern))
  }

  /// Appends 4 bytes. Every NaN has the same bytes, and negative zero has those of zero.
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
