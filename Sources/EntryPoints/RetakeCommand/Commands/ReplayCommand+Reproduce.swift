import Retake

/// `retake replay SESSION --mode reproduce`
extension ReplayCommand {
  func reproduce(_ line: ProgressLine) throws {
    let project = selection.allowingNamed(
      try programs.project(for: selection.wholeProgram))
    let hasOwnPipeline = selection.pipeline != nil
    // The record has the pipeline of the live run, so the definition names no pipeline.
    let definition =
      hasOwnPipeline
      ? try selection.definition(in: project) : CaseDefinition(name: "live", pipeline: "")
    var job = ReplayJob(
      project: project, definition: definition,
      session: try session.map { try project.sessionPath($0) })
    job.options = options
    job.outputs = outputs
    job.progress = { done, _ in line.update("reproducing", done: done, total: nil) }
    let report = try job.reproduce(run: liveRun, hasOwnPipeline: hasOwnPipeline)
    line.finish()
    if form.json {
      try Console.json(report)
    } else if outputs.leavesStandardOutput {
      Console.result(ReproductionText.of(report))
    } else {
      form.note(ReproductionText.of(report))
    }
    // Values that differ because the preset does not store pixels exactly are as expected.
    guard report.isReproduced, !report.hasUnexplainedValues else {
      throw CommandEnd(status: .regression)
    }
  }
}
