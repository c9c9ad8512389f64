/// "Did you mean …?" for misspelt words.
package enum Suggestion {
  /// The candidate nearest to `word`, if it is near enough to be a likely slip: at most a third of
  /// its letters differ. Among equals the first in byte order.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    candidates
      .map { (distance: distance(word, $0), candidate: $0) }
      .filter { $0.distance <= max(1, max(word.count, $0.candidate.count) / 3) }
      .min { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }?
      .candidate
  }

  /// `"Did you mean 'motion'?"`, or the list of what there is.
  package static func advice(for word: String, among candidates: [String]) -> String {
    if let nearest = nearest(to: word, among: candidates) { return "Did you mean '\(nearest)'?" }
    return candidates.isEmpty
      ? "None is known here" : "Known: " + candidates.joined(separator: ", ")
  }

  /// Damerau-Levenshtein distance with adjacent transpositions, on lower-cased characters.
  /// Words longer than 64 characters are cut there.
  static func distance(_ left: String, _ right: String) -> Int {
    let a = Array(left.lowercased().prefix(64))
    let b = Array(right.lowercased().prefix(64))
    var before = [Int](repeating: 0, count: b.count + 1)
    var previous = Array(0...b.count)
    for i in 0..<a.count {
      var current = [i + 1]
      for j in 0..<b.count {
        var best = min(
          previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, current[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
        current.append(best)
      }
      before = previous
      previous = current
    }
    return previous[b.count]
  }
}
