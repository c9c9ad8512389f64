import Retake

/// The result of a reproduced live run, for people.
enum ReproductionText {
  static func of(_ report: ReproductionReport) -> String {
    var lines = [
      "\(report.session)/run \(report.run)  reproduce  \(report.pipeline)",
      "  \(report.frames.captured) captured, \(report.frames.delivered) delivered, "
        + "\(report.frames.droppedTotal) dropped, "
        + (report.frames.failed > 0 ? "\(report.frames.failed) failed, " : "")
        + (report.frames.inFlight > 0 ? "\(report.frames.inFlight) unfinished, " : "")
        + "\(report.lostBeforeCapture) lost before capture\(SummaryText.waits(report.waits))",
      "  decisions \(report.reproducedDecisions) of \(report.recordedDecisions) reproduced"
        + " from \(report.events) external events",
    ]
    let isOther = report.hasOtherPipeline == true
    if let divergence = report.divergence { lines += Self.lines(of: divergence, isOther: isOther) }
    if isOther {
      lines.append("    This is not the recorded pipeline: leave out --pipeline to run that.")
    }
    return (lines + valueLines(report.values, isOther: isOther)).joined(separator: "\n")
  }

  private static func lines(
    of divergence: ReproductionReport.Divergence, isOther: Bool
  ) -> [String] {
    var lines = [
      "  DECISION DIVERGENCE at decision \(divergence.decision)"
        + (divergence.event.map { ", external event \($0)" } ?? ", after the last event"),
      "    live       \(divergence.recorded ?? "(no decision)")",
      "    reproduced \(divergence.reproduced ?? "(no decision)")",
    ]
    if let detail = divergence.detail { lines.append("    \(detail)") }
    // Another pipeline rightly decides differently, so the record may still be complete.
    if !isOther { lines.append("    The live run used information that is not in the recording.") }
    return lines
  }

  private static func valueLines(
    _ values: ReproductionReport.Values, isOther: Bool
  ) -> [String] {
    var line = "  values    \(values.compared - values.different) of \(values.compared) the same"
    if values.notComputed > 0 { line += ", \(values.notComputed) not computed" }
    guard values.different > 0, let first = values.first else { return [line] }
    let item = first.item.map { ".\($0)" } ?? ""
    let place = "'\(first.node)', frame \(first.frame)\(item)"
    let texts = [
      "    live       \(first.recorded)", "    recomputed \(first.recomputed)",
    ]
    // The stages received other pixels than live, so other values are not their fault.
    guard values.hasExactPixels || isOther else {
      return [
        line,
        "  \(values.different) differ, as expected: the preset does not store pixels exactly "
          + "(ffv1 and h264 do). First at \(place):",
      ] + texts
    }
    let lines = [line, "  VALUE DIVERGENCE first at \(place)"] + texts
    guard !isOther else { return lines }
    return lines + ["    The frames are stored exactly: the stage is not pure, or not the same."]
  }
}
