import RetakeCompare

/// One case on the page, as HTML that needs no script.
struct CaseMarkup {
  /// The most root causes of one case that are shown; the others are counted.
  static let rootCausesMax = 20
  /// The most findings and decisions that are shown without the script.
  static let linesMax = 10
  /// The most groups of decisions that are shown without the script.
  static let groupsMax = 40
  /// The most commands that accept, one per root cause.
  static let acceptMax = 20
  /// The most strips of one case; a report that was altered could have any number.
  static let stripsMax = 12

  let item: ReportCase
  let number: Int
  /// Whether the report has no other case.
  let isOnly: Bool

  private var kind: String { item.expected != nil ? "expected" : item.verdict.key }

  private var mark: String {
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

  /// The row of the case in the list of cases.
  var row: Markup {
    """
    <li data-kind="\(kind)"><a href="#case-\(number)">\
    <span class="mark \(kind)" aria-hidden="true">\(mark)</span><span class="names">\
    <bdi class="name">\(item.title)</bdi><span class="brief">\
    \(.spoken("\(item.verdictWords), "))\(brief)</span></span></a></li>
    """
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

  var article: Markup {
    """
    <article class="case" id="case-\(number)" data-index="\(number - 1)" \
    aria-labelledby="title-\(number)">
    <header>
    <p class="verdict \(kind)"><span aria-hidden="true">\(mark)</span> \(item.verdictWords)</p>
    <h2 id="title-\(number)" tabindex="-1"><bdi>\(item.title)</bdi></h2>
    <p class="quiet">pipeline <bdi class="strong">\(item.pipeline)</bdi>, <bdi>\(item.mode)</bdi>\
    \(item.run.map { ", \(describe($0))" })</p>
    </header>
    <p class="reason">\(item.reason.capitalizedFirst)</p>
    \(item.expected.map(known))
    \(item.labels.map { Markup.quiet("Labels: \($0.text)") })
    \(lines: [item.error.map(Markup.problem)] + rootCauses)\
    \(moreRootCauses)
    \(aloneGraph)
    \(lines: [suspects, inspector, item.labels.map { LabelMarkup(labels: $0).section }])\
    \(lines: [sensors, decisions, tracks])\
    <div class="columns">
    \(lines: [counts] + item.ledgers.map(ledger) + [tolerances, digests])</div>
    \(lines: [accept, next])\
    \(item.notes.map(Markup.note))
    <details class="raw needs-script"><summary>This case as JSON</summary>\
    <pre class="mono"></pre></details>
    </article>
    """
  }

  private func describe(_ run: ReportRun) -> String {
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

  private func known(_ mark: KnownChange) -> Markup {
    let link = Self.link(mark.url).map { url -> Markup in
      ": <a href=\"\(url)\" rel=\"noopener noreferrer\">\(url)</a>"
    }
    return "<p class=\"note\">Known as <bdi class=\"strong\">\(mark.id)</bdi>\(link)</p>"
  }

  /// Only web addresses become links.
  static func link(_ url: String?) -> String? {
    url.flatMap { $0.hasPrefix("https://") || $0.hasPrefix("http://") ? $0 : nil }
  }

  // MARK: - Root causes

  private var rootCauses: [Markup?] {
    item.rootCauses.prefix(Self.rootCausesMax).enumerated().map {
      rootCause($0.element, index: $0.offset)
    }
  }

  private var moreRootCauses: Markup? {
    let more = item.rootCauses.count - Self.rootCausesMax
    return more > 0 ? .note("and \(Wording.count(more, "other root cause"))") : nil
  }

  private func rootCause(_ cause: ReportRootCause, index: Int) -> Markup {
    let count = item.rootCauses.count
    let eyebrow = count == 1 ? "Root cause" : "Root cause \(index + 1) of \(count)"
    let hasPlace = cause.stage != nil || cause.frame != nil
    let equal = cause.equalBefore.prefix(12).map { node -> Markup in
      "<span class=\"equal\"><bdi>\(node)</bdi></span> "
    }
    return """
      <section class="card cause" data-frame="\(cause.frame?.description ?? "")" \
      aria-label="\(eyebrow)\(cause.stage.map { ": stage \($0)" })">
      <p class="eyebrow">\(eyebrow)</p>
      <h3>\(hasPlace ? "First divergence" : "The entire run")\
      \(cause.frame.map { " at frame <b class=\"number\">\($0.description)</b>" })\
      \(if: cause.stage != nil && cause.frame != nil, ",")\
      \(cause.stage.map { " stage <b class=\"stage\">\($0)</b>" })</h3>
      <p class="why">\(cause.why.capitalizedFirst).</p>
      \(if: !equal.isEmpty, "<p class=\"quiet equals\">Equal before it: \(equal)</p>")
      <p class="quiet">\(cause.timeNanoseconds.map { "Virtual time \(Wording.seconds($0)) · " })\
      \(cause.weight)</p>
      \(graph(cause.statuses, id: "g\(number)-\(index)"))
      \(.commands(cause.commands))
      </section>
      """
  }

  /// The cards of root causes show the graph. Without a root cause nothing else would.
  private var aloneGraph: Markup? {
    guard item.rootCauses.isEmpty else { return nil }
    return graph([], id: "g\(number)").map {
      "<section class=\"card\" aria-label=\"Pipeline\">\($0)</section>"
    }
  }

  /// - Parameter id: Unique in the page, because `aria-labelledby` of the drawing refers to it.
  private func graph(_ statuses: [NodeStatus], id: String) -> Markup? {
    guard let graph = item.graph else { return nil }
    // For a graph that is too large to draw, the words still say which nodes are not equal.
    let drawing =
      GraphDrawing.svg(graph, statuses: statuses, id: id)
      ?? GraphDrawing.list(graph, statuses: statuses)
    return drawing.isEmpty ? nil : .scroll("Graph of the pipeline", "\(trusted: drawing)")
  }

  private var suspects: Markup? {
    guard !item.suspects.isEmpty else { return nil }
    return .section(
      "Suspected causes", class: "suspects", title: "Also changed, and possibly why",
      ["<ul>\n\(lines: item.suspects.map(suspect))</ul>"])
  }

  private func suspect(_ suspect: ReportSuspect) -> Markup {
    // The sentence about a changed pipeline already contains both values.
    let hasTexts = suspect.place == nil && (suspect.golden != nil || suspect.actual != nil)
    let pair: Markup = """
      <span class="pair"><span class="golden">\(suspect.golden ?? "")</span> \
      <span aria-label="became">→</span> <span class="actual">\(suspect.actual ?? "")</span></span>
      """
    return "<li><bdi>\(suspect.text.capitalizedFirst)</bdi>\(if: hasTexts, pair)</li>"
  }

  // MARK: - Frames, sensors and decisions

  private var inspector: Markup? {
    let findings = item.findings.items
    guard !findings.isEmpty || !item.pictures.isEmpty || !item.timelines.isEmpty else { return nil }
    let table = Markup.scrollingTable(
      "First findings", heads: ["Frame", "Finding", "Golden", "Actual"],
      findings.prefix(Self.linesMax).map {
        .row(
          .code($0.frame?.description), "<td>\($0.message)\(.because($0.because))</td>",
          .code($0.golden), .code($0.actual))
      })
    return .section(
      "Frame inspector", class: "card inspector", title: "Frames",
      [.quiet("\(Wording.count(item.findings.total, "finding"))"), table])
  }

  /// The curves of sensors around frames, each with a legend.
  var sensors: Markup? {
    guard let strips = item.sensors?.prefix(Self.stripsMax), !strips.isEmpty else { return nil }
    let text =
      "A second before and after each frame, which is in the middle. "
      + "The band is the input of the stage."
    return .section(
      "Sensors around the frames", class: "card sensors", title: "Sensors around the frames",
      [.quiet("\(text)")] + strips.map(sensor))
  }

  private func sensor(_ strip: ReportSensorStrip) -> Markup {
    let unit = strip.unit.map { " \($0)" } ?? ""
    let range = SensorDrawing.range(strip).map {
      "\(Wording.number($0.lowerBound)) to \(Wording.number($0.upperBound))\(unit)"
    }
    let legend = strip.curves.prefix(3).enumerated().map { place, curve -> Markup in
      " <span class=\"legend curve-\(place)\"><bdi>\(curve.channel)</bdi></span>"
    }
    return """
      <figure><figcaption><b class="mono">\(strip.frame.description)</b> \
      <bdi>\(strip.sensor)</bdi> <span class="quiet">read by <bdi>\(strip.node)</bdi>, \
      \(range ?? "no numbers")</span>\(legend)</figcaption>\
      \(trusted: SensorDrawing.svg(strip))</figure>
      """
  }

  var decisions: Markup? {
    guard let decisions = item.decisions else { return nil }
    let counts = [
      (decisions.added, "added"), (decisions.removed, "removed"), (decisions.moved, "moved"),
      (decisions.changed, "changed"),
    ].map { "\(Wording.grouped($0)) \($1)" }
    let lines = Markup.scrollingTable(
      "Decision lines", class: "lines scroll", heads: ["Change", "Golden", "Actual", "Note"],
      decisions.lines.items.prefix(Self.linesMax).map {
        .row(
          Self.change($0.change), .code($0.golden ?? ""), .code($0.actual ?? ""),
          "<td>\($0.note ?? "")\(.because($0.because))</td>")
      })
    return .section(
      "Decision differences", class: "card decisions", title: "Decisions",
      [.quiet("\(counts.joined(separator: ", "))")] + groups(decisions)
        + ["<h4>Line by line</h4>", lines])
  }

  private func groups(_ decisions: DecisionDifferences) -> [Markup?] {
    guard !decisions.groups.isEmpty else { return [] }
    let left = decisions.groupCount - Self.groupsMax
    let table = Markup.scrollingTable(
      "Decision differences in groups", tableClass: "groups",
      heads: ["Change", "What", "Frames", "Lines", "By how much"],
      decisions.groups.prefix(Self.groupsMax).map(Self.group))
    return [table, left > 0 ? .quiet("and \(Wording.count(left, "other group"))") : ""]
  }

  private static func group(_ group: DecisionGroup) -> Markup {
    let frames = group.first.map { first in
      group.last.map { $0 == first ? "\(first)" : "\(first) to \($0)" } ?? "\(first)"
    }
    // Only the nearest cause is shown; the list of lines has the whole chain.
    return .row(
      change(group.change), .code("\(group.kind) at \(group.node)"), .code(frames),
      .cell(Wording.grouped(group.count)),
      "<td>\(group.note ?? "")\(.because(group.because.prefix(1)))</td>")
  }

  private static func change(_ change: DecisionDifference.Change) -> Markup {
    "<td class=\"change \(change.rawValue)\">\(change.rawValue)</td>"
  }

  // MARK: - Figures

  private var tracks: Markup? {
    guard !item.tracks.isEmpty else { return nil }
    let table = Markup.scrollingTable(
      "Tracks of the session", tableClass: "figures",
      heads: ["Track", "Frames", "Size", "Time base", "Findings"],
      item.tracks.map { track in
        let findings = item.findings.items.count { $0.frame?.track == track.track }
        return .row(
          .head("\(track.track)"), .cell(Wording.grouped(track.frames)),
          .cell("\(track.width) × \(track.height)"), .cell(track.timeBase?.description),
          .cell(Wording.grouped(findings)))
      })
    return .section("Tracks", class: "card tracks", title: "Tracks", [table])
  }

  private var counts: Markup? {
    guard item.counts.compared > 0 else { return nil }
    let rows = [
      ("compared", item.counts.compared), ("the same", item.counts.same),
      (Wording.within([item]), item.counts.withinTolerance), ("changed", item.counts.changed),
    ].map { Markup.row(.head("\($0)"), .cell(Wording.grouped($1))) }
    return .section(
      "Frames compared", class: "card", title: "Compared", [.headlessTable("figures", rows)])
  }

  func ledger(_ pair: LedgerPair) -> Markup {
    // The reasons of both sides, so that a row has the same index in both.
    let golden = pair.golden?.rows(reasons: pair.reasons)
    let actual = pair.actual?.rows(reasons: pair.reasons)
    let names = (actual ?? golden ?? []).map(\.name)
    let rows = names.indices.compactMap {
      ledgerRow(names[$0], golden?[$0].count, actual?[$0].count)
    }
    let place = [pair.sink.map { "sink \($0)" }, pair.track.map { "track \($0)" }]
      .compactMap(\.self).joined(separator: ", ")
    return .section(
      "Ledger", class: "card", title: "Ledger <span class=\"quiet\">\(place)</span>",
      [
        .table(
          "figures", heads: [.spoken("Fate"), "Golden", "Actual", .spoken("Difference")], rows)
      ])
  }

  private func ledgerRow(_ name: String, _ golden: Int?, _ actual: Int?) -> Markup? {
    guard golden ?? 0 != 0 || actual ?? 0 != 0 else { return nil }
    // A side may be absent, and then there is no difference to show.
    let difference = golden.flatMap { golden in actual.map { $0 - golden } } ?? 0
    let words = difference == 0 ? "" : (difference > 0 ? "+" : "") + Wording.grouped(difference)
    return .row(
      class: difference != 0 ? "differs" : nil, .head("\(name)"),
      .cell(golden.map(Wording.grouped)), .cell(actual.map(Wording.grouped)),
      "<td class=\"delta\">\(words)</td>")
  }

  private var tolerances: Markup? {
    let rows = item.headroom.map(headroom) + item.budgets.map(budget)
    guard !rows.isEmpty else { return nil }
    let table = Markup.table(
      "figures", heads: [.spoken("Measure"), "Largest of allowed", "Used"], rows)
    let rules = item.tolerances.map {
      Markup.row(.head("<bdi>\($0.sink)</bdi>"), .cell($0.rule))
    }
    return .section(
      "Tolerances and budgets", class: "card", title: "Tolerances and budgets",
      rules.isEmpty
        ? [table]
        : [table, "<h4>What golden.yml allows</h4>", .headlessTable("figures rules", rules)])
  }

  private func headroom(_ row: Headroom) -> Markup {
    measure(
      row.measure, row.largest, of: row.allowed, row.unit, used: Wording.used(row),
      share: row.used ?? (row.largest == 0 ? 0 : 2))
  }

  private func budget(_ row: ReportBudget) -> Markup {
    // `met` was decided in integer units. The quotient of the Doubles may round to the other side
    // of 1, and the bar must not contradict the word.
    let share = row.limit > 0 && row.actual.isFinite ? row.actual / row.limit : row.met ? 0 : 2
    return measure(
      "budget: \(row.name)", row.actual, of: row.limit, row.unit,
      used: row.met ? "met" : "exceeded", share: row.met ? min(share, 1) : max(share, 1.01))
  }

  private func measure(
    _ name: String, _ value: Double, of limit: Double, _ unit: String?, used: String, share: Double
  ) -> Markup {
    let unit = unit.map { " \($0)" } ?? ""
    let width = share.isFinite ? min(max(share, 0), 1) * 100 : 100
    let bar: Markup = """
      <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">\
      <rect class="rail" width="100" height="4"/>\
      <rect class="fill" width="\(Wording.number(width, places: 1))" height="4"/></svg>
      """
    // Negated, because NaN fails each comparison: a share that is not a number is over.
    return .row(
      class: !(share <= 1) ? "over" : nil, .head("<bdi>\(name)</bdi>\(bar)"),
      .cell("\(Wording.number(value))\(unit) of \(Wording.number(limit))\(unit)"), .cell(used))
  }

  private var digests: Markup? {
    let rows = [("decisions", item.decisionDigest), ("results", item.resultDigest)]
      .compactMap { name, pair in pair.map { digest(name, $0) } }
    guard !rows.isEmpty else { return nil }
    return .section(
      "Digests", class: "card", title: "Digests", [.headlessTable("figures digests", rows)])
  }

  private func digest(_ name: String, _ pair: TextPair) -> Markup {
    let differs = pair.golden != pair.actual
    let golden: Markup = "<code>\(pair.golden ?? "–")</code>"
    let both: Markup = """
      <span class="quiet">golden</span> \(golden)<br><span class="quiet">actual</span> \
      <code>\(pair.actual ?? "–")</code>
      """
    return .row(
      class: differs ? "differs" : nil, .head("\(name)"), "<td>\(differs ? both : golden)</td>")
  }

  // MARK: - Commands

  private var accept: Markup? {
    let commands = Self.acceptCommands(item)
    guard !commands.isEmpty else { return nil }
    let last = item.accepted.map { "\($0.reason) (\($0.at))" }
    let text: Markup = """
      If the new result is right, it becomes the golden, with a reason. \
      \(last.map { "The golden of now: \($0)" })
      """
    return .section(
      "Accept", class: "card accept", title: "Accept", [.quiet(text), .commands(commands)])
  }

  /// The commands that accept this case: one for each root cause, or one for all of them.
  static func acceptCommands(_ item: ReportCase) -> [ReportCommand] {
    var commands: [ReportCommand] = []
    for cause in item.rootCauses.prefix(acceptMax) {
      guard let command = cause.commands.first(where: \.accepts),
        !commands.contains(where: { $0.command == command.command })
      else { continue }
      commands.append(ReportCommand(cause.id, command.command))
    }
    if commands.count == 1, item.rootCauses.count > 1 {
      commands[0].title = "all \(item.rootCauses.count) root causes"
    }
    // Without a root cause, as for a missing golden, the case itself has the command.
    return commands.isEmpty ? item.commands.filter(\.accepts) : commands
  }

  private var next: Markup? {
    guard !item.commands.isEmpty else { return nil }
    return .section("Next commands", class: "card", title: "Next", [.commands(item.commands)])
  }
}
