package import RetakeCore

/// The entry of a digests file for one frame at one node: the first eight digits of its digest.
package enum StageCell: Hashable, Sendable {
  /// The frame did not reach the node; written as `-`.
  case notRun
  case value(UInt32)
  /// Digest of the failure's code; written with `!`.
  case failed(UInt32)

  /// The first 32 bits of a stage digest.
  package init(_ digest: Digest128) {
    self = .value(UInt32(truncatingIfNeeded: digest.high >> 32))
  }

  /// The first 32 bits of the digest of a failure's code.
  package init(failed code: Digest128) {
    self = .failed(UInt32(truncatingIfNeeded: code.high >> 32))
  }

  package var text: String {
    switch self {
    case .notRun: "-"
    case .value(let bits): Self.hex(bits)
    case .failed(let bits): "!" + Self.hex(bits)
    }
  }

  private static func hex(_ bits: UInt32) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// The inverse of `text`; `nil` for any other form.
  package init?(parsing text: some StringProtocol) {
    if text == "-" {
      self = .notRun
      return
    }
    let isFailed = text.hasPrefix("!")
    let digits = isFailed ? text.dropFirst() : text[...]
    // `UInt32(_:radix:)` alone would accept a sign and upper case.
    let isHex = digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    guard digits.utf8.count == 8, isHex, let bits = UInt32(digits, radix: 16) else { return nil }
    self = isFailed ? .failed(bits) : .value(bits)
  }
}
