import RetakeCore
import RetakeTimePlane

/// The lines of a file of timings; docs/costs.md describes them.
///
/// ```
/// #retake 1 timings key=yard/motion clock=thread
/// S motion 0:12 400000000 400000000 445000000 44981222 vision done
/// B 1 9f3c11d2a04471be55d0c7731e0a96f2
/// E 1
/// ```
enum TimingsFormat {
  static let version = 1
  /// The largest number of spans between two `B` lines.
  static let blockSpans = 1_024
  /// The longest line that is read.
  static let lineBytesMax = 4_096

  static func header(key: String) -> String {
    var buffer = TextBuffer(capacity: 128)
    buffer.append("#retake \(version) timings key=")
    buffer.append(word: key)
    buffer.append(" clock=thread\n")
    return buffer.text
  }

  static func append(_ span: CostSpan, to buffer: inout TextBuffer) {
    buffer.append("S ")
    buffer.append(word: span.node)
    buffer.append(" ")
    buffer.append(span.frame.track)
    buffer.append(":")
    buffer.append(span.frame.sequence)
    if span.item >= 0 {
      buffer.append(".")
      buffer.append(span.item)
    }
    for number in [
      span.readyNanoseconds, span.startNanoseconds, span.endNanoseconds,
      span.processorNanoseconds,
    ] {
      buffer.append(" ")
      buffer.append(Int(number))
    }
    buffer.append(" ")
    buffer.append(word: span.executor)
    buffer.append(" ")
    buffer.append(word: span.outcome)
    buffer.append("\n")
  }

  /// The span of an `S` line, given without its line end; `nil` for any other form.
  static func span(_ line: ArraySlice<UInt8>) -> CostSpan? {
    var words = WordCursor(line)
    guard words.next().map({ $0.elementsEqual("S".utf8) }) == true, let node = words.text(),
      let subject = words.next(), let (frame, item) = self.subject(subject),
      let ready = words.integer(), let start = words.integer(), let end = words.integer(),
      let processor = words.integer(), start <= end, processor >= 0,
      let executor = words.text(), let outcome = words.text(), words.isAtEnd
    else { return nil }
    return CostSpan(
      node: node, frame: frame, item: item, readyNanoseconds: ready, startNanoseconds: start,
      endNanoseconds: end, processorNanoseconds: processor, executor: executor, outcome: outcome)
  }

  private static func subject(_ word: ArraySlice<UInt8>) -> (FrameID, item: Int)? {
    guard let colon = word.firstIndex(of: UInt8(ascii: ":")),
      let track = WordCursor.integer(word[..<colon]), track >= 0
    else { return nil }
    let rest = word[(colon + 1)...]
    let dot = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
    guard let sequence = WordCursor.integer(rest[..<dot]), sequence >= 0 else { return nil }
    let frame = FrameID(track: Int(track), sequence: Int(sequence))
    guard dot < rest.endIndex else { return (frame, -1) }
    guard let item = WordCursor.integer(rest[(dot + 1)...]), item >= 0 else { return nil }
    return (frame, Int(item))
  }
}

/// Splits a line into words. One space separates two words.
struct WordCursor {
  private var rest: ArraySlice<UInt8>?

  init(_ line: ArraySlice<UInt8>) {
    rest = line
  }

  var isAtEnd: Bool { rest == nil }

  mutating func next() -> ArraySlice<UInt8>? {
    guard let line = rest else { return nil }
    guard let space = line.firstIndex(of: UInt8(ascii: " ")) else {
      rest = nil
      return line
    }
    rest = line[(space + 1)...]
    return line[..<space]
  }

  /// A word in the form that `TextBuffer.append(word:)` writes.
  mutating func text() -> String? {
    next().flatMap { decodedWord(String(decoding: $0, as: UTF8.self)) }
  }

  mutating func integer() -> Int64? { next().flatMap { Self.integer($0) } }

  /// An integer in the form in which numbers are written: no plus sign, no leading zeros.
  static func integer(_ word: ArraySlice<UInt8>) -> Int64? {
    let isNegative = word.first == UInt8(ascii: "-")
    let digits = isNegative ? word.dropFirst() : word
    guard let first = digits.first, first != 0x30 || word.count == 1 else { return nil }
    var value: Int64 = 0
    // Counted downwards, because the smallest Int64 has no positive counterpart.
    for byte in digits {
      guard case let digit = byte &- 0x30, digit < 10 else { return nil }
      let (product, isLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = product.subtractingReportingOverflow(Int64(digit))
      if isLarge || isLarger { return nil }
      value = sum
    }
    guard !isNegative else { return value }
    return value == .min ? nil : -value
  }
}
