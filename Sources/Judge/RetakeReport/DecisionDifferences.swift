/// How the decisions of the run differ from the golden's.
package struct DecisionDifferences: Hashable, Sendable, Codable {
  package var added: Int
  package var removed: Int
  package var moved: Int
  /// Made at the same time and place, but with other details.
  package var changed: Int
  package var lines: Excerpt<DecisionDifference>
  /// The kept lines; consecutive lines that differ in the same way form a group.
  package var groups: [DecisionGroup] = []

  package init(
    added: Int, removed: Int, moved: Int, changed: Int = 0, lines: Excerpt<DecisionDifference>
  ) {
    self.added = added
    self.removed = removed
    self.moved = moved
    self.changed = changed
    self.lines = lines
    groups = DecisionGroup.all(lines.items)
  }

  /// The number of groups of the kept lines, also groups beyond `DecisionGroup.groupsMax`.
  var groupCount: Int {
    guard groups.count >= DecisionGroup.groupsMax else { return groups.count }
    return max(groups.count, DecisionGroup.all(lines.items, limit: .max).count)
  }
}
