/// Finds a short span of an ordered list in which a condition holds: delta debugging of a span that
/// must contain known elements.
///
/// The condition need not be monotone: each span that is returned was tried. Spans near the known
/// elements are tried first, so that a short span is found with short trials.
struct SpanSearch {
  /// How many later starts are tried in the end, for a condition that holds in some later spans, too.
  static let laterMax = 6

  /// Whether the condition holds. Called at most once for each span.
  let holds: (ClosedRange<Int>) throws -> Bool

  /// - Parameters:
  ///   - kept: Elements that the span must contain.
  ///   - end: The last element that the span may contain.
  /// - Returns: `nil` if the condition does not hold in `0...end`, nor in a shorter span that was tried.
  func span(keeping kept: ClosedRange<Int>, end: Int) throws -> ClosedRange<Int>? {
    guard let start = try latestStart(kept.lowerBound, end: end) else { return nil }
    return start...(try earliestEnd(kept.upperBound, of: start...end))
  }

  private func latestStart(_ last: Int, end: Int) throws -> Int? {
    var tried: Set<Int> = []
    func holds(from start: Int) throws -> Bool {
      tried.insert(start)
      return try self.holds(start...end)
    }
    var (start, later, length) = (last, last + 1, 1)
    // Ends: the length doubles until the start is 0.
    while try !holds(from: start) {
      guard start > 0 else { return nil }
      later = start
      length *= 2
      start = max(0, last + 1 - length)
    }
    while later - start > 1 {
      let middle = start + (later - start) / 2
      if try holds(from: middle) { start = middle } else { later = middle }
    }
    let others = (start...last).filter { !tried.contains($0) }
    let step = max(1, others.count / Self.laterMax)
    // The latest first, evenly spread.
    for index in stride(from: others.count - 1, through: 0, by: -step).prefix(Self.laterMax)
    where try holds(from: others[index]) {
      return others[index]
    }
    return start
  }

  private func earliestEnd(_ first: Int, of span: ClosedRange<Int>) throws -> Int {
    var (end, earlier, length) = (first, first - 1, 1)
    // Ends: the length doubles until the span is complete, and the condition holds there.
    while end < span.upperBound, try !holds(span.lowerBound...end) {
      earlier = end
      length *= 2
      end = min(span.upperBound, first + length - 1)
    }
    while end - earlier > 1 {
      let middle = earlier + (end - earlier) / 2
      if try holds(span.lowerBound...middle) { end = middle } else { earlier = middle }
    }
    return end
  }
}
