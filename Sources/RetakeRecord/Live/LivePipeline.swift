import RetakeCore
import RetakeGraph
import RetakeRuntime

/// A pipeline that runs on frames while they are recorded.
public struct LivePipeline: Sendable {
  public var pipeline: Pipeline
  /// Provides `convert` if a stage needs another pixel format.
  public var registry: StageRegistry
  public var options: LiveOptions
  /// Whether changes of the device's temperature, memory and power are recorded.
  public var watchesDevice = true

  public init(_ pipeline: Pipeline, registry: StageRegistry, options: LiveOptions = LiveOptions()) {
    self.pipeline = pipeline
    self.registry = registry
    self.options = options
  }
}
