import Foundation

/// File-name patterns with `*` and `?`.
package enum Glob {
  static func isPattern(_ text: String) -> Bool { text.contains { "*?".contains($0) } }

  /// Backtracks only to the last `*`, so the number of steps is at most the product of both
  /// lengths.
  package static func matches(_ pattern: String, _ text: String) -> Bool {
    let pattern = Array(pattern.utf8)
    let text = Array(text.utf8)
    var (at, next) = (0, 0)
    var star: (pattern: Int, text: Int)?
    while next < text.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        star = (at, next)
        at += 1
      } else if at < pattern.count, [UInt8(ascii: "?"), text[next]].contains(pattern[at]) {
        at += 1
        next += 1
      } else if let last = star {
        star = (last.pattern, last.text + 1)
        (at, next) = (last.pattern + 1, last.text + 1)
      } else {
        return false
      }
    }
    return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
