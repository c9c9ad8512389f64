import RetakeCore

/// Why and where a frame ended.
struct Ending: Sendable {
  let fate: FrameFate
  let node: Int
  /// The tombstones and joins that carry it.
  fileprivate var references = 0
}

/// The endings of frames, each shared by the frame's tombstones.
struct EndingTable: Sendable {
  private var endings: [Ending] = []
  private var free: [Int] = []

  subscript(ending: Int) -> Ending { endings[ending] }

  mutating func add(_ fate: FrameFate, node: Int) -> Int {
    let ending = Ending(fate: fate, node: node)
    if let place = free.popLast() {
      endings[place] = ending
      return place
    }
    endings.append(ending)
    return endings.count - 1
  }

  mutating func retain(_ ending: Int) { endings[ending].references += 1 }

  mutating func release(_ ending: Int) {
    precondition(endings[ending].references > 0, "a tombstone ends once")
    endings[ending].references -= 1
    if endings[ending].references == 0 { free.append(ending) }
  }
}
