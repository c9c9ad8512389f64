import RetakeCore

/// The values for the page's template.
///
/// Every key that a section uses is always present: Mustache would look for a missing key in the
/// outer sections.
struct PageContext {
  typealias Values = [String: Any]

  let values: Values

  init(data: PageData, json: [UInt8], served: HTMLReport.Served? = nil) {
    let document = data.document
    // Numbered before they are sorted: the anchors, and the page's script, count in the order of
    // the document.
    let cases = document.cases.enumerated().map {
      CaseContext($0.element, number: $0.offset + 1, isOnly: document.cases.count == 1)
    }
    let order = ReportCase.readingOrder(document.cases)
    var notes = document.notes + data.notes
    // Here and not in `PageData`, because the size is known only after the document was encoded.
    if json.count > PageData.pageBytesWarning {
      notes.append("This page is larger than 50 MB and slow to open; try the command report serve.")
    }
    values = [
      "served": served != nil, "servedRoot": served?.root ?? "",
      // The page's script reads it from an attribute, which is a string.
      "canAccept": served?.canAccept ?? false ? "yes" : "no", "program": served?.program ?? "",
      "title": document.title.visible(limit: 120), "styleHash": HTMLReport.styleHash,
      "scriptHash": HTMLReport.scriptHash, "style": HTMLReport.style, "script": HTMLReport.script,
      "json": String(decoding: json, as: UTF8.self),
      "tool": "\(document.tool.name) \(document.tool.version)".visible(limit: 120),
      "generatedAt": (document.generatedAt ?? "").visible(limit: 60),
      "exitCode": document.exit.code,
      "exitWord": Self.capitalized(document.exit.shownWord.visible(limit: 60)),
      "exitMeaning": document.exit.meaning,
      "exitClass": Self.exitClass(document.exit.code),
      "facts": Self.facts(document), "frameFacts": Self.frameFacts(document),
      "hasFrameFacts": document.totals.frames > 0, "single": cases.count == 1,
      "several": cases.count > 1,
      "rows": order.map { cases[$0].row }, "cases": order.map { cases[$0].values },
      "problems": document.errors.map(Self.problem), "notes": notes,
      "commands": document.commands.map(Self.command),
      "hasCommands": !document.commands.isEmpty,
      "environment": document.environment.map(Self.environment),
      "hasEnvironment": !document.environment.isEmpty,
    ]
  }

  private static func facts(_ document: ReportDocument) -> [Values] {
    var facts = document.counts.rows.filter { $0.count > 0 }.map { row -> Values in
      ["number": Wording.grouped(row.count), "word": row.word, "kind": row.key]
    }
    let frames = document.totals.frames
    facts.append(
      [
        "number": Wording.grouped(frames),
        "word": frames == 1 ? "frame compared" : "frames compared",
        "kind": "plain",
      ])
    if let speed = document.totals.framesPerSecond {
      let text = Wording.speed(speed).replacing(" frames/s", with: "")
      facts.append(["number": text, "word": "frames/s", "kind": "plain"])
    }
    return facts
  }

  /// The number of frames by result, over all cases.
  private static func frameFacts(_ document: ReportDocument) -> [Values] {
    func sum(_ count: KeyPath<ComparedCounts, Int>) -> Int {
      document.cases.reduce(0) { $0 + $1.counts[keyPath: count] }
    }
    let within = Wording.within(document.cases)
    return [
      (sum(\.same), "the same", "passed"), (sum(\.withinTolerance), within, "passed"),
      (sum(\.changed), "changed", "changed"),
    ].map { count, word, kind in
      [
        "number": Wording.grouped(count), "word": count == 1 ? "frame \(word)" : "frames \(word)",
        "kind": count == 0 ? "plain" : kind,
      ]
    }
  }

  static func exitClass(_ code: Int) -> String {
    switch code {
    case 0: "passed"
    case 1: "changed"
    case 2: "errored"
    default: "missing"
    }
  }

  static func problem(_ error: ReportProblem) -> Values {
    [
      "code": error.code, "message": capitalized(error.message), "cause": error.cause ?? "",
      "hasCause": error.cause != nil, "place": error.place ?? "", "hasPlace": error.place != nil,
      "advice": error.advice ?? "", "hasAdvice": error.advice != nil,
    ]
  }

  static func command(_ command: ReportCommand) -> Values {
    ["label": command.title, "text": command.command]
  }

  private static func environment(_ row: EnvironmentRow) -> Values {
    [
      "name": row.name, "golden": row.golden ?? "–", "actual": row.actual ?? "–",
      "differs": row.differs,
    ]
  }

  static func capitalized(_ text: String) -> String {
    guard let first = text.first else { return text }
    return first.uppercased() + text.dropFirst()
  }
}
