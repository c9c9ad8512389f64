public import RetakeBuffers
public import RetakeGraph

/// The model of a preview: the cost of drawing, and the refresh rate of its screen.
public struct PreviewModel: Hashable, Sendable {
  /// Duration of drawing an image and the results over it.
  public var render = Cost.fixed(.milliseconds(4))
  /// Frames per second, and fewer while a rule matches: by default 30 from thermal state serious
  /// on.
  public var pace = DevicePolicy(fps: 60, rules: [DeviceRule(thermal: .serious, fps: 30)])
  /// Refreshes per second of the screen.
  public var hertz = 60.0
  /// One buffer is shown, one is complete and waits for the next refresh, one is being drawn. With
  /// two, the rate is halved if drawing is longer than a refresh interval.
  public var screenBuffers = 3

  /// Drawing costs 4 ms, on a screen of 60 hertz with three buffers.
  public init() {}
}

extension PipelineChain where Output == Frame {
  /// Ends the chain with a preview: each frame with the newest results of others, at the refresh
  /// rate of a screen. It never waits for the results.
  ///
  /// One frame is drawn and one waits; the next frame is dropped, never queued. Any other reader of
  /// this chain's frames delays the preview unless it drops or replaces frames. If the camera has
  /// few buffers, such a reader also starves the preview unless it works on copies.
  ///
  /// ```swift
  /// let frames = Pipeline.named("finder").source(.session()).pool("camera")
  ///   .pool("camera", capacity: 3)
  /// let found = frames.copy().queue(capacity: 1, policy: .replace).gray()
  ///   .queue(capacity: 1, policy: .replace).motion().queue(capacity: 1, policy: .replace)
  /// let pipeline = frames.preview(of: found)
  /// ```
  ///
  /// - Parameters:
  ///   - found: The chains whose newest results are drawn over each frame.
  ///   - model: The cost of drawing, and the refresh rate of the screen.
  ///   - id: The screen's ID, which is also the prefix of the IDs of the nodes before it.
  public func preview<each Value: PipelineValue>(
    of found: repeat PipelineChain<each Value>, model: PreviewModel = PreviewModel(),
    id: String = "preview"
  ) -> Pipeline {
    let pool = "\(id)-buffers"
    // The throttle comes first, so that a throttled frame uses no buffer of the screen.
    return throttle(fps: model.pace.fps, when: model.pace.rules, id: "\(id)-pace")
      .latest(with: repeat each found, id: "\(id)-latest")
      .stage(Overlay(), id: "\(id)-overlay").queue(capacity: 1, policy: .dropNewest)
      .cost(model.render).pool(pool).pool(pool, capacity: model.screenBuffers)
      .screen(id, hertz: model.hertz)
  }

  /// Copies each frame to separate memory.
  public func copy(id: String? = nil) -> PipelineChain<Frame> { stage(CopyFrame(), id: id) }
}
