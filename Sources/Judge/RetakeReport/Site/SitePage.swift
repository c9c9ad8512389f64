import RetakeCore

/// The first page of a site: the newest run of each branch, then all runs by day.
enum SitePage {
  /// The most runs that are listed; the folders of older runs stay.
  static let runsMax = 2_000
  /// The most changed cases of one run that are listed; the run's page has all.
  static let changesMax = 50

  static func render(_ listing: ReportSite.Listing) -> String {
    let items = Array(listing.items.prefix(runsMax))
    let branches = items.map(\.run.branch).reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    let newest = branches.compactMap { name in items.first { $0.run.branch == name } }
    let left = listing.items.count - items.count
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'sha256-\(HTMLReport.styleHash)'; base-uri 'none'; form-action 'none'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="referrer" content="no-referrer">
      <meta name="color-scheme" content="light dark">
      <title>Retake: published runs</title>
      <style>\(trusted: HTMLReport.style)</style>
      </head>
      <body>
      <header class="banner plain"><div class="wide">
      <p class="product"><b>Retake</b></p>
      <h1>Published runs</h1>
      <p class="meaning">\(Wording.count(listing.items.count, "run")), \
      \(Wording.count(branches.count, "branch", plural: "branches"))</p>
      </div></header>
      <main class="wide">
      \(section("Branches", newest.map { row($0, time: $0.run.at, isOpen: true) }))
      \(section("Runs", rows(items)))
      \(if: left > 0, .note("\(Wording.count(left, "older run")) in the folder 'runs'."))\
      \(if: !listing.unreadable.isEmpty, .note(unreadable(listing.unreadable)))
      </main>
      </body>
      </html>

      """
    return page.html
  }

  private static func unreadable(_ names: [String]) -> String {
    "Without a readable entry.json: " + names.prefix(10).joined(separator: ", ")
      + (names.count > 10 ? " and \(names.count - 10) more" : "")
  }

  private static func section(_ title: String, _ rows: [Markup]) -> Markup {
    .section(
      title, class: "card", title: "\(title)", level: 2,
      [
        .scrollingTable(
          title, tableClass: "runs", heads: ["Time", "Branch", "Commit", "Result", "Cases"], rows)
      ])
  }

  /// Items are sorted by time, so the runs of a day are next to each other.
  private static func rows(_ items: [ReportSite.Listing.Item]) -> [Markup] {
    var rows: [Markup] = []
    var day: String?
    for item in items {
      if day != item.run.day {
        rows.append("<tr><th scope=\"rowgroup\" colspan=\"5\">\(item.run.day)</th></tr>")
      }
      day = item.run.day
      rows.append(row(item, time: String(item.run.at.dropFirst(11)), isOpen: false))
    }
    return rows
  }

  private static func row(
    _ item: ReportSite.Listing.Item, time: String, isOpen: Bool
  ) -> Markup {
    let run = item.run
    let result: Markup = """
      <td><a class="verdict \(HTMLReport.exitClass(run.exit.code))" \
      href="runs/\(item.id)/report.html">\(run.exit.shownWord)</a></td>
      """
    return .row(
      .cell(time), .cell(run.branch), .code(run.commit.map { String($0.prefix(12)) }), result,
      "<td>\(run.counts.text)\(changes(run.changes, isOpen: isOpen))</td>")
  }

  private static func changes(
    _ changes: [PublishedRun.Change], isOpen: Bool
  ) -> Markup? {
    guard !changes.isEmpty else { return nil }
    let left = changes.count - changesMax
    let items: [Markup] = changes.prefix(changesMax).map { change in
      """
      <li><b>\(change.title)</b> \(change.verdict): \(change.headline)\
      \(change.accept.map { "<br><code>\($0)</code>" as Markup })</li>
      """
    }
    return """
      <details\(if: isOpen, " open")><summary>\(Wording.count(changes.count, "case")) to look at</summary>
      <ul>\(lines: items)</ul>\
      \(if: left > 0, "<p>and \(Wording.grouped(left) + " more") on the run's page</p>")</details>
      """
  }
}
