import RetakeGraph
import RetakeRuntime

extension StageRegistry {
  /// Every kind of node that comes with Retake.
  public static let builtIn: StageRegistry = {
    var registry = StageRegistry()
    registry.register(Convert.self)
    registry.register(Crop.self)
    registry.register(Downsample.self)
    registry.register(Fingertip.self)
    registry.register(FrameDigester.self)
    registry.register(Grey.self)
    registry.register(Luminance.self)
    registry.register(Motion.self)
    registry.registerSources()
    registry.registerControls()
    return registry
  }()

  private mutating func registerSources() {
    registerSource(
      kind: Sources.session.kind, summary: Sources.session.summary,
      options: SessionSourceOptions.self
    ) { try Sources.session($0) }
    registerSource(
      kind: Sources.images.kind, summary: Sources.images.summary, options: ImagesOptions.self
    ) { try ImagesSource(options: $0) }
    registerSource(
      kind: Sources.synthetic.kind, summary: Sources.synthetic.summary,
      options: SyntheticOptions.self
    ) { try SyntheticScene($0) }
  }

  private mutating func registerControls() {
    registerControl(Throttle.signature, options: ThrottleOptions.self) { try Throttle.body($0) }
    registerControl(Sinks.results, options: NoOptions.self) { _ in Sinks.silent }
    registerControl(Sinks.discard, options: NoOptions.self) { _ in Sinks.silent }
  }
}
