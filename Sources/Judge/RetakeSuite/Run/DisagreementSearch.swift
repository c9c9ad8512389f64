import Foundation
import RetakeCompare
package import RetakeCore
import RetakeGolden
package import RetakeRuntime

/// Finds the frames about which two pipelines disagree most: the next test cases, or the next
/// frames to label. Implements `retake find --disagree`.
package struct DisagreementSearch {
  package var project: Project
  /// A pipeline each: a file, a case of retake.yml, or `example:NAME`.
  package var first: String
  package var second: String
  /// Names or globs; empty for all sessions of the project.
  package var sessions: [String] = []
  /// The most frames that are returned.
  package var most = 20
  package var options = RunOptions()
  /// Called with the session and the pipeline, its finished frames and the number of its frames.
  package var progress: (String, Int, Int) -> Void = { _, _, _ in }

  package init(project: Project, first: String, second: String) {
    (self.project, self.first, self.second) = (project, first, second)
  }

  /// A frame with different results.
  package struct Row: Hashable, Sendable, Codable {
    package var session: String
    package var frame: FrameID
    /// Boxes that only one pipeline has, changed identities and classes, and the sum of 1 - IoU of
    /// the others. docs/labels.md has the formula: here one pipeline is the truth of the other.
    package var disagreement: Double
    package var onlyFirst: Int
    package var onlySecond: Int
    package var otherClass: Int
    /// The sum of 1 - IoU over the boxes that both have.
    package var moved: Double
  }

  package struct Outcome: Hashable, Sendable, Codable {
    package var first: String
    package var second: String
    /// Frames that both pipelines delivered or lost.
    package var frames: Int
    /// Frames with different results.
    package var different: Int
    /// The largest disagreement first; if equal, the earlier frame.
    package var rows: [Row]
  }

  /// - Throws: `SuiteError` for a session or a pipeline that does not exist; the error of a run;
  ///   `RuntimeError.interrupted`.
  package func run() throws -> Outcome {
    let names = try chosenSessions()
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    var outcome = Outcome(first: first, second: second, frames: 0, different: 0, rows: [])
    for name in names {
      let score = try disagreement(name, scratch.url)
      outcome.frames += score.frames.count
      let different = score.frames.filter { $0.loss > 0 }
      outcome.different += different.count
      outcome.rows += different.map {
        Row(
          session: name, frame: $0.frame, disagreement: $0.loss, onlyFirst: $0.missed,
          onlySecond: $0.extra, otherClass: $0.wrongClass, moved: $0.misplaced)
      }
      // The sort is stable in its order: sessions are in order, and their frames are.
      outcome.rows = Array(
        outcome.rows.enumerated().sorted {
          ($0.element.disagreement, $1.offset) > ($1.element.disagreement, $0.offset)
        }.map(\.element).prefix(most))
    }
    return outcome
  }

  private func chosenSessions() throws -> [String] {
    let known = project.sessionNames
    for pattern in sessions where !known.contains(where: { Glob.matches(pattern, $0) }) {
      throw SuiteError.noSession(pattern, folder: project.recordings, known: known)
    }
    let names = known.filter { name in
      sessions.isEmpty || sessions.contains { Glob.matches($0, name) }
    }
    guard !names.isEmpty else {
      throw SuiteError(
        "suite.find.noSession", "the project has no sessions",
        advice: "Import footage: retake import clip.mp4")
    }
    return names
  }

  /// The second pipeline's results, scored as if the first one's were the truth.
  private func disagreement(_ session: String, _ scratch: URL) throws -> LabelScore {
    let run = PipelineRun(project: project, options: options, progress: progress)
    let folders = (scratch.appending(path: "first"), scratch.appending(path: "second"))
    let (one, other) = (
      try run.write(first, session, to: folders.0), try run.write(second, session, to: folders.1)
    )
    defer {
      try? FileManager.default.removeItem(at: folders.0)
      try? FileManager.default.removeItem(at: folders.1)
    }
    return Disagreement.score(try results(one, first), try results(other, second))
  }

  private func results(_ result: CaseResult, _ pipeline: String) throws -> Disagreement.Results {
    guard let sink = result.pipeline?.primarySink else { throw PipelineRun.noSink(pipeline) }
    var frames: [(FrameID, SinkValues)] = []
    let names = try result.eachValue(of: result.actual, sink, .actual) { frames.append(($0, $1)) }
    return Disagreement.Results(frames, classNames: names ?? [])
  }
}
