package import RetakeCore

/// The report as one HTML file that opens from disk and makes no network requests.
///
/// Verdicts, root causes, graphs and commands are plain HTML. The page's own script creates the
/// frame inspector, the timeline and the tables of findings from the embedded document. The page
/// allows only one script and one style, each identified by its hash.
package enum HTMLReport {
  /// Additional properties of a page that a server with access to the sessions serves.
  package struct Served: Hashable, Sendable {
    /// The address of the server's first page without the host: `/TOKEN/`.
    package var root: String
    /// Whether the page may request an acceptance.
    package var canAccept: Bool
    /// The name of the server's program in commands to type.
    package var program: String

    package init(root: String, canAccept: Bool, program: ProgramName = .retake) {
      self.root = root
      self.canAccept = canAccept
      self.program = program.word
    }
  }

  /// The page as UTF-8 bytes.
  ///
  /// - Parameter served: `nil` for a page that opens from disk and makes no requests.
  package static func render(
    _ document: ReportDocument, served: Served? = nil
  ) throws -> [UInt8] {
    let data = PageData(document)
    return Array(page(data, json: try data.embedded(), served: served).html.utf8)
  }

  /// SHA-256 of the style and the script as they are in the page, in base64.
  static let styleHash = EmbeddedResources.pageCSSHash
  static let scriptHash = EmbeddedResources.pageJSHash

  /// The policy of a served page: the page's own policy, and no page may embed it in a frame.
  package static let servedPolicy =
    "default-src 'none'; img-src data: 'self'; connect-src 'self'; "
    + "style-src 'sha256-\(styleHash)'; script-src 'sha256-\(scriptHash)'; base-uri 'none'; "
    // Browsers ignore `frame-ancestors` in a meta element (Content Security Policy Level 3), so
    // only a served page, whose policy is also a header, can have it.
    + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    + "trusted-types 'none'"

  /// The anchor of a document's case on the page: the part of the address after `#`.
  package static func anchor(ofCase index: Int) -> String { "case-\(index + 1)" }

  package static let style = EmbeddedResources.pageCSS
  static let script = EmbeddedResources.pageJS

  // MARK: - The page

  private static func page(_ data: PageData, json: [UInt8], served: Served?) -> Markup {
    let document = data.document
    var notes = document.notes + data.notes
    // Here and not in `PageData`, because the size is known only after the document was encoded.
    if json.count > PageData.pageBytesWarning {
      notes.append("This page is larger than 50 MB and slow to open; try the command report serve.")
    }
    let title = document.title.visible(limit: 120)
    let word = document.exit.shownWord.visible(limit: 60).capitalizedFirst
    return """
      <!DOCTYPE html>
      <html lang="en"\(served.map(attributes))>
      \(head("\(word) · \(title)", isServed: served != nil, hasFiles: data.hasImageFiles))
      <body>
      <a class="skip" href="#detail">Skip to the cases</a>
      \(banner(document, word, title, root: served?.root))
      <div class="wide body\(if: document.cases.count == 1, " single")">
      \(cases(document.cases))
      </div>
      \(footer(document, notes, hasFiles: data.hasImageFiles))
      <div class="sr" id="said" role="status" aria-live="polite"></div>
      <script type="application/json" id="data">\(trusted: String(decoding: json, as: UTF8.self))\
      </script>
      <script>\(trusted: script)</script>
      </body>
      </html>

      """
  }

  /// The attributes that the page's script reads.
  private static func attributes(_ served: Served) -> Markup {
    """
     data-served="\(served.root)" data-accepts="\(served.canAccept ? "yes" : "no")" \
    data-program="\(served.program)"
    """
  }

  private static func head(_ title: Markup, isServed: Bool, hasFiles: Bool) -> Markup {
    """
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:\
    \(if: isServed || hasFiles, " 'self'")\(if: isServed, "; connect-src 'self'"); style-src 'sha256-\(styleHash)'; \
    script-src 'sha256-\(scriptHash)'; base-uri 'none'; form-action 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta name="color-scheme" content="light dark">
    \(if: isServed, "<link rel=\"icon\" href=\"data:,\">")<title>\(title)</title>
    <style>\(trusted: style)</style>
    </head>
    """
  }

  private static func banner(
    _ document: ReportDocument, _ word: String, _ title: String, root: String?
  ) -> Markup {
    let hasFrames = document.totals.frames > 0
    return """
      <header class="banner \(exitClass(document.exit.code))">
      <div class="wide">
      <div class="top">
      <p class="product">\(root.map { "<a href=\"\($0)\">" })<b>Retake</b>\
      \(if: root != nil, "</a>") <bdi>\(title)</bdi></p>
      <p class="quiet"><bdi>\((document.generatedAt ?? "").visible(limit: 60))</bdi></p>
      <button type="button" class="needs-script" id="theme" data-theme="auto">Theme: auto</button>
      <button type="button" class="needs-script" id="download">Save as JSON</button>
      </div>
      <h1>\(word) <span class="exit">exit code \(document.exit.code)</span></h1>
      <p class="meaning">\(document.exit.meaning)</p>
      <ul class="facts" aria-label="Counts">
      \(lines: facts(document))</ul>
      \(lines: hasFrames ? [frameFacts(document.cases)] : [])\
      \(lines: document.errors.map(Markup.problem))\
      </div>
      </header>
      """
  }

  static func exitClass(_ code: Int) -> String {
    switch code {
    case 0: "passed"
    case 1: "changed"
    case 2: "errored"
    default: "missing"
    }
  }

  private static func facts(_ document: ReportDocument) -> [Markup] {
    let frames = document.totals.frames
    let speed = document.totals.framesPerSecond.map {
      fact(Wording.speed($0).replacing(" frames/s", with: ""), "frames/s")
    }
    return document.counts.rows.filter { $0.count > 0 }
      .map { fact(Wording.grouped($0.count), $0.word, $0.key) }
      + [fact(Wording.grouped(frames), frames == 1 ? "frame compared" : "frames compared")]
      + [speed].compactMap(\.self)
  }

  private static func fact(_ number: String, _ word: String, _ kind: String = "plain") -> Markup {
    "<li class=\"\(kind)\"><b>\(number)</b> \(word)</li>"
  }

  /// The number of frames by result, over all cases.
  private static func frameFacts(_ cases: [ReportCase]) -> Markup {
    let rows: [(count: KeyPath<ComparedCounts, Int>, word: String, kind: String)] = [
      (\.same, "the same", "passed"), (\.withinTolerance, Wording.within(cases), "passed"),
      (\.changed, "changed", "changed"),
    ]
    let facts = rows.map { row in
      let sum = cases.reduce(0) { $0 + $1.counts[keyPath: row.count] }
      return fact(
        Wording.grouped(sum), (sum == 1 ? "frame " : "frames ") + row.word,
        sum == 0 ? "plain" : row.kind)
    }
    return "<ul class=\"facts small\" aria-label=\"Frames\">\n\(lines: facts)</ul>"
  }

  /// The list of cases, and the cases.
  private static func cases(_ items: [ReportCase]) -> Markup {
    // Numbered before they are sorted: the anchors, and the page's script, count in the order of
    // the document.
    let cases = ReportCase.readingOrder(items).map {
      CaseMarkup(item: items[$0], number: $0 + 1, isOnly: items.count == 1)
    }
    return """
      <nav class="cases" aria-label="Cases">
      <div class="nav-head">
      <h2>Cases</h2>
      <p class="quiet" id="shown" role="status"></p>
      </div>
      <div class="filter needs-script">
      <label class="sr" for="filter">Filter cases by name</label>
      <input id="filter" type="search" placeholder="Filter by name" autocomplete="off" \
      spellcheck="false">
      <label class="sr" for="verdict">Filter cases by verdict</label>
      <select id="verdict">
      <option value="">All verdicts</option>
      <option value="!passed">Not passed</option>
      <option value="changed">Changed</option>
      <option value="errored">Errored</option>
      <option value="notComparable">Not comparable</option>
      <option value="missing">Missing</option>
      <option value="stale">Stale</option>
      <option value="expected">Expected</option>
      <option value="passed">Passed</option>
      </select>
      </div>
      <ol id="case-list">
      \(lines: cases.map(\.row))</ol>
      </nav>
      <main id="detail" tabindex="-1">
      <noscript><p class="note">The frame inspector, the timeline and the full tables need \
      JavaScript. Verdicts, root causes, graphs and commands are all here without it.</p></noscript>
      \(if: cases.isEmpty, "<p class=\"empty\">No case was selected.</p>")
      \(lines: cases.map(\.article))</main>
      """
  }

  private static func footer(
    _ document: ReportDocument, _ notes: [String], hasFiles: Bool
  ) -> Markup {
    let sources =
      hasFiles
      ? "Its images are files of this site."
      : "This page contains all its data and sends no network requests."
    let tool = "\(document.tool.name) \(document.tool.version)".visible(limit: 120)
    return """
      <footer>
      <div class="wide">
      \(lines: [next(document.commands), environment(document.environment)])\
      \(notes.map(Markup.note))
      <p class="quiet end">Written by \(tool). \(sources) <label class="needs-script"><input type="checkbox" id="keys" checked> Keys: \
      <kbd>n</kbd> next finding, <kbd>p</kbd> previous, <kbd>/</kbd> filter findings, \
      <kbd>c</kbd> filter cases</label></p>
      </div>
      </footer>
      """
  }

  private static func next(_ commands: [ReportCommand]) -> Markup? {
    guard !commands.isEmpty else { return nil }
    return .section(
      "Next commands for the run", title: "Next", level: 2, [.commands(commands)])
  }

  private static func environment(_ rows: [EnvironmentRow]) -> Markup? {
    guard !rows.isEmpty else { return nil }
    let table = Markup.scrollingTable(
      "Environment table", tableClass: "figures environment",
      heads: [.spoken("What"), "Golden", "Actual"],
      rows.map {
        .row(
          class: $0.differs ? "differs" : nil, .head("\($0.name)"), .cell($0.golden),
          .cell($0.actual))
      })
    return .section("Environment", title: "Environment", level: 2, [table])
  }
}
