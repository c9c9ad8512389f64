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
    let known = Set(project.sessionNames)
    var notes = project.labelFolder.sessions.filter { !known.contains($0) }.map {
      "there is no session '\($0)' for Labels/\($0).json"
    }
    var pairs: [LabelMetric: [(old: Double, new: Double)]] = [:]
    var recordings: [Digest128: String] = [:]
    for name in names {
      let before = try score(old, name, scratch.url.appending(path: "old"))
      let after = try score(new, name, scratch.url.appending(path: "new"))
      rows.append(Row(session: name, from: before.score, to: after.score))
      notes += before.notes(name, old) + after.notes(name, new)
      // A copy says no more than the recording.
      if let twin = recordings.updateValue(name, forKey: after.recording) {
        notes.append("\(name) has the frames of \(twin), so only one of them is in the mean")
        continue
      }
      for metric in LabelMetric.allCases {
        guard let one = before.score.metrics[metric], let other = after.score.metrics[metric] else {
          continue
        }
        pairs[metric, default: []].append((one, other))
      }
    }
    return Outcome(
      old: old, new: new, seed: seed, sessions: rows,
      metrics: LabelMetric.allCases.compactMap { metric in
        pairs[metric].map { MetricChange(metric, $0, seed: seed) }
      }, notes: notes)
  }

  private func labelledSessions() throws -> [String] {
    let documents = try project.sessionNames.compactMap { name in
      try project.labelFolder.document(of: name).map { (name, $0.labels) }
    }
    let labelled = documents.filter { !$0.1.frames.isEmpty }.map(\.0)
    for pattern in sessions where !labelled.contains(where: { Glob.matches(pattern, $0) }) {
      throw SuiteError(
        "suite.compare.noLabels", "no session with labels fits '\(pattern)'",
        advice: labelled.isEmpty
          ? Self.advice : Suggestion.advice(for: pattern, among: labelled))
    }
    guard !labelled.isEmpty else {
      throw SuiteError(
        "suite.compare.noLabels",
        documents.isEmpty
          ? "no session has labels in \(project.folder)/Labels"
          : "the labels in \(project.folder)/Labels are drafts, which are not scored",
        advice: documents.isEmpty ? Self.advice : "Correct them: retake report serve")
    }
    guard !sessions.isEmpty else { return labelled }
    return labelled.filter { name in sessions.contains { Glob.matches($0, name) } }
  }

  private static let advice = "Import labels: retake label import labels.json --session SESSION"

  /// A pipeline's results on a session.
  private struct Scored {
    var score: LabelScore
    var labels: [String]
    /// The digest of the input.
    var recording: Digest128

    func notes(_ session: String, _ pipeline: String) -> [String] {
      var notes = labels
      if score.missingFrames > 0 {
        notes.append(
          "\(pipeline) did not deliver \(score.missingFrames) of "
            + "\(counted(score.labelledFrames, "labelled frame")), and all their objects count as "
            + "missed")
      }
      if !score.unknownClasses.isEmpty {
        notes.append(
          "classes of \(pipeline) that the labels do not have are not scored: "
            + score.unknownClasses.joined(separator: ", "))
      }
      return notes.map { "\(session): \($0)" }
    }
  }

  private func score(_ pipeline: String, _ session: String, _ folder: URL) throws -> Scored {
    let run = PipelineRun(project: project, options: options, progress: progress)
    let result = try run.write(pipeline, session, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let labels = try CaseLabels(project, result),
      let comparison = try labels.compare(nil, result.actual)
    else { throw PipelineRun.noSink(pipeline) }
    return Scored(
      score: comparison.actual, labels: labels.notes,
      recording: try result.actual.manifest().input.digest)
  }
}

extension LabelledComparison.Row {
  fileprivate init(session: String, from before: LabelScore, to after: LabelScore) {
    let change = after.verdict(since: before)
    self.init(
      session: session, labelled: after.labelledFrames, old: before.byName, new: after.byName,
      better: change.better, worse: change.worse, worst: change.worst?.frame.description)
  }
}

extension LabelScore {
  fileprivate var byName: [String: Double] {
    Dictionary(metrics.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: { $1 })
  }
}
