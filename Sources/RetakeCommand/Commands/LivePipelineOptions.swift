import ArgumentParser
import Retake

/// A pipeline that runs on what is recorded.
struct LivePipelineOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: "A pipeline that runs live on what is recorded: a file, a case, or example:NAME.")
  var pipeline: String?

  @Option(
    parsing: .unconditional,
    help: "Threads that compute for the pipeline; 2 to 4 by the machine if not given.",
    transform: Bounded.any())
  var workers: Int?

  func validate() throws {
    guard pipeline != nil || workers == nil else {
      throw ValidationError("--workers goes with --pipeline")
    }
    if let workers {
      guard (1...255).contains(workers) else {
        throw ValidationError(
          "'--workers \(workers)' is not between 1 and 255: a live pipeline computes on threads "
            + "beside the one that decides (0 is for replay, which can wait)")
      }
    }
  }

  func makePipeline() throws -> LivePipeline? {
    guard let name = pipeline else { return nil }
    let environment = CommandEnvironment.current
    return LivePipeline(
      try environment.project().pipeline(
        name, catalog: environment.registry, given: environment.pipelines),
      registry: environment.registry, options: LiveOptions(workers: workers))
  }

  /// Says what became of the frames in the pipeline.
  func finish(_ result: RecordingResult, _ output: OutputOptions) throws {
    switch result.pipeline {
    case nil: break
    case .failure(let error): throw error
    case .success(let outcome):
      if !output.json, let progress = result.progress.pipeline {
        Console.result(RecordingText.pipeline(progress))
      }
      for text in outcome.failureLines { output.note("warning: \(text)") }
      guard let halt = outcome.halt else { return }
      Console.note("error: the pipeline was halted: \(halt)")
      throw CommandEnd(status: .trouble)
    }
  }
}
