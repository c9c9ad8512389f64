/// "Did you mean …?" for misspelled names.
package enum Suggestion {
  /// The candidate nearest to `word`, if it is close enough to be a likely typo: at most a third of
  /// its letters differ. Of equally near candidates, the first in byte order.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let letters = Self.letters(word)
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
      let others = Self.letters(candidate)
      let farthest = max(1, max(letters.count, others.count) / 3)
      // Each additional letter counts as a difference.
      guard abs(letters.count - others.count) <= farthest else { continue }
      // A candidate that is farther than the best one cannot win, so its table is not completed. A
      // document may have thousands of long names.
      let distance = distance(letters, others, atMost: min(farthest, best?.distance ?? farthest))
      guard distance <= farthest, (distance, candidate) < best ?? (.max, "") else { continue }
      best = (distance, candidate)
    }
    return best?.candidate
  }

  /// `"Did you mean 'motion'?"`, or the list of known candidates.
  package static func advice(for word: String, among candidates: [String]) -> String {
    if let new = FormerWords.successor(of: word, among: candidates) {
      return FormerWords.advice(word, new)
    }
    if let nearest = nearest(to: word, among: candidates) { return "Did you mean '\(nearest)'?" }
    guard !candidates.isEmpty else { return "No name is known here" }
    let more = candidates.count > knownMax ? " and \(candidates.count - knownMax) more" : ""
    return "Known: " + candidates.prefix(knownMax).joined(separator: ", ") + more
  }

  /// The largest number of candidates that are listed.
  private static let knownMax = 40

  /// Damerau-Levenshtein distance with adjacent transpositions, on lower-case letters. Words with
  /// more than 64 letters are truncated.
  static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (letters(left), letters(right))
    return distance(left, right, atMost: max(left.count, right.count))
  }

  private static func letters(_ word: String) -> [Unicode.Scalar] {
    // Cut twice: a character may consist of any number of scalars, and the table is quadratic in
    // them.
    Array(word.prefix(64).lowercased().unicodeScalars.prefix(64))
  }

  /// Only cells near the diagonal can be on a path of at most `limit` steps.
  ///
  /// - Returns: The distance, or a number above `limit` if the distance is larger than `limit`.
  private static func distance(
    _ a: [Unicode.Scalar], _ b: [Unicode.Scalar], atMost limit: Int
  ) -> Int {
    let tooFar = limit + 1
    guard abs(a.count - b.count) <= limit else { return tooFar }
    var before = [Int](repeating: tooFar, count: b.count + 1)
    var previous = (0...b.count).map { min($0, tooFar) }
    var current = before
    var leastBefore = 0
    for i in 0..<a.count {
      let low = max(0, i - limit)
      let high = min(b.count, i + limit + 1)
      current[low] = low == 0 ? min(i + 1, tooFar) : tooFar
      var least = current[low]
      for j in low..<high {
        var best = min(
          previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, current[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
        current[j + 1] = min(best, tooFar)
        least = min(least, best)
      }
      // The next row reads one cell further than this one wrote, and the reused array has an old
      // value there.
      if high < b.count { current[high + 1] = tooFar }
      // A transposition of two letters skips a row.
      if least > limit, leastBefore > limit { return tooFar }
      leastBefore = least
      (before, previous, current) = (previous, current, before)
    }
    return previous[b.count]
  }
}
