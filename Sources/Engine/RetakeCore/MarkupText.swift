/// Escapes for the places where untrusted text meets a markup language.
///
/// They work on Unicode scalars: a quote followed by a combining mark is one character in Swift,
/// but still a quote in a browser.
package enum MarkupText {
  /// For element content and quoted attributes of XML and HTML. Forbidden characters are made
  /// visible first.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in visible(text).unicodeScalars {
      switch scalar {
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Several lines for XML content: each line is escaped by itself, and newlines are kept.
  package static func escapedLines(_ lines: [String]) -> String {
    lines.map(escaped).joined(separator: "\n")
  }
}
