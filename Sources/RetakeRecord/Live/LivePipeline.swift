import RetakeCore
import RetakeGraph
import RetakeRuntime

/// A pipeline that runs on what is recorded, while it is recorded.
public struct LivePipeline: Sendable {
  public var pipeline: Pipeline
  /// Where `convert` is found if a stage needs another pixel format.
  public var registry: StageRegistry
  public var options: LiveOptions
  /// Whether the device's heat, memory and power are looked at and noted.
  public var watchesDevice = true

  public init(_ pipeline: Pipeline, registry: StageRegistry, options: LiveOptions = LiveOptions()) {
    self.pipeline = pipeline
    self.registry = registry
    self.options = options
  }
}
