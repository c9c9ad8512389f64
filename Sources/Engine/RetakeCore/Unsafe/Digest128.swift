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

  /// 32 lower-case hexadecimal digits, most significant first.
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
  /// Reads 32 hexadecimal digits. Throws `DecodingError.dataCorrupted` for any other string.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let digest = Digest128(hex: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a digest is 32 hexadecimal digits")
    }
    self = digest
  }

  /// Writes a string of 32 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
