import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
package import RetakeRuntime
import RetakeSession

/// Replays two pipelines over the sessions that have labels, and says which one is closer to them.
/// Implements `retake compare`. Goldens are neither read nor written.
package struct LabelledComparison {
  package var project: Project
  /// A pipeline each: a file, a case of retake.yml, or `example:NAME`.
  package var old: String
  package var new: String
  /// Names or globs; empty for all sessions with labels.
  package var sessions: [String] = []
  /// Of the resamples.
  package var seed: UInt64 = 1
  package var options = RunOptions()
  /// Called with the session and the pipeline, its finished frames and the number of its frames.
  package var progress: (String, Int, Int) -> Void = { _, _, _ in }

  package init(project: Project, old: String, new: String) {
    (self.project, self.old, self.new) = (project, old, new)
  }

  /// The figures of one session.
  package struct Row: Hashable, Sendable, Codable {
    package var session: String
    /// Frames with labels.
    package var labelled: Int
    /// By the name of the metric.
    package var old: [String: Double]
    package var new: [String: Double]
    package var better: Int
    package var worse: Int
    /// The frame that the new pipeline has worse by most.
    package var worst: String?
  }

  package struct Outcome: Hashable, Sendable, Codable {
    package var old: String
    package var new: String
    package var seed: UInt64
    package var resamples = MetricChange.resamples
    package var sessions: [Row]
    package var metrics: [MetricChange]
    package var notes: [String] = []
  }

  /// - Throws: `SuiteError` for a session that does not exist, and if no session has labels; the
  ///   error of a run; `RuntimeError.interrupted`.
  package func run() throws -> Outcome {
    let names = try labelledSessions()
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    var rows: [Row] = []
    var notes: [String] = []
    var pairs: [LabelMetric: [(old: Double, new: Double)]] = [:]
    for name in names {
      let before = try score(old, name, scratch.url.appending(path: "old"))
      let after = try score(new, name, scratch.url.appending(path: "new"))
      let change = after.verdict(since: before)
      rows.append(
        Row(
          session: name, labelled: after.labelledFrames, old: before.byName, new: after.byName,
          better: change.better, worse: change.worse, worst: change.worst?.frame.description))
      for metric in LabelMetric.allCases {
        guard let one = before.metrics[metric], let other = after.metrics[metric] else { continue }
        pairs[metric, default: []].append((one, other))
      }
      for side in [(old, before), (new, after)] where side.1.missingFrames > 0 {
        notes.append(
          "\(name): \(side.0) did not deliver \(side.1.missingFrames) of "
            + "\(counted(side.1.labelledFrames, "labelled frame")), and all their objects count as "
            + "missed; do the labels belong to this recording?")
      }
      for side in [(old, before), (new, after)] where !side.1.unknownClasses.isEmpty {
        notes.append(
          "\(name): classes of \(side.0) that the labels do not have are not scored: "
            + side.1.unknownClasses.joined(separator: ", "))
      }
    }
    return Outcome(
      old: old, new: new, seed: seed, sessions: rows,
      metrics: LabelMetric.allCases.compactMap { metric in
        pairs[metric].map { MetricChange(metric, $0, seed: seed) }
      }, notes: notes)
  }

  private func labelledSessions() throws -> [String] {
    let labelled = try project.sessionNames.filter {
      try project.labelFolder.document(of: $0) != nil
    }
    for pattern in sessions where !labelled.contains(where: { Glob.matches(pattern, $0) }) {
      throw SuiteError(
        "suite.compare.noLabels", "no session with labels fits '\(pattern)'",
        advice: labelled.isEmpty
          ? Self.advice : Suggestion.advice(for: pattern, among: labelled))
    }
    guard !labelled.isEmpty else {
      throw SuiteError(
        "suite.compare.noLabels", "no session has labels in \(project.folder)/Labels",
        advice: Self.advice)
    }
    guard !sessions.isEmpty else { return labelled }
    return labelled.filter { name in sessions.contains { Glob.matches($0, name) } }
  }

  private static let advice = "Import labels: retake label import labels.json --session SESSION"

  private func score(_ pipeline: String, _ session: String, _ folder: URL) throws -> LabelScore {
    let run = PipelineRun(project: project, options: options, progress: progress)
    let result = try run.write(pipeline, session, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let labels = try CaseLabels(project, result)?.compare(nil, result.actual) else {
      throw PipelineRun.noSink(pipeline)
    }
    return labels.actual
  }
}

extension LabelScore {
  fileprivate var byName: [String: Double] {
    Dictionary(metrics.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: { $1 })
  }
}
