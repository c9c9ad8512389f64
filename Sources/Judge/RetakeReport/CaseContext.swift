import RetakeCore

/// One case in the form that the template needs.
struct CaseContext {
  typealias Values = PageContext.Values

  /// The most root causes of one case that are shown; the others are counted.
  static let rootCausesMax = 20
  /// The most findings and decisions that are shown without the script.
  static let linesMax = 10

  private let item: ReportCase
  private let number: Int
  /// Whether the report has no other case.
  private let isOnly: Bool

  init(_ item: ReportCase, number: Int, isOnly: Bool) {
    self.item = item
    self.number = number
    self.isOnly = isOnly
  }

  private var kind: String { item.expected != nil ? "expected" : item.verdict.key }

  /// The row of the case in the list of cases.
  var row: Values {
    [
      "number": number, "name": item.title, "kind": kind, "verdict": item.verdictWords,
      "mark": Self.mark(kind), "brief": brief,
    ]
  }

  private var brief: String {
    if item.error != nil { return "could not be run" }
    let counts = item.counts
    guard counts.compared > 0 else { return item.verdict.rawValue }
    guard counts.changed > 0 else {
      return Wording.count(counts.compared, "frame")
        + (item.tightest.map { " · \(Wording.used($0))\($0.used == nil ? "" : " used")" } ?? "")
    }
    return "\(Wording.grouped(counts.changed)) of \(Wording.count(counts.compared, "frame"))"
  }

  var values: Values {
    var values = row
    values.merge([
      "index": number - 1, "pipeline": item.pipeline, "mode": item.mode,
      "reason": PageContext.capitalized(item.reason), "run": runText, "hasRun": item.run != nil,
      "hasError": item.error != nil, "error": item.error.map(PageContext.problem) ?? [:],
      "hasExpected": item.expected != nil, "expectedID": item.expected?.id ?? "",
      "expectedLink": Self.link(item.expected?.url),
      "hasLink": !Self.link(item.expected?.url).isEmpty,
      "suspects": item.suspects.map(suspect), "hasSuspects": !item.suspects.isEmpty,
      "caseNotes": item.notes, "caseCommands": item.commands.map(PageContext.command),
      "hasCaseCommands": !item.commands.isEmpty,
    ]) { $1 }
    values.merge(causes) { $1 }
    values.merge(tables) { $1 }
    values.merge(CaseContext.more(item)) { $1 }
    values.merge(CaseContext.sensors(item)) { $1 }
    return values
  }

  // MARK: - Root causes

  private var causes: Values {
    let shown = item.rootCauses.prefix(Self.rootCausesMax)
    let more = item.rootCauses.count - shown.count
    // The cards of root causes show the graph. Without a root cause, no card would show it.
    let alone = item.rootCauses.isEmpty ? graph([], id: "g\(number)") : ""
    return [
      "rootCauses": shown.enumerated().map { rootCause($0.element, index: $0.offset) },
      "moreCauses": more > 0 ? "and \(Wording.count(more, "other root cause"))" : "",
      "hasMoreCauses": more > 0, "aloneGraph": alone, "hasAloneGraph": !alone.isEmpty,
    ]
  }

  private func rootCause(_ cause: ReportRootCause, index: Int) -> Values {
    // `aria-labelledby` of the drawing refers to this id, so it must be unique in the page.
    let drawing = graph(cause.statuses, id: "g\(number)-\(index)")
    let count = item.rootCauses.count
    return [
      "eyebrow": count == 1 ? "Root cause" : "Root cause \(index + 1) of \(count)",
      "frame": cause.frame.map(\.description) ?? "", "hasFrame": cause.frame != nil,
      "time": cause.timeNanoseconds.map(Wording.seconds) ?? "",
      "hasTime": cause.timeNanoseconds != nil, "stage": cause.stage ?? "",
      "hasStage": cause.stage != nil, "hasPlace": cause.stage != nil || cause.frame != nil,
      "comma": cause.stage != nil && cause.frame != nil,
      "why": PageContext.capitalized(cause.why),
      "equalBefore": cause.equalBefore.prefix(12).map(\.self),
      "hasEqual": !cause.equalBefore.isEmpty, "weight": cause.weight, "drawing": drawing,
      "hasDrawing": !drawing.isEmpty, "causeCommands": cause.commands.map(PageContext.command),
      "causeID": cause.id,
    ]
  }

