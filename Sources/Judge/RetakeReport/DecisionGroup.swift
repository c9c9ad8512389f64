package import RetakeCore

/// Consecutive decision lines that differ in the same way.
package struct DecisionGroup: Hashable, Sendable, Codable {
  package var change: DecisionDifference.Change
  package var node: String
  /// The kind of the decision, such as `drop`.
  package var kind: String
  /// `nil` for decisions about a node instead of a frame.
  package var first: FrameID?
  package var last: FrameID?
  package var count: Int
  /// How far the lines moved, such as "2 frames later (66 ms)"; only for moved lines.
  package var note: String?
  /// The causes of the first line, nearest first.
  package var because: [String] = []

  /// The most groups that a report keeps.
  static let groupsMax = 500

  /// The first groups, in the order of their first lines.
  static func all(
    _ lines: [DecisionDifference], limit: Int = groupsMax
  ) -> [DecisionGroup] {
    var groups: [Builder] = []
    for line in lines {
      // A finding about the digests of two logs has no decision line.
      guard let next = Builder(line) else { continue }
      if let last = groups.last, last.takes(next) {
        groups[groups.count - 1].add(next)
      } else if groups.count < limit {
        groups.append(next)
      } else {
        break
      }
    }
    return groups.map(\.group)
  }

  /// A group under construction, with how far its lines moved.
  private struct Builder {
    private(set) var group: DecisionGroup
    private let frames: Int
    private var shortest: Int64
    private var longest: Int64

    /// `nil` for a line that is not a decision.
    init?(_ line: DecisionDifference) {
      let golden = line.golden.flatMap { DecisionLine(parsing: $0) }
      let actual = line.actual.flatMap { DecisionLine(parsing: $0) }
      guard let one = golden ?? actual else { return nil }
      group = DecisionGroup(
        change: line.change, node: one.node, kind: one.kind.rawValue, first: one.frame,
        last: one.frame,
        count: 1)
      // A line that only one side has did not move, so both distances are 0.
      let both = golden.flatMap { golden in actual.map { (golden, $0) } }
      frames = both.map { ($1.frame?.sequence ?? 0) - ($0.frame?.sequence ?? 0) } ?? 0
      shortest = both.map { $1.time - $0.time } ?? 0
      longest = shortest
      group.note = note
      group.because = line.because
    }

    func takes(_ other: Builder) -> Bool {
      let (mine, its) = (group, other.group)
      return mine.change == its.change && mine.node == its.node && mine.kind == its.kind
        // A group names its first and its last frame, and sequences are counted within a track.
        && mine.first?.track == its.first?.track && (mine.first == nil) == (its.first == nil)
        && frames == other.frames && !isOpposite(to: other)
    }

    /// Whether one group moved earlier and the other group later: a note has one direction.
    private func isOpposite(to other: Builder) -> Bool {
      min(shortest, other.shortest) < 0 && max(longest, other.longest) > 0
    }

    mutating func add(_ other: Builder) {
      group.count += other.group.count
      group.last = [group.last, other.group.last].compactMap(\.self).max()
      group.first = [group.first, other.group.first].compactMap(\.self).min()
      shortest = min(shortest, other.shortest)
      longest = max(longest, other.longest)
      group.note = note
    }

    private var note: String? {
      guard group.change == .moved else { return nil }
      let time = milliseconds
      let word =
        frames == 0 ? (shortest < 0 ? "earlier" : "later") : frames < 0 ? "earlier" : "later"
      guard frames != 0 else { return "\(time) \(word)" }
      return "\(Wording.count(Int(frames.magnitude), "frame")) \(word) (\(time))"
    }

    private var milliseconds: String {
      // By magnitude: of times that moved earlier, the time nearest to 0 is the largest.
      let ends = [shortest.magnitude, longest.magnitude].sorted()
        .map { Wording.number(Double($0) / 1e6, places: 1) }
      return ends[0] == ends[1] ? "\(ends[0]) ms" : "\(ends[0]) to \(ends[1]) ms"
    }
  }
}
