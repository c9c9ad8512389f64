public import RetakeGraph
public import RetakeRuntime

/// A pipeline that runs on frames while they are recorded.
public struct LivePipeline: Sendable {
  /// Its sources are of the kind `session`, and read the tracks of the source that is recorded.
  package var pipeline: Pipeline
  /// Provides `convert` if a stage needs another pixel format.
  package var registry: StageRegistry
  /// The number of threads, and how much may wait.
  public var options: LiveOptions
  /// Whether changes of the device's temperature, memory and power are recorded.
  public var watchesDevice = true

  /// For `Recorder.init`, which runs the pipeline next to the recording. `StageRegistry.builtIn` is
  /// a registry that has `convert`. The pipeline is checked when the recording begins.
  public init(_ pipeline: Pipeline, registry: StageRegistry, options: LiveOptions = LiveOptions()) {
    self.pipeline = pipeline
    self.registry = registry
    self.options = options
  }
}