  private func graph(_ statuses: [NodeStatus], id: String) -> String {
    guard let graph = item.graph else { return "" }
    // For a graph that is too large to draw, the words still say which nodes are not equal.
    return GraphDrawing.svg(graph, statuses: statuses, id: id)
      ?? GraphDrawing.list(graph, statuses: statuses)
  }

  private func suspect(_ suspect: ReportSuspect) -> Values {
    [
      "suspectText": PageContext.capitalized(suspect.text), "suspectGolden": suspect.golden ?? "",
      "suspectActual": suspect.actual ?? "",
      // The sentence about a changed pipeline already contains both values.
      "hasTexts": suspect.place == nil && (suspect.golden != nil || suspect.actual != nil),
    ]
  }

  private var runText: String {
    guard let run = item.run else { return "" }
    var parts = [Wording.count(run.workers, "worker")]
    // The head of the page has the speed of the test, which also compares: next to it, the speed of
    // its only replay would read as a contradiction.
    if !isOnly { parts.append(Wording.speed(run.framesPerSecond)) }
    let costs = run.costsRecorded + run.costsModelled
    if costs > 0, run.costsRecorded > 0 {
      let share = Double(run.costsRecorded) * 100 / Double(costs)
      parts.append("costs \(Wording.number(share, places: 0)) % recorded")
    }
    if let live = run.live { parts.append("next to live run \(live.run): \(live)") }
    return parts.joined(separator: ", ")
  }

  // MARK: - Tables

  private var tables: Values {
    let ledgers = item.ledgers.map(ledger)
    let headroom = item.headroom.map(headroom) + item.budgets.map(budget)
    let lines = item.decisions?.lines.items ?? []
    let digests = [("decisions", item.decisionDigest), ("results", item.resultDigest)]
      .compactMap { name, pair in pair.map { Self.pair(name, $0) } }
    return [
      "ledgers": ledgers, "hasLedgers": !ledgers.isEmpty, "headroom": headroom,
      "hasHeadroom": !headroom.isEmpty, "digests": digests, "hasDigests": !digests.isEmpty,
      "hasFindings": !item.findings.items.isEmpty, "hasFrames": hasFrames,
      "findingsTotal": Wording.count(item.findings.total, "finding"),
      "findings": item.findings.items.prefix(Self.linesMax).map(finding),
      "hasDecisions": item.decisions != nil, "decisionsText": decisionsText,
      "decisions": lines.prefix(Self.linesMax).map(decision),
      "counts": [
        ("compared", item.counts.compared), ("the same", item.counts.same),
        (Wording.within([item]), item.counts.withinTolerance), ("changed", item.counts.changed),
      ].map { ["countName": $0.0, "count": Wording.grouped($0.1)] },
      "hasCounts": item.counts.compared > 0,
    ]
  }

  private var hasFrames: Bool {
    !item.findings.items.isEmpty || !item.pictures.isEmpty || !item.timelines.isEmpty
  }

  private func finding(_ finding: ReportFinding) -> Values {
    [
      "at": finding.frame.map(\.description) ?? "–", "message": finding.message,
      "goldenText": finding.golden ?? "–", "actualText": finding.actual ?? "–",
    ].merging(Self.because(finding.because)) { $1 }
  }

  private var decisionsText: String {
    guard let decisions = item.decisions else { return "" }
    return
      "\(Wording.grouped(decisions.added)) added, \(Wording.grouped(decisions.removed)) removed, "
      + "\(Wording.grouped(decisions.moved)) moved, \(Wording.grouped(decisions.changed)) changed"
  }

