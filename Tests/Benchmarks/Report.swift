import Foundation

/// One number measured by a benchmark.
struct Figure: Codable, Hashable {
  /// For example `hop.retake`: the section, then the measurement.
  var name: String
  var value: Double
  var unit: String
}

/// The results of one section.
struct SectionReport: Codable, Hashable {
  var name: String
  /// One line for people.
  var title: String
  var figures: [Figure] = []
  /// The digest of everything that was computed. It is the same in every round; otherwise the
  /// section says so.
  var hash: String
  /// Information that is not in the figures, such as a rival that is not installed.
  var notes: [String] = []
}

/// The complete output of `retake-benchmarks`.
struct BenchmarkReport: Codable, Hashable {
  var v = 1
  var isTiny: Bool
  var processors: Int
  var sections: [SectionReport] = []
  var verdicts: [ThresholdVerdict] = []

  func figure(_ name: String) -> Figure? {
    sections.lazy.flatMap(\.figures).first { $0.name == name }
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  var table: String {
    var lines: [String] = []
    for section in sections {
      lines.append(section.title)
      for figure in section.figures {
        let value = Self.text(figure.value)
        let gap = String(repeating: " ", count: max(1, 44 - figure.name.count - value.count))
        lines.append("  \(figure.name)\(gap)\(value) \(figure.unit)")
      }
      lines.append("  hash \(section.hash)")
      lines += section.notes.map { "  \($0)" }
    }
    return (lines + verdicts.map(\.text)).joined(separator: "\n")
  }

  /// Three significant digits, or all digits before the decimal point.
  static func text(_ value: Double) -> String {
    let digits = value.magnitude >= 100 ? 0 : value.magnitude >= 10 ? 1 : 2
    return String(format: "%.\(digits)f", value)
  }
}

/// The bound of one figure, from thresholds.json.
struct Threshold: Codable, Hashable {
  var figure: String
  var min: Double?
  var max: Double?
}

/// Whether a figure is within its bound.
struct ThresholdVerdict: Codable, Hashable {
  var threshold: Threshold
  /// `nil` if the figure was not measured.
  var value: Double?
  var isMet: Bool

  init(_ threshold: Threshold, in report: BenchmarkReport) {
    self.threshold = threshold
    let value = report.figure(threshold.figure)?.value
    self.value = value
    isMet =
      value.map { (threshold.min ?? $0) <= $0 && $0 <= (threshold.max ?? $0) } ?? false
  }

  var text: String {
    let bound =
      [
        threshold.min.map { "at least \(BenchmarkReport.text($0))" },
        threshold.max.map { "at most \(BenchmarkReport.text($0))" },
      ].compactMap(\.self).joined(separator: ", ")
    let found = value.map(BenchmarkReport.text) ?? "not measured"
    return "\(isMet ? "met   " : "MISSED") \(threshold.figure): \(found), \(bound)"
  }
}
