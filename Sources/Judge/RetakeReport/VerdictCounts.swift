import RetakeCompare

/// How many cases have which verdict. `changed` does not include expected changes.
package struct VerdictCounts: Hashable, Sendable, Codable {
  package var passed = 0
  package var changed = 0
  /// Changed, but marked as known.
  package var expected = 0
  package var missing = 0
  package var stale = 0
  package var notComparable = 0
  package var errored = 0

  package init() {}

  package mutating func count(_ item: ReportCase) {
    switch item.verdict {
    case .passed: passed += 1
    case .changed:
      if item.expected == nil { changed += 1 } else { expected += 1 }
    case .missing: missing += 1
    case .stale: stale += 1
    case .notComparable: notComparable += 1
    case .errored: errored += 1
    }
  }

  /// The words and the counts, most important first.
  package var rows: [(word: String, key: String, count: Int)] {
    [
      ("errored", "errored", errored), ("changed", "changed", changed),
      ("not comparable", "notComparable", notComparable), ("stale", "stale", stale),
      ("missing", "missing", missing), ("expected", "expected", expected),
      ("passed", "passed", passed),
    ]
  }

  /// `"1 changed, 2 passed"`; verdicts that did not occur are left out.
  package var text: String {
    let parts = rows.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }
    return parts.isEmpty ? "no cases" : parts.joined(separator: ", ")
  }
}

extension Verdict {
  /// One word, for identifiers and styles.
  var key: String { self == .notComparable ? "notComparable" : rawValue }
}
