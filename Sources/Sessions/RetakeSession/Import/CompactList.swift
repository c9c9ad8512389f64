/// A list that grows in pieces, so that growing never copies a long list.
struct CompactList<Element: Sendable>: RandomAccessCollection, Sendable {
  private var pieces: [[Element]] = []
  private(set) var count = 0

  /// A power of two.
  private static var pieceCount: Int { 8_192 }

  init() {}

  init(_ elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(place: Int) -> Element {
    get { pieces[place / Self.pieceCount][place % Self.pieceCount] }
    set { pieces[place / Self.pieceCount][place % Self.pieceCount] = newValue }
  }

  mutating func append(_ element: Element) {
    if count.isMultiple(of: Self.pieceCount) {
      pieces.append([])
      // Reserved at once, because growing by doubling would copy the piece several times.
      pieces[pieces.count - 1].reserveCapacity(Self.pieceCount)
    }
    pieces[pieces.count - 1].append(element)
    count += 1
  }
}

/// An optional number in eight bytes. Like FFmpeg, it uses the smallest number for a missing one.
struct CompactNumber: Hashable, Sendable {
  private let stored: Int64

  private static let none = Int64.min

  init(_ value: Int64?) { stored = value ?? Self.none }

  var value: Int64? { stored == Self.none ? nil : stored }

  /// The number and `other`; a missing number stays missing. Wraps: a file may claim any time, and
  /// must not end the process.
  func moved(_ other: Int64) -> CompactNumber { CompactNumber(value.map { $0 &+ other }) }
}

/// Assigns numbers to values, many of which are equal.
struct ValueTable<Value: Hashable & Sendable>: Sendable {
  private(set) var values: [Value] = []
  private var numbers: [Value: Int32] = [:]

  /// The number of a value, from 0.
  mutating func number(of value: Value) -> Int32 {
    // Only looked up: a value's number comes from the order in which values came.
    if let number = numbers[value] { return number }
    let number = Int32(values.count)
    values.append(value)
    numbers[value] = number
    return number
  }

  subscript(number: Int32) -> Value { values[Int(number)] }
}
