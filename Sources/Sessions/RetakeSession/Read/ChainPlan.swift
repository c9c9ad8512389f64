import RetakeStore

/// How a track is divided into chains: stretches that begin with a self-contained frame.
struct ChainPlan: Sendable {
  /// The number of the track's first chain.
  let first: Int
  /// The first sequence of each chain except the first, in ascending order.
  private let starts: [Int]

  var count: Int { starts.count + 1 }

  init(
    track: Int, first: Int, framesPerChain: Int?, store: StoreReader
  ) throws {
    guard let framesPerChain else {
      self.init(first: first, entries: [], framesPerChain: 1)
      return
    }
    let entries = try store.entrySequences(track: track)
    self.init(first: first, entries: entries, framesPerChain: framesPerChain)
  }

  /// - Parameter entries: Sequences at which decoding may begin, in ascending order.
  init(first: Int, entries: [Int], framesPerChain: Int) {
    self.first = first
    var starts: [Int] = []
    var last = 0
    for entry in entries where entry >= last + framesPerChain {
      starts.append(entry)
      last = entry
    }
    self.starts = starts
  }

  func chain(of sequence: Int) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= sequence { low = middle + 1 } else { high = middle }
    }
    return first + low
  }
}
