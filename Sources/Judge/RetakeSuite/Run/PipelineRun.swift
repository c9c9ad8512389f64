import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeReplay
import RetakeRuntime
import RetakeSession

/// Replays a pipeline over a session of the project, for a comparison without goldens.
struct PipelineRun {
  let project: Project
  let options: RunOptions
  /// Called with the session and the pipeline, its finished frames and the number of its frames.
  let progress: (String, Int, Int) -> Void

  /// - Parameters:
  ///   - pipeline: A file, a case of retake.yml, or `example:NAME`.
  ///   - folder: Where the results are written.
  /// - Returns: The results in `actual`; not yet compared.
  func write(_ pipeline: String, _ session: String, to folder: URL) throws -> CaseResult {
    let definition =
      project.definition(named: pipeline) ?? CaseDefinition(name: "run", pipeline: pipeline)
    let selected = SelectedCase(
      definition: definition, session: try project.sessionPath(session))
    try selected.check()
    var result = CaseResult(
      selected, golden: GoldenFolder(folder),
      actual: GoldenFolder(root: folder, session: session, testCase: definition.name))
    var job = ReplayJob(project: project, definition: definition, session: selected.sessionRead)
    job.options = options
    let (replay, reader) = try job.open()
    result.pipeline = replay.pipeline
    result.note(replay, reader)
    let observer = ProgressObserver(total: replay.frameCount) {
      progress("\(session) \(pipeline)", $0, $1)
    }
    _ = try GoldenRun.write(
      replay, definition: definition, project: project, reader: reader, to: result.actual,
      observers: [observer])
    return result
  }

  static func noSink(_ pipeline: String) -> SuiteError {
    SuiteError(
      "suite.compare.noSink", "\(pipeline) has no primary sink whose results could be compared",
      advice: "Set \"primary\": true at the sink that receives the detections")
  }
}
