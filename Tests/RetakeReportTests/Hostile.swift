import RetakeCompare

@testable import RetakeReport

/// Labels as an attacker would choose them.
enum Hostile {
  static let labels = [
    "</script><script>document.documentElement.dataset.owned=1</script>",
    "<img src=x onerror=\"document.documentElement.dataset.owned=1\">",
    "<svg onload=document.documentElement.dataset.owned=1>",
    "javascript:document.documentElement.dataset.owned=1",
    "\"\u{301} onmouseover=document.documentElement.dataset.owned=1 x=\"",
    "'\u{301}><\u{338}b>", "<!--<script>", "]]>", "{{{title}}}", "{{#cases}}", "${alert(1)}",
    "\u{1B}[31mred\u{1B}[0m", "\u{1B}]8;;http://example.org\u{7}link\u{1B}]8;;\u{7}",
    "\u{9B}2J", "abc\u{202E}fdp.exe", "line\u{2028}separator\u{2029}", "NUL\u{0}byte",
    "back\u{8}\u{8}space\rreturn\nnewline", "\u{FFFE}\u{FFFF}", "| pipe | `tick` ``` fence",
    "@everyone #123 [link](javascript:alert(1)) ![x](http://example.org/x.png)",
    "&lt;b&gt; &amp; &#0;", "zero\u{200B}width\u{FEFF}", String(repeating: "long ", count: 500),
  ]

  static var joined: String { labels.joined(separator: " ") }

  /// A document with hostile labels in every string that a run can influence.
  static func document() -> ReportDocument {
    var document = ReportDocument(
      tool: ReportTool(name: joined, version: joined), title: joined, exit: ReportExit(code: 1),
      cases: labels.enumerated().map { index, label in hostileCase(label, index) })
    document.exit.word = joined
    document.exit.meaning = joined
    document.generatedAt = joined
    document.environment = labels.map { EnvironmentRow($0, golden: $0, actual: "x" + $0) }
    document.errors = labels.map(problem)
    document.notes = labels
    document.commands = labels.map { ReportCommand($0, $0) }
    return document
  }

  private static func problem(_ label: String) -> ReportProblem {
    ReportProblem(code: label, message: label, cause: label, place: label, advice: label)
  }

  private static func hostileCase(_ label: String, _ index: Int) -> ReportCase {
    var item = Samples.changedCase(session: label, name: label)
    item.pipeline = label
    item.mode = label
    item.reason = label
    item.notes = [label]
    item.checks = [ReportCheck(label, .changed, label), ReportCheck(label, .missing, label)]
    item.commands = [ReportCommand(label, label)]
    item.suspects = [ReportSuspect(kind: label, text: label, golden: label, actual: label)]
    item.headroom[0].measure = label
    item.headroom[0].unit = label
    item.budgets[0].name = label
    item.rootCauses[0].id = label
    item.rootCauses[0].stage = label
    item.rootCauses[0].why = label
    item.rootCauses[0].extent = label
    item.rootCauses[0].commands = [ReportCommand(label, label)]
    item.graph = ReportGraph(
      nodes: [
        ReportNode(id: label, kind: label, status: .rootCause), ReportNode(id: "b", kind: label),
      ],
      edges: [ReportEdge(from: label, to: "b", policy: label, capacity: 3)])
    for place in item.findings.items.indices {
      item.findings.items[place].kind = label
      item.findings.items[place].rootCause = label
      item.findings.items[place].sink = label
      item.findings.items[place].golden = label
      item.findings.items[place].actual = label
      item.findings.items[place].message = label
      item.findings.items[place].unit = label
      item.findings.items[place].boxes[0].label = label
    }
    item.pictures[0].node = label
    item.pictures[0].boxes[0].label = label
    item.decisions?.lines.items[0].actual = label
    item.decisions?.lines.items[0].note = label
    item.ledgers[0].sink = label
    item.ledgers[0].actual?.frames.dropped = [label: 1]
    if index % 3 == 1 { item.error = problem(label) }
    if index % 3 == 2 { item.expected = KnownChange(id: label, url: label) }
    return item
  }
}
