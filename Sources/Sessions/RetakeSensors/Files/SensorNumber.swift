/// Numbers as files write them.
enum SensorNumber {
  /// A decimal number with an optional exponent, or `nan`, `inf` and `-inf` in letters of any case.
  /// Swift's own initializer also accepts hexadecimal numbers, makes infinity of numbers that are
  /// too large, and stops at a NUL.
  static func parse(_ text: String) -> Double? {
    guard let value = Double(text) else { return nil }
    if text.utf8.allSatisfy(isPart) { return value.isFinite ? value : nil }
    let word = text.lowercased()
    return words.contains(word) ? value : nil
  }

  /// The same for a field that may be empty, which is NaN.
  static func parseField(_ text: String) -> Double? { text.isEmpty ? .nan : parse(text) }

  private static let words: Set<String> = [
    "nan", "+nan", "-nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity",
  ]

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