  private func decision(_ line: DecisionDifference) -> Values {
    [
      "change": line.change.rawValue, "goldenLine": line.golden ?? "",
      "actualLine": line.actual ?? "",
      "lineNote": line.note ?? "",
    ].merging(Self.because(line.because)) { $1 }
  }

  /// A chain of causes, nearest first.
  static func because(_ causes: [String]) -> Values {
    ["because": causes, "hasBecause": !causes.isEmpty]
  }

  private func ledger(_ pair: LedgerPair) -> Values {
    // The reasons of both sides, so that a row has the same index in both.
    let reasons = pair.reasons
    let golden = pair.golden?.rows(reasons: reasons)
    let actual = pair.actual?.rows(reasons: reasons)
    let names = (actual ?? golden ?? []).map(\.name)
    let rows = names.indices.compactMap { place -> Values? in
      let (left, right) = (golden?[place].count, actual?[place].count)
      guard left ?? 0 != 0 || right ?? 0 != 0 else { return nil }
      // A side may be absent, and then there is no difference to show.
      let difference = left.flatMap { left in right.map { $0 - left } } ?? 0
      return [
        "ledgerName": names[place], "goldenCount": left.map(Wording.grouped) ?? "–",
        "actualCount": right.map(Wording.grouped) ?? "–", "ledgerDiffers": difference != 0,
        "difference": difference > 0
          ? "+\(Wording.grouped(difference))" : difference < 0 ? Wording.grouped(difference) : "",
      ]
    }
    let place = [pair.sink.map { "sink \($0)" }, pair.track.map { "track \($0)" }]
    return ["ledgerTitle": place.compactMap(\.self).joined(separator: ", "), "ledgerRows": rows]
  }

  private func headroom(_ row: Headroom) -> Values {
    let unit = row.unit.map { " \($0)" } ?? ""
    return Self.measure(
      row.measure, "\(Wording.number(row.largest))\(unit) of \(Wording.number(row.allowed))\(unit)",
      used: Wording.used(row), share: row.used ?? (row.largest == 0 ? 0 : 2))
  }

  private func budget(_ row: ReportBudget) -> Values {
    let unit = row.unit.map { " \($0)" } ?? ""
    // `met` was decided in integer units. The quotient of the Doubles may round to the other side
    // of 1, and the bar must not contradict the word.
    let share = row.limit > 0 && row.actual.isFinite ? row.actual / row.limit : row.met ? 0 : 2
    return Self.measure(
      "budget: \(row.name)",
      "\(Wording.number(row.actual))\(unit) of \(Wording.number(row.limit))\(unit)",
      used: row.met ? "met" : "exceeded", share: row.met ? min(share, 1) : max(share, 1.01))
  }

  private static func measure(
    _ name: String, _ amount: String, used: String, share: Double
  ) -> Values {
    let width = share.isFinite ? min(max(share, 0), 1) * 100 : 100
    return [
      "measure": name, "amount": amount, "used": used, "share": Wording.number(width, places: 1),
      // Negated, because NaN fails each comparison: a share that is not a number is over.
      "over": !(share <= 1),
    ]
  }

  private static func pair(_ name: String, _ pair: TextPair) -> Values {
    [
      "digestName": name, "goldenDigest": pair.golden ?? "–", "actualDigest": pair.actual ?? "–",
      "digestDiffers": pair.golden != pair.actual,
    ]
  }

  static func mark(_ kind: String) -> String {
    switch kind {
    case "passed": "✓"
    case "changed": "✕"
    case "expected": "~"
    case "missing": "?"
    case "stale": "○"
    case "notComparable": "≠"
    default: "!"
    }
  }

  /// Only web addresses become links.
  static func link(_ url: String?) -> String {
    guard let url, url.hasPrefix("https://") || url.hasPrefix("http://") else { return "" }
    return url
  }
}
