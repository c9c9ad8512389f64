/// Places of one kind of loss in a file: the first one and their number.
struct LossPlaces {
  private(set) var first: Int64?
  private(set) var count = 0

  mutating func add(_ offset: Int64, count added: Int = 1) {
    first = first ?? offset
    count += added
  }

  /// Added to the text of the first place: `; 3 pages in all`.
  func more(_ things: String) -> String { count > 1 ? "; \(count) \(things) in all" : "" }
}

extension [UInt8] {
  /// Where the bytes of `needle` begin first.
  func firstPlace(of needle: [UInt8]) -> Int? {
    guard let head = needle.first, count >= needle.count else { return nil }
    var place = 0
    while place <= count - needle.count {
      guard let found = self[place...(count - needle.count)].firstIndex(of: head) else {
        return nil
      }
      if self[found..<found + needle.count].elementsEqual(needle) { return found }
      place = found + 1
    }
    return nil
  }
}
