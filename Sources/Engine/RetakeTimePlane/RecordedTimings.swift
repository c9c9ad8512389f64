package import RetakeCore
import RetakeGraph

/// The cost of each stage for each frame, in one run. It comes from a session or from a file.
///
/// A span needs 16 bytes of memory, and timings have at most `spansMax` spans.
package struct RecordedTimings: Sendable {
  /// Fifteen hours of ten stages at 30 frames a second.
  package static let spansMax = 1 << 24

  /// The origin of the timings, in words: `run.timings`, or `run 0 of yard`.
  package let name: String
  /// The session that was replayed or recorded, if that is known.
  package let session: String?
  package let spanCount: Int
  /// XXH3-128 of the costs by node, track, sequence and item. The same costs have the same digest,
  /// independent of where they are stored.
  package let digest: Digest128
  private let columns: [String: TimingsColumn]

  /// The costs of one stage; `nil` if the timings have no costs of the stage.
  package func column(of node: String) -> TimingsColumn? { columns[node] }

  /// Why spans cannot form timings, in words.
  package struct Problem: Error, Hashable, Sendable {
    package var detail: String
  }

  /// Collects spans in any order.
  package struct Builder: Sendable {
    private var columns: [String: TimingsColumn] = [:]
    private var count = 0
    private let spansMax: Int

    package init(spansMax: Int = RecordedTimings.spansMax) {
      self.spansMax = spansMax
    }

    package mutating func append(
      node: String, frame: FrameID, item: Int, nanoseconds: Int64
    ) throws(Problem) {
      guard count < spansMax else {
        throw Problem(detail: "it has more than \(spansMax) spans")
      }
      guard nanoseconds >= 0 else {
        throw Problem(detail: "the span of '\(node)' for frame \(frame) ends before it starts")
      }
      guard frame.track >= 0, let sequence = UInt32(exactly: frame.sequence), item >= -1,
        let item = Int32(exactly: item)
      else { throw Problem(detail: "there is no frame \(frame) with an item \(item)") }
      count += 1
      columns[node, default: TimingsColumn()].append(
        TimingsColumn.Entry(
          sequence: sequence, item: item, nanoseconds: min(nanoseconds, Cost.nanosecondsMax)),
        track: frame.track)
    }

    /// - Throws: `Problem` if a frame or item has two costs at one node.
    package consuming func finish(name: String, session: String? = nil) throws(Problem)
      -> RecordedTimings
    {
      var hasher = DigestHasher()
      let nodes = columns.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      for node in nodes {
        if let twice = columns[node]?.sort() {
          throw Problem(detail: "'\(node)' has two spans for frame \(twice)")
        }
        hasher.append(node)
        columns[node]?.digest(into: &hasher)
      }
      return RecordedTimings(
        name: name, session: session, spanCount: count, digest: hasher.finish(), columns: columns)
    }
  }
}

/// The recorded costs of one stage, in order of track, sequence and item.
package struct TimingsColumn: Sendable {
  struct Entry: Sendable {
    var sequence: UInt32
    var item: Int32
    var nanoseconds: Int64

    static func precedes(_ left: Entry, _ right: Entry) -> Bool {
      (left.sequence, left.item) < (right.sequence, right.item)
    }
  }

  private struct Track: Sendable {
    var number: Int
    var entries: [Entry] = []
  }

  /// In rising order once sorted. There are few.
  private var tracks: [Track] = []

  fileprivate mutating func append(_ entry: Entry, track: Int) {
    if let index = tracks.firstIndex(where: { $0.number == track }) {
      tracks[index].entries.append(entry)
    } else {
      tracks.append(Track(number: track, entries: [entry]))
    }
  }

  /// Sorts everything. Returns a frame, or an item of it, that occurs twice.
  fileprivate mutating func sort() -> String? {
    tracks.sort { $0.number < $1.number }
    for index in tracks.indices {
      tracks[index].entries.sort(by: Entry.precedes)
      let entries = tracks[index].entries
      for (left, right) in zip(entries, entries.dropFirst())
      where !Entry.precedes(left, right) {
        let item = left.item < 0 ? "" : ".\(left.item)"
        return "\(tracks[index].number):\(left.sequence)\(item)"
      }
    }
    return nil
  }

  fileprivate func digest(into hasher: inout DigestHasher) {
    for track in tracks {
      hasher.append(Int64(track.number))
      hasher.append(Int64(track.entries.count))
      for entry in track.entries {
        hasher.append(entry.sequence)
        hasher.append(entry.item)
        hasher.append(entry.nanoseconds)
      }
    }
  }

  /// The recorded cost; item −1 is the frame itself.
  package func nanoseconds(of frame: FrameID, item: Int) -> Int64? {
    guard let (entries, index) = position(of: frame, item: item), index < entries.count,
      Int(entries[index].sequence) == frame.sequence, Int(entries[index].item) == item
    else { return nil }
    return entries[index].nanoseconds
  }

  /// How many items the frame had: the highest index with a cost, plus one.
  package func itemCount(of frame: FrameID) -> Int {
    guard let (entries, end) = position(of: frame, item: .max), end > 0,
      Int(entries[end - 1].sequence) == frame.sequence
    else { return 0 }
    return Int(entries[end - 1].item) + 1
  }

  /// The first position that is not before the frame's item.
  private func position(of frame: FrameID, item: Int) -> (entries: [Entry], index: Int)? {
    guard let track = tracks.first(where: { $0.number == frame.track }) else { return nil }
    var range = track.entries.startIndex..<track.entries.endIndex
    // Bounded: halves the range.
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      let entry = track.entries[middle]
      if (Int(entry.sequence), Int(entry.item)) < (frame.sequence, item) {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return (track.entries, range.lowerBound)
  }

  /// Median and 99th percentile of all costs, frames and items together, by nearest rank.
  package func quantiles() -> (p50: Int64, p99: Int64) {
    let costs = tracks.flatMap { $0.entries.map(\.nanoseconds) }.sorted()
    return (costs.nearestRank(percent: 50) ?? 0, costs.nearestRank(percent: 99) ?? 0)
  }
}

extension [Int64] {
  /// The percentile of numbers in rising order, by nearest rank. It is the smallest of them for
  /// which at least the given percentage of the numbers are less or equal; `nil` if there are no
  /// numbers.
  package func nearestRank(percent: Int) -> Int64? {
    precondition((1...100).contains(percent), "a percentile is 1 to 100")
    guard !isEmpty else { return nil }
    return self[(count * percent + 99) / 100 - 1]
  }
}
