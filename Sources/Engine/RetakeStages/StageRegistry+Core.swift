package import RetakeGraph

extension StageRegistry {
  /// The kinds of nodes that need no annex. `builtIn` of the module Retake also has the kinds of
  /// the annexes.
  package static let core: StageRegistry = {
    var registry = StageRegistry()
    registry.register(Convert.self)
    registry.register(CopyFrame.self)
    registry.register(Crop.self)
    registry.register(Debayer.self)
    registry.register(Deinterlace.self)
    registry.register(Downsample.self)
    registry.register(Fingertip.self)
    registry.register(FrameDigester.self)
    registry.register(Gray.self)
    registry.register(Luminance.self)
    registry.register(MeanClasses.self)
    registry.register(MeanColor.self)
    registry.register(MergeDetections.self)
    registry.register(MergeScalars.self)
    registry.register(Motion.self)
    registry.register(Overlay.self)
    registry.register(RegionCrop.self)
    registry.register(Perturb.self)
    registry.register(Resize.self)
    registry.register(SensorLatest.self)
    registry.register(SensorWindow.self)
    registry.register(Steadiness.self)
    registry.register(StoredDetections.self)
    registry.register(Upright.self)
    registry.registerSources()
    registry.registerControls()
    return registry
  }()

  /// The names of all built-in kinds, also the kinds of annexes. A test compares them with
  /// `builtIn`.
  package static let builtInKinds = Set(core.kinds).union([
    "bandpass", "classify", "detect", "detrend", "find-fingertip", "heart-variability", "infer",
    "process", "pulse-rate", "pulse-signal", "region-means", "regress", "resample",
  ])

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
    registerNode(Throttle.signature, options: Throttle.options) { options in
      try Throttle.stage(reading: options)
    }
    registerControl(Sample.signature, options: SampleOptions.self) { try Sample.body($0) }
    registerNode(Route.signature, options: Route.options) { options in
      try Route.stage(reading: options)
    }
    registerNode(
      AnyStage.joinSignature, options: StageOption.all(of: JoinOptions.self)
    ) { options in
      try Joins.join(reading: options)
    }
    registerNode(
      AnyStage.latestSignature, options: StageOption.all(of: LatestOptions.self)
    ) { options in
      try Joins.latest(reading: options)
    }
    registerControl(Sinks.results, options: NoOptions.self) { _ in Sinks.silent }
    registerControl(Sinks.metadata, options: NoOptions.self) { _ in Sinks.silent }
    registerNode(
      Screen.signature, options: StageOption.all(of: Screen.Options.self)
    ) { options in
      try Screen.stage(reading: options)
    }
    registerControl(Sinks.discard, options: NoOptions.self) { _ in Sinks.silent }
  }
}
