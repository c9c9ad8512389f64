/// The card of a case that compares its results with the labels.
struct LabelMarkup {
  let labels: ReportLabels

  var section: Markup {
    let sink: Markup = "<bdi>\(labels.sink)</bdi>"
    return .section(
      "Labels", class: "card labels", title: "Labels",
      [
        .quiet(
          "\(Wording.count(labels.labelled, "frame")) of <bdi>\(labels.file)</bdi>, scored at \(sink)"
        ), metrics, frames,
      ])
  }

  private var metrics: Markup {
    .scrollingTable(
      "Metrics", tableClass: "figures", heads: ["Metric", "Golden", "Actual", "Change"],
      labels.metrics.map { metric in
        let gain = metric.gain ?? 0
        let word = gain > 0 ? "better" : gain < 0 ? "worse" : ""
        return .row(
          class: gain < 0 ? "differs" : nil, .head("\(metric.name)"),
          .cell(metric.golden.map { Wording.number($0, places: 4) }),
          .cell(metric.actual.map { Wording.number($0, places: 4) }), .cell(word))
      })
  }

  private var frames: Markup {
    guard !labels.frames.items.isEmpty else { return .quiet("No labelled frame has an error.") }
    let table = Markup.scrollingTable(
      "Frames by their errors", class: "lines scroll",
      heads: [
        "Frame", "Golden", "Actual", "Missed", "Extra", "Switched", "Wrong class", "Misplaced",
      ],
      labels.frames.items.map { frame in
        .row(
          class: frame.growth > 0 ? "differs" : nil,
          "<td class=\"mono loss\" data-frame=\"\(frame.frame.description)\">\(frame.frame.description)</td>",
          .cell(frame.golden.map { Wording.number($0, places: 2) }),
          .cell(Wording.number(frame.actual, places: 2)), .cell("\(frame.missed)"),
          .cell("\(frame.extra)"), .cell("\(frame.switched)"), .cell("\(frame.wrongClass)"),
          .cell(Wording.number(frame.misplaced, places: 2)))
      })
    let more =
      labels.frames.left > 0
      ? Markup.quiet("and \(Wording.count(labels.frames.left, "other frame"))") : ""
    return "<h4>Frames by their errors, those that became worse first</h4>\(table)\(more)"
  }
}
