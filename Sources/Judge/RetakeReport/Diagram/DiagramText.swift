import RetakeCore

/// The space that the labels of a box need.
enum DiagramText {
  static let lineHeight = 15
  static let margin = 12
  private static let widthMax = 230
  private static let widthMin = 108

  /// The title, the kind, the facts on lines of their own, and a line for executor and pool.
  static func size(of box: PipelineDiagram.Box) -> LayeredLayout.Size {
    let facts = factLines(of: box)
    let widest =
      [width(title(of: box), size: 13, isBold: true), width(kind(of: box), size: 11)]
      + facts.map { width($0, size: 11) } + [chipsWidth(of: box)]
    let ports = box.ports
    let names = ports.map { width($0.visible(limit: 20), size: 11) + margin }
    var height = 44 + facts.count * lineHeight + (facts.isEmpty ? 0 : 2)
    if !chips(of: box).isEmpty { height += 22 }
    if !ports.isEmpty { height += ports.count * portHeight + portsBottom - 4 }
    return .init(
      width: min(widthMax, max(widthMin, (widest + names).max().map { $0 + 2 * margin + 4 } ?? 0)),
      height: height)
  }

  static let portHeight = 18
  /// The space below the last port.
  static let portsBottom = 8

  static func title(of box: PipelineDiagram.Box) -> String { box.title.visible(limit: 26) }

  static func kind(of box: PipelineDiagram.Box) -> String {
    [box.kind, box.role.word].compactMap { $0 }.joined(separator: " · ").visible(limit: 34)
  }

  /// As many facts per line as fit.
  static func factLines(of box: PipelineDiagram.Box) -> [String] {
    var lines: [String] = []
    for fact in box.facts {
      if let last = lines.last, last.count + fact.count + 3 <= 24 {
        lines[lines.count - 1] = "\(last) · \(fact)"
      } else {
        lines.append(fact.visible(limit: 30))
      }
    }
    return lines
  }

  static func chips(of box: PipelineDiagram.Box) -> [(name: String, isPool: Bool)] {
    [box.executor.map { ($0, false) }, box.pool.map { ($0, true) }].compactMap { $0 }
  }

  static func chipWidth(_ name: String) -> Int { width(name.visible(limit: 14), size: 10) + 28 }

  private static func chipsWidth(of box: PipelineDiagram.Box) -> Int {
    let chips = chips(of: box)
    return chips.reduce(0) { $0 + chipWidth($1.name) + 6 }
  }

  /// An estimated width, slightly more than most letters need.
  static func width(_ text: String, size: Int, isBold: Bool = false) -> Int {
    // Estimated, because the viewer's font is unknown.
    let perLetter = isBold ? 0.62 : 0.56
    return Int((Double(text.count) * Double(size) * perLetter).rounded(.up))
  }
}
