/// A set of small numbers, with one bit for each.
package struct BitSet: Equatable {
  private(set) var words: [UInt64]

  package init(count: Int) {
    words = Array(repeating: 0, count: (count + 63) / 64)
  }

  package mutating func insert(_ member: Int) { words[member / 64] |= 1 << UInt64(member % 64) }

  package mutating func remove(_ member: Int) { words[member / 64] &= ~(1 << UInt64(member % 64)) }

  package mutating func formUnion(_ other: BitSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  package mutating func formIntersection(_ other: BitSet) {
    for index in words.indices { words[index] &= other.words[index] }
  }

  package mutating func subtract(_ other: BitSet) {
    for index in words.indices { words[index] &= ~other.words[index] }
  }

  /// In rising order.
  package func forEach(_ body: (Int) -> Void) {
    for index in words.indices {
      var word = words[index]
      while word != 0 {
        body(index * 64 + word.trailingZeroBitCount)
        word &= word - 1
      }
    }
  }

  package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
}
