/// Which packets of a track a trim may copy, and which frames it must encode again.
///
/// Packets are copied in complete groups, each from a packet at which decoding can begin to the
/// next such packet. A group is copied only if every frame of it is in the span, so no data from
/// outside the span is included.
struct TrimPlan: Hashable {
  /// A stretch of copied packets, all in one segment.
  struct Run: Hashable {
    var segment: Int
    var packets: ClosedRange<Int>
  }

  /// How the trim keeps a frame of the span.
  enum Fate: Hashable {
    /// Its packet is copied, with everything that decoding it needs.
    case copied
    /// Decoded and encoded again without loss, before the run with that index (or after all runs).
    case encoded(before: Int)
    /// The frame has no pixels, in the original either.
    case unreadable
  }

  /// How much of the span's last group of packets may be copied.
  enum LastGroup: Hashable {
    /// All of it: the group ends with the span.
    case whole
    /// Its packets up to the first that shows a frame outside the span.
    case cut
    /// No packet: packets of this codec may contain images that are shown much later.
    case hidden
    /// No packet of the track is copied.
    case nothing
  }

  /// A frame's packets, according to the index.
  struct Row: Hashable {
    var sequence: Int
    var packet: Int?
    var entry: Int?
    /// Whether it cannot be replayed.
    var isDamaged = false
  }

  private(set) var runs: [Run] = []
  /// By sequence; contains every frame of the span.
  private(set) var fates: [Int: Fate] = [:]

  /// - Parameters:
  ///   - rows: Rows of the span, and of all frames whose packets are between its first and last
  ///     packet.
  ///   - span: Sequences.
  ///   - segments: Segments of these packets.
  ///   - damaged: Packets that differ from the indexed packets.
  ///   - end: How much of the last group, which the span may cut, can be copied.
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
    // A damaged frame keeps its packet, and fails in the copy as in the original. An intact one
    // also needs its entry here: leading images of an open group may have theirs before the run.
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
      // One file for groups that follow each other; a segment has one set of parameters.
      if let run = runs.last, run.packets.upperBound + 1 == start, run.segment == segment {
        runs[runs.count - 1].packets = run.packets.lowerBound...end
      } else {
        runs.append(Run(segment: segment, packets: start...end))
      }
    }
    return runs
  }

  /// The last packet of a group to copy. Only the last group may be cut; nil when no packet is
  /// copied.
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
      // A later packet may show an image of a packet without frames, so it needs the complete
      // group.
      guard fits, !frames.isEmpty || !isLast else { return isLast ? end : nil }
      end = packet
    }
    return end
  }
}
