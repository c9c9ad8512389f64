import Retake

/// A verification in lines for people.
enum VerifyText {
  static func of(_ report: VerifyReport) -> String {
    (report.variations.map(line) + conclusion(report)).joined(separator: "\n")
  }

  static func of(_ report: NoiseReport) -> String {
    report.items.flatMap { item in
      let runs = counted(item.runs.count, "run")
      let head = "\(report.key)  \(item.place), \(runs) compared with the first"
      return [item.rows.isEmpty ? "\(head): no number differs" : head] + item.rows.map(line)
    }.joined(separator: "\n")
  }

  private static func line(_ row: NoiseReport.Row) -> String {
    let stages = row.stages.isEmpty ? "" : " (\(row.stages.joined(separator: ", ")))"
    return "  \(row.sink).\(row.quantity)\(stages): \(row.differing) of "
      + "\(counted(row.frames, "frame")) differ, median \(row.median), p99 \(row.p99), "
      + "largest \(row.largest); would allow \(row.tolerance)"
  }

  private static func line(_ variation: VerifyReport.Variation) -> String {
    var text = "\(word(variation.outcome))  \(variation.condition.name)"
    if variation.hasOtherMathematics == false { text += " (for FFmpeg, not for exp and sin)" }
    if let divergence = variation.divergence {
      if let stage = divergence.stage { text += ": '\(stage)'" }
      if let frame = divergence.frame { text += ", frame \(frame)" }
    }
    return text
  }

  private static func word(_ outcome: VerifyReport.Variation.Outcome) -> String {
    switch outcome {
    case .same: "same     "
    case .platformDependent: "platform "
    case .different: "different"
    }
  }

  private static func conclusion(_ report: VerifyReport) -> [String] {
    var lines = [verdict(report)]
    if let count = report.failureCount {
      lines.append("warning: a stage failed \(counted(count, "time")) in each run")
    }
    return lines + (report.advice.map { ["next: \($0)"] } ?? [])
  }

  private static func verdict(_ report: VerifyReport) -> String {
    switch report.outcome {
    case .deterministic:
      return "deterministic: \(counted(report.frames, "frame")), "
        + "\(counted(report.variations.count + 1, "run")), "
        + "decisions \(report.decisionDigest.short), results \(report.resultDigest.short)"
    case .platformDependent:
      let stages = report.platformDependentStages.map { "'\($0)'" }.joined(separator: ", ")
      let first = report.firstDivergence?.frame.map { "; first for frame \($0)" } ?? ""
      return "platform-dependent: stage \(stages)\(first)"
    case .notDeterministic:
      return "not deterministic: \(report.firstDivergence?.message ?? "")"
    }
  }
}

/// A verification for scripts: the report and the conclusions.
struct VerifyDocument: Encodable {
  private let report: VerifyReport
  private let isPortable: Bool

  init(_ report: VerifyReport, isPortable: Bool) {
    self.report = report
    self.isPortable = isPortable
  }

  private enum CodingKeys: String, CodingKey {
    case outcome, exit, suspect, next, platformDependentStages, portable, firstDivergence
  }

  func encode(to encoder: any Encoder) throws {
    try report.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(report.outcome, forKey: .outcome)
    try container.encode(report.status(isPortable: isPortable).rawValue, forKey: .exit)
    try container.encode(isPortable, forKey: .portable)
    try container.encode(report.platformDependentStages, forKey: .platformDependentStages)
    try container.encodeIfPresent(report.firstDivergence, forKey: .firstDivergence)
    try container.encodeIfPresent(report.suspect, forKey: .suspect)
    try container.encodeIfPresent(report.advice, forKey: .next)
  }
}
