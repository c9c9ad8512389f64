/// The first position at which two strings differ.
enum TextDifference {
  /// The most characters that are shown of each string.
  private static let shownMax = 24

  /// `"differs at character 4: 'AB' instead of 'BA'"`.
  static func words(_ golden: String, _ actual: String) -> String {
    let (mine, theirs) = (Array(golden), Array(actual))
    let shared = zip(mine, theirs).prefix { $0 == $1 }.count
    return "differs at character \(shared + 1): "
      + "\(excerpt(theirs, from: shared)) instead of \(excerpt(mine, from: shared))"
  }

  private static func excerpt(_ text: [Character], from start: Int) -> String {
    guard start < text.count else { return "its end" }
    let shown = String(text[start...].prefix(shownMax))
    return "'\(shown)'" + (text.count - start > shownMax ? "…" : "")
  }
}
