/// Escapes for the places where untrusted text meets a markup language.
///
/// They work on Unicode scalars: a quote with a combining mark after it is one character to
/// Swift, but still a quote to a browser.
enum MarkupText {
  /// For element content and quoted attributes of XML and HTML. Forbidden characters are made
  /// visible first.
  static func escaped(_ text: String) -> String {
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

  /// Text of several lines for XML content: each line on its own, newlines kept.
  static func escapedLines(_ lines: [String]) -> String {
    lines.map(escaped).joined(separator: "\n")
  }
}
