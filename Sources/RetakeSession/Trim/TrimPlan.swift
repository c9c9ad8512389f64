import RetakeStore

/// Which packets of a track a trim may copy, and which frames it must encode again.
///
/// Packets are copied in whole groups, from one at which decoding can begin to the next, and only
/// where every frame that they give is in the span: so nothing of the time around it comes along.
struct TrimPlan: Hashable {
  /// A stretch of copied packets, all in one segment.
  struct Run: Hashable {
    var segment: Int
    var packets: ClosedRange<Int>
  }

  /// What becomes of a frame of the span.
  enum Fate: Hashable {
    /// Its packet is copied, and all that decoding it needs.
    case copied
    /// Decoded and encoded again without loss, in front of the run of that number (or behind all).
    case encoded(before: Int)
    /// No pixels, in the original either.
    case unreadable
  }

  /// What may be copied of the span's last group of packets.
  enum LastGroup: Hashable {
    /// All of it: the group ends with the span.
    case whole
    /// Its packets up to the first that shows something else.
    case cut
    /// None: packets of its codec may hold pictures that are shown much later.
    case hidden
    /// Nothing of the track is copied.
    case nothing
  }

  /// A frame's packets, as the index has them.
  struct Row: Hashable {
    var sequence: Int
    var packet: Int?
    var entry: Int?
    /// It cannot be replayed.
    var isDamaged = false
  }

  private(set) var runs: [Run] = []
  /// By sequence; every frame of the span is there.
  private(set) var fates: [Int: Fate] = [:]

  /// - Parameters:
  ///   - rows: Of all frames whose packets lie between the span's first and last, and of the span.
  ///   - span: Sequences.
  ///   - segments: Of the packets in question.
  ///   - damaged: Packets that are not what was indexed.
  ///   - end: How far the last group, which the span may cut, can be copied.
  init(
    _ rows: [Row], span: ClosedRange<Int>, segments: [Int: Int], damaged: Set<Int>,
    end: LastGroup = .cut
  ) {
    if end != .nothing {
      runs = Self.runs(rows, span: span, segments: segments, damaged: damaged, end: end)
    }
    for row in rows where span.contains(row.sequence) {
      fates[row.sequence] = fate(of: row)
    }
  }

  private func fate(of row: Row) -> Fate {
    guard let packet = row.packet else { return .unreadable }
    guard let place = runs.firstIndex(where: { $0.packets.contains(packet) }) else {
      let before = runs.firstIndex { packet < $0.packets.lowerBound } ?? runs.count
      return row.isDamaged ? .unreadable : .encoded(before: before)
    }
    if row.isDamaged || runs[place].packets.contains(row.entry ?? -1) { return .copied }
    return .encoded(before: place)
  }

  private static func runs(
    _ rows: [Row], span: ClosedRange<Int>, segments: [Int: Int], damaged: Set<Int>,
    end lastGroup: LastGroup
  ) -> [Run] {
    let entries = Set(rows.filter { $0.entry != nil && $0.entry == $0.packet }.compactMap(\.packet))
    let wanted = rows.filter { span.contains($0.sequence) }.compactMap(\.packet)
    guard let first = wanted.min(), let last = wanted.max() else { return [] }
    var shows: [Int: [Int]] = [:]
    for row in rows {
      if let packet = row.packet { shows[packet, default: []].append(row.sequence) }
    }
    let starts = entries.filter { (first...last).contains($0) }.sorted()
    var runs: [Run] = []
    for (place, start) in starts.enumerated() {
      let limit = place + 1 < starts.count ? starts[place + 1] - 1 : last
      let isLast = place + 1 == starts.count && lastGroup != .whole
      if isLast, lastGroup == .hidden { continue }
      guard
        let end = end(
          of: start...limit, isLast: isLast, shows: shows, span: span, segments: segments,
          damaged: damaged), let segment = segments[start]
      else { continue }
      if let run = runs.last, run.packets.upperBound + 1 == start, run.segment == segment {
        runs[runs.count - 1].packets = run.packets.lowerBound...end
      } else {
        runs.append(Run(segment: segment, packets: start...end))
      }
    }
    return runs
  }

  /// How far a group can be copied: to its end, the last one also to a packet before; nil not at all.
  private static func end(
    of group: ClosedRange<Int>, isLast: Bool, shows: [Int: [Int]], span: ClosedRange<Int>,
    segments: [Int: Int], damaged: Set<Int>
  ) -> Int? {
    var end: Int?
    for packet in group {
      let frames = shows[packet] ?? []
      let fits =
        frames.allSatisfy { span.contains($0) } && !damaged.contains(packet)
        && segments[packet] == segments[group.lowerBound]
      // What a packet without frames shows, later ones tell: only a whole group holds them all.
      guard fits, !frames.isEmpty || !isLast else { return isLast ? end : nil }
      end = packet
    }
    return end
  }
}
