import RetakeCore

/// A part of an HTML page.
///
/// A literal is markup. A string that is interpolated in it is text, and is escaped:
///
/// ```swift
/// let cell: Markup = "<td>\(finding.message)</td>"
/// ```
struct Markup: ExpressibleByStringInterpolation, StringInterpolationProtocol {
  /// The most characters of one text; labels can come from anywhere.
  private static let lengthMax = 2000

  private(set) var html = ""

  init(stringLiteral html: String) { self.html = html }
  init(stringInterpolation markup: Markup) { self = markup }
  init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity * 2) }

  mutating func appendLiteral(_ literal: String) { html += literal }

  mutating func appendInterpolation(_ text: String) {
    // A string has at least as many bytes as characters, and counting bytes is cheap.
    let isLong = text.utf8.count > Self.lengthMax
    html += MarkupText.escaped(isLong ? text.visible(limit: Self.lengthMax) : text)
  }

  mutating func appendInterpolation(_ number: Int) { html += String(number) }

  mutating func appendInterpolation(_ part: Markup?) { html += part?.html ?? "" }

  mutating func appendInterpolation(if isShown: Bool, _ part: Markup) {
    if isShown { html += part.html }
  }

  mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { html += part.html } }

  /// Each part on a line.
  mutating func appendInterpolation(lines parts: [Markup?]) {
    for case let part? in parts { html += part.html + "\n" }
  }

  /// Markup from elsewhere in the program, never a label: a drawing, the style, the script.
  mutating func appendInterpolation(trusted html: String) { self.html += html }
}

// MARK: - Blocks that occur several times in the page

extension Markup {
  static func section(
    _ label: String, class kind: String? = nil, title: Markup, level: Int = 3, _ content: [Markup?]
  ) -> Self {
    """
    <section\(kind.map { " class=\"\($0)\"" }) aria-label="\(label)">
    <h\(level)>\(title)</h\(level)>
    \(lines: content)</section>
    """
  }

  /// Content that can be wider than its column.
  static func scroll(_ label: String, class kind: String = "scroll", _ content: Markup) -> Self {
    """
    <div class="\(kind)" tabindex="0" role="group" aria-label="\(label)">\(content)</div>
    """
  }

  static func scrollingTable(
    _ label: String, class kind: String = "scroll", tableClass: String? = nil, heads: [Markup],
    _ rows: [Markup]
  ) -> Self {
    .scroll(label, class: kind, "\n\(lines: [.table(tableClass, heads: heads, rows)])")
  }

  static func table(_ kind: String?, heads: [Markup], _ rows: [Markup]) -> Self {
    """
    <table\(kind.map { " class=\"\($0)\"" })>
    <thead><tr>\(heads.map { "<th scope=\"col\">\($0)</th>" })</tr></thead>
    <tbody>
    \(lines: rows)</tbody>
    </table>
    """
  }

  static func headlessTable(_ kind: String, _ rows: [Markup]) -> Self {
    """
    <table class="\(kind)"><tbody>
    \(lines: rows)</tbody></table>
    """
  }

  static func row(class kind: String? = nil, _ cells: Markup...) -> Self {
    "<tr\(kind.map { " class=\"\($0)\"" })>\(cells)</tr>"
  }

  static func head(_ content: Markup) -> Self { "<th scope=\"row\">\(content)</th>" }
  static func cell(_ text: String?) -> Self { "<td>\(text ?? "–")</td>" }
  static func code(_ text: String?) -> Self { "<td class=\"mono\">\(text ?? "–")</td>" }
  static func note(_ text: String) -> Self { "<p class=\"note\">\(text)</p>" }
  static func quiet(_ content: Markup) -> Self { "<p class=\"quiet\">\(content)</p>" }
  /// Only for screen readers.
  static func spoken(_ text: String) -> Self { "<span class=\"sr\">\(text)</span>" }

  /// A chain of causes, nearest first.
  static func because(_ causes: some Sequence<String>) -> Self? {
    let items: [Markup] = causes.map { "<li>because \($0)</li>" }
    return items.isEmpty ? nil : "<ol class=\"because\">\(items)</ol>"
  }

  static func commands(_ commands: [ReportCommand]) -> Self {
    let items: [Markup] = commands.map {
      "<li><span class=\"label\">\($0.title)</span><code>\($0.command)</code></li>"
    }
    return "<ul class=\"commands\">\n\(lines: items)</ul>"
  }

  static func problem(_ error: ReportProblem) -> Self {
    """
    <div class="problem">
    <p>\(error.place.map { "<span class=\"mono\">\($0)</span>: " })\
    \(error.message.capitalizedFirst)\(error.cause.map { " (\($0))" }) <code>\(error.code)</code></p>
    \(error.advice.map { "<p class=\"advice\">\($0)</p>" })
    </div>
    """
  }
}

extension String {
  /// The text as the beginning of a sentence.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
