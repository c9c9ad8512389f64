/// Reads ASCII words and numbers from one line.
struct ByteCursor {
  // SAFETY: the bytes are borrowed from the array that `ResultChunk` holds while it reads; the
  // cursor never leaves that scope, and every access is below `end`.
  private var next: UnsafePointer<UInt8>
  private let end: UnsafePointer<UInt8>

  /// The line `bytes[range]`; `nil` for an empty buffer.
  init?(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    guard let base = bytes.baseAddress, range.upperBound <= bytes.count else { return nil }
    next = base + range.lowerBound
    end = base + range.upperBound
  }

  /// Reads a text with a cursor that is valid only within `body`.
  static func read<Value>(
    _ text: some StringProtocol, _ body: (inout ByteCursor) -> Value?
  ) -> Value? {
    Array(text.utf8).withUnsafeBufferPointer { bytes in
      guard var cursor = ByteCursor(bytes, 0..<bytes.count) else { return nil }
      return body(&cursor)
    }
  }

  var isAtEnd: Bool { next == end }

  /// Skips `byte`.
  @inline(__always)
  mutating func skip(_ byte: UInt8) -> Bool {
    guard next < end, next.pointee == byte else { return false }
    next += 1
    return true
  }

  @inline(__always)
  mutating func skipSpace() -> Bool { skip(UInt8(ascii: " ")) }

  /// The bytes up to the next `separator`, or up to the line's end.
  mutating func bytes(before separator: UInt8) -> UnsafeBufferPointer<UInt8> {
    let start = next
    while next < end && next.pointee != separator { next += 1 }
    return UnsafeBufferPointer(start: start, count: next - start)
  }

  mutating func rest() -> UnsafeBufferPointer<UInt8> {
    defer { next = end }
    return UnsafeBufferPointer(start: next, count: end - next)
  }

  /// A word in the form that `TextBuffer.append(word:)` writes.
  mutating func word(before separator: UInt8 = UInt8(ascii: " ")) -> String? {
    let word = bytes(before: separator)
    return word.isEmpty ? nil : decodedWord(String(decoding: word, as: UTF8.self))
  }

  /// An integer without leading zeros.
  mutating func integer() -> Int? {
    let isNegative = skip(UInt8(ascii: "-"))
    let start = next
    var value = 0
    while next < end, case let digit = next.pointee &- 0x30, digit < 10 {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      // Digits of a negative number are subtracted: the magnitude of `Int.min` is not an `Int`.
      let (sum, overflowToo) = product.addingReportingOverflow(
        isNegative ? -Int(digit) : Int(digit))
      if overflow || overflowToo { return nil }
      value = sum
      next += 1
    }
    // Each number has one form, without leading zeros and without `-0`, so that equal values have
    // equal bytes and equal digests.
    guard next > start, start.pointee != 0x30 || (next - start == 1 && !isNegative) else {
      return nil
    }
    return value
  }

  /// A number in the form that `TextBuffer.append(_: FixedDecimal)` writes.
  mutating func decimal() -> FixedDecimal? {
    let start = next
    let isNegative = skip(UInt8(ascii: "-"))
    let firstDigit = next
    var value: UInt64 = 0
    var digits = 0
    var decimals = -1
    while next < end {
      let byte = next.pointee
      if case let digit = byte &- 0x30, digit < 10 {
        // 18 digits fit 64 bits. Further digits are only counted, and `large` reads them all.
        if digits < 18 { value = value &* 10 &+ UInt64(digit) }
        digits += 1
        if decimals >= 0 { decimals += 1 }
      } else if byte == UInt8(ascii: "."), decimals < 0, digits > 0 {
        decimals = 0
      } else {
        break
      }
      next += 1
    }
    if digits == 0 { return special(isNegative) }
    let whole = digits - max(decimals, 0)
    // 0 decimals after a point is `1.`, which is not written, and no precision has more than nine.
    guard decimals != 0, decimals <= 9, whole == 1 || firstDigit.pointee != 0x30 else { return nil }
    guard digits <= 18 else { return large(from: start, decimals: max(decimals, 0)) }
    if isNegative && value == 0 { return nil }
    // Exact even above 2^53, because the digits were written from a `Double`.
    let magnitude = Double(value)
    return FixedDecimal(
      units: isNegative ? -magnitude : magnitude, decimals: UInt8(max(decimals, 0)))
  }

  private mutating func special(_ isNegative: Bool) -> FixedDecimal? {
    let word = String(decoding: bytes(before: UInt8(ascii: " ")), as: UTF8.self)
    switch word {
    // A NaN is written without its sign, which depends on the processor.
    case "nan" where !isNegative: return FixedDecimal(units: .nan, decimals: 0)
    case "inf": return FixedDecimal(units: isNegative ? -.infinity : .infinity, decimals: 0)
    default: return nil
    }
  }

  /// A number of more than 18 digits. It is exact, because it was written from a `Double`.
  private func large(from start: UnsafePointer<UInt8>, decimals: Int) -> FixedDecimal? {
    // Without the point, the digits are the number of steps, which a `FixedDecimal` stores.
    let digits = UnsafeBufferPointer(start: start, count: next - start)
      .filter { $0 != UInt8(ascii: ".") }
    return Double(String(decoding: digits, as: UTF8.self)).map {
      FixedDecimal(units: $0, decimals: UInt8(decimals))
    }
  }

  /// 32 lower-case hexadecimal digits.
  mutating func digest() -> Digest128? {
    guard end - next >= 32 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    for index in 0..<32 {
      let byte = next[index]
      let nibble: UInt8
      switch byte {
      case 0x30...0x39: nibble = byte &- 0x30
      // Upper case is refused: a digest has one spelling in a golden.
      case 0x61...0x66: nibble = byte &- 0x57
      default: return nil
      }
      if index < 16 {
        halves.0 = halves.0 << 4 | UInt64(nibble)
      } else {
        halves.1 = halves.1 << 4 | UInt64(nibble)
      }
    }
    next += 32
    return Digest128(high: halves.0, low: halves.1)
  }
}
