/// A growing buffer of text for hot loops: no formatting machinery, and no bounds check for each
/// byte.
package struct TextBuffer: ~Copyable, @unchecked Sendable {
  // SAFETY: `base` points to `capacity` bytes that only this value owns and that deinit frees. The
  // first `count` are initialized. Every write goes through `room(for:)`, which grows the buffer
  // first. The value is noncopyable, so it may move between threads.
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  package private(set) var count = 0

  package init(capacity: Int = 1 << 16) {
    self.capacity = max(capacity, 64)
    base = .allocate(capacity: self.capacity)
  }

  deinit {
    base.deallocate()
  }

  /// The content from `start` on, as bytes that are valid only within `body`.
  package func withBytes<Value, Failure: Error>(
    from start: Int = 0, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    precondition(start <= count, "a range ends at the text's end")
    return try body(UnsafeRawBufferPointer(start: base + start, count: count - start))
  }

  package var bytes: [UInt8] { [UInt8](UnsafeBufferPointer(start: base, count: count)) }

  /// The content without its last bytes.
  package func text(dropping last: Int) -> String {
    String(decoding: UnsafeBufferPointer(start: base, count: max(0, count - last)), as: UTF8.self)
  }

  package var text: String { text(dropping: 0) }

  package mutating func removeAll() { count = 0 }

  /// Grows the buffer if it has no space for `extra` more bytes. Returns their address, and counts
  /// them as written.
  @inline(__always)
  private mutating func room(for extra: Int) -> UnsafeMutablePointer<UInt8> {
    if count + extra > capacity { grow(for: extra) }
    let place = base + count
    count += extra
    return place
  }

  @inline(never)
  private mutating func grow(for extra: Int) {
    let larger = max(capacity * 2, count + extra)
    let new = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    new.update(from: base, count: count)
    base.deallocate()
    base = new
    capacity = larger
  }

  @inline(__always)
  package mutating func append(_ byte: UInt8) {
    room(for: 1).pointee = byte
  }

  @inline(__always)
  package mutating func append(_ text: StaticString) {
    let size = text.utf8CodeUnitCount
    room(for: size).update(from: text.utf8Start, count: size)
  }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      // SAFETY: an empty string may have a null base; then there are no bytes to copy.
      guard let source = utf8.baseAddress else { return }
      room(for: utf8.count).update(from: source, count: utf8.count)
    }
  }

  package mutating func append(contentsOf other: borrowing TextBuffer) {
    room(for: other.count).update(from: other.base, count: other.count)
  }

  package mutating func append(_ value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    // The magnitude is a `UInt`, because the magnitude of `Int.min` is not an `Int`.
    append(value.magnitude, pointBefore: 0)
  }

  /// An integer number of 10^-decimals, with `decimals` digits after the point.
  package mutating func append(_ value: Int64, decimals: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(UInt(value.magnitude), pointBefore: decimals)
  }

  /// A magnitude in steps, with the point before its last `decimals` digits. There is at least one
  /// digit before the point.
  @inline(__always)
  private mutating func append(_ magnitude: UInt, pointBefore decimals: Int) {
    // The number of digits is known first, so that they can be written in place from the last one
    // on.
    let digits = max(Self.digitCount(magnitude), decimals + 1)
    let start = room(for: digits + (decimals > 0 ? 1 : 0))
    var place = start + digits + (decimals > 0 ? 0 : -1)
    var rest = magnitude
    for _ in 0..<decimals {
      let next = rest / 10
      place.pointee = UInt8(truncatingIfNeeded: rest &- next &* 10) &+ 0x30
      place -= 1
      rest = next
    }
    if decimals > 0 {
      place.pointee = UInt8(ascii: ".")
      place -= 1
    }
    while place >= start {
      let next = rest / 10
      place.pointee = UInt8(truncatingIfNeeded: rest &- next &* 10) &+ 0x30
      place -= 1
      rest = next
    }
  }

  @inline(__always)
  private static func digitCount(_ value: UInt) -> Int {
    var count = 1
    var bound: UInt = 10
    // 10^19 is the largest power of ten in 64 bits; the next one would wrap around.
    while count < 19 && value >= bound {
      count += 1
      bound &*= 10
    }
    return value >= 10_000_000_000_000_000_000 ? 20 : count
  }

  package mutating func append(_ number: FixedDecimal) {
    let units = number.units
    // False also for NaN and the infinities, because their conversion to an integer would trap.
    if units.magnitude < 0x1p62 {
      if units < 0 { append(UInt8(ascii: "-")) }
      append(UInt(units.magnitude), pointBefore: Int(number.decimals))
    } else if units.isNaN {
      append("nan")
    } else if units.isInfinite {
      append(units < 0 ? "-inf" : "inf")
    } else {
      appendLarge(number)
    }
  }

  /// Appends a number of 62 bits and more, digit by digit.
  @inline(never)
  private mutating func appendLarge(_ number: FixedDecimal) {
    if number.units < 0 { append(UInt8(ascii: "-")) }
    // `description` would have an exponent and the fewest digits; a golden has every digit.
    let digits = Self.decimalDigits(number.units.magnitude)
    let whole = digits.count - Int(number.decimals)
    for (index, digit) in digits.enumerated() {
      if index == whole { append(UInt8(ascii: ".")) }
      append(digit + 0x30)
    }
  }

  /// The digits of an integer, highest first: at most 309.
  private static func decimalDigits(_ whole: Double) -> [UInt8] {
    // The number is a 53-bit integer times a power of two. Doubling decimal digits is exact.
    var digits = String(UInt64(whole.significandBitPattern | (1 << 52))).utf8.reversed().map {
      $0 - 0x30
    }
    for _ in 0..<(Int(whole.exponent) - 52) {
      var carry: UInt8 = 0
      for index in digits.indices {
        let doubled = digits[index] * 2 + carry
        digits[index] = doubled % 10
        carry = doubled / 10
      }
      if carry > 0 { digits.append(carry) }
    }
    return digits.reversed()
  }

  package mutating func append(_ digest: Digest128) {
    let place = room(for: 32)
    for index in 0..<16 {
      let shift = UInt64(60 - 4 * index)
      place[index] = Self.hexDigit(digest.high >> shift)
      place[16 + index] = Self.hexDigit(digest.low >> shift)
    }
  }

  @inline(__always)
  private static func hexDigit(_ value: UInt64) -> UInt8 {
    let nibble = UInt8(truncatingIfNeeded: value & 15)
    return nibble < 10 ? nibble &+ 0x30 : nibble &+ 0x57
  }
}
