/// The frames of an undamaged track whose entries follow from the stream's headers, and a sample of
/// them to be decoded.
///
/// At a restart the decoder forgets all earlier pictures, so decoding from the restart returns the
/// same pixels as decoding in order. The sample shows whether this decoder does that with this
/// stream: an error at a restart shows in the pictures next to it.
struct EntrySample {
  /// Frames that have one restart as their last key packet.
  private struct Span {
    /// The restart.
    var packet: Int
    /// Places in `wanted`.
    var frames: Range<Int>
  }

  /// Indexes of the facts to be decoded, in ascending order of their packets.
  let decoded: [Int]
  private let wanted: [Int]
  private var proven: [Span] = []
  private var sampled: [Span] = []

  /// Of a span that is sampled.
  private static let framesPerSpan = 32
  private static let spansMin = 2
  /// One in this many frames is decoded again.
  private static let framesPerSample = 16

  /// - Parameters:
  ///   - wanted: Indexes of facts, in ascending order of their packets.
  ///   - restarts: Some of `keys`; both in ascending order.
  /// - Returns: nil if no frame follows a restart.
  init?(_ wanted: [Int], of facts: FactList, restarts: [Int], keys: [Int]) {
    self.wanted = wanted
    let restarts = Set(restarts)
    var open: [Range<Int>] = []
    var (key, place) = (0, 0)
    while place < wanted.count {
      while key + 1 < keys.count, keys[key + 1] <= facts.packet(wanted[place]) { key += 1 }
      let end = key + 1 < keys.count ? keys[key + 1] : Int.max
      let first = place
      while place < wanted.count, facts.packet(wanted[place]) < end { place += 1 }
      if restarts.contains(keys[key]) {
        proven.append(Span(packet: keys[key], frames: first..<place))
      } else {
        open.append(first..<place)
      }
    }
    guard !proven.isEmpty else { return nil }
    sampled = Self.sample(of: proven.filter { $0.packet > 0 }, frames: wanted.count)
    let places = (open + sampled.map(\.frames)).sorted { $0.lowerBound < $1.lowerBound }
    decoded = places.flatMap { wanted[$0] }
  }

  /// The first frames of spans at even distances in the track.
  private static func sample(of spans: [Span], frames: Int) -> [Span] {
    let count = min(spans.count, max(spansMin, frames / framesPerSample / framesPerSpan))
    return (0..<count).map { number in
      var span = spans[number * (spans.count - 1) / max(1, count - 1)]
      span.frames = span.frames.prefix(framesPerSpan)
      return span
    }
  }

  /// Whether each frame of the sample has the pixels that the headers promise.
  func agrees(with entries: EntryTable) -> Bool {
    sampled.allSatisfy { span in
      wanted[span.frames].allSatisfy {
        entries[$0] == EntryFinder.Entry(packet: span.packet, crossesDamage: false)
      }
    }
  }

  /// Adds the entries of the frames that were not decoded.
  func complete(_ entries: inout EntryTable) {
    for span in proven {
      for fact in wanted[span.frames] {
        entries[fact] = EntryFinder.Entry(packet: span.packet, crossesDamage: false)
      }
    }
  }
}
