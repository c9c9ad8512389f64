import RetakeCore

/// Findings in a list of limited length, each assigned to its root cause, and the number of all
/// findings.
package struct FindingLog: Sendable {
  package private(set) var findings: [Finding] = []
  package private(set) var count = 0
  package var causes: CauseLog
  let limit: Int

  package init(causes: CauseLog = CauseLog(), limit: Int = Comparison.findingLimit) {
    self.causes = causes
    self.limit = limit
  }

  package mutating func add(_ finding: Finding) {
    var finding = finding
    // Findings beyond the limit are attributed, too: the counts of the roots cover all of them.
    causes.attribute(&finding)
    count += 1
    if findings.count < limit { findings.append(finding) }
  }

  /// Findings, and the roots that have findings, sorted by frame: those about the whole run first,
  /// then by time if it is known, then by track and sequence.
  package func sorted() -> (findings: [Finding], roots: [RootCause]) {
    let order = causes.roots.indices.filter { causes.roots[$0].findings > 0 }.sorted {
      left, right in
      let (a, b) = (causes.roots[left], causes.roots[right])
      return Self.precedes((a.time, a.frame, left), (b.time, b.frame, right))
    }
    var places = Array(causes.roots.indices)
    for (place, index) in order.enumerated() { places[index] = place }
    var used = findings
    for index in used.indices { used[index].root = used[index].root.map { places[$0] } }
    let sorted = used.indices.sorted { left, right in
      Self.precedes(
        (used[left].time, used[left].frame, left), (used[right].time, used[right].frame, right))
    }
    return (sorted.map { used[$0] }, order.map { causes.roots[$0] })
  }

  private typealias Place = (time: Int64?, frame: FrameID?, index: Int)

  private static func precedes(_ left: Place, _ right: Place) -> Bool {
    if (left.frame == nil) != (right.frame == nil) { return left.frame == nil }
    if let mine = left.frame, let theirs = right.frame, mine != theirs {
      // Sequences of two tracks cannot be compared; times can.
      if mine.track != theirs.track, let time = left.time, let other = right.time, time != other {
        return time < other
      }
      if mine.track == theirs.track { return mine.sequence < theirs.sequence }
      return mine < theirs
    }
    return left.index < right.index
  }
}
