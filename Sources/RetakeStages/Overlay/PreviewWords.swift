import RetakeBuffers
import RetakeCore
import RetakeGraph

/// How a preview is modelled: what its two passes take, and how often its screen refreshes.
public struct PreviewModel: Hashable, Sendable {
  /// The pass that brings the picture to the screen's texture.
  public var render = Cost.fixed(.milliseconds(3))
  /// The pass that draws what was found over it.
  public var overlay = Cost.fixed(.milliseconds(1))
  /// Frames a second, and fewer while a rule matches: by default 30 from serious heat on.
  public var pace = DevicePolicy(fps: 60, rules: [DeviceRule(thermal: .serious, fps: 30)])
  /// Refreshes a second of the screen.
  public var hertz = 60.0

  public init() {}
}

extension PipelineChain where Output == Frame {
  /// Ends the chain with a preview: each frame with the newest of what was found in others, at the
  /// beat of a screen. It never waits for the others.
  ///
  /// One frame is drawn and one waits; the next is dropped, never queued. The screen has two buffers,
  /// one that is seen and one that is filled. Whatever else reads this chain's frames keeps the
  /// preview up unless it drops or replaces them, or works on copies.
  ///
  /// ```swift
  /// let frames = Pipeline.named("finder").source(.session()).pool("camera")
  ///   .pool("camera", capacity: 3)
  /// let found = frames.copy().queue(capacity: 1, policy: .replace).grey()
  ///   .queue(capacity: 1, policy: .replace).motion().queue(capacity: 1, policy: .replace)
  /// let pipeline = frames.preview(of: found)
  /// ```
  ///
  /// - Parameter id: Of the screen, and what the ids of the nodes before it begin with.
  public func preview<each Value: PipelineValue>(
    of found: repeat PipelineChain<each Value>, model: PreviewModel = PreviewModel(),
    id: String = "preview"
  ) -> Pipeline {
    let executor = "\(id)-gpu"
    let pool = "\(id)-buffers"
    let rendered = throttle(fps: model.pace.fps, when: model.pace.rules, id: "\(id)-pace")
      .stage(Render(), id: "\(id)-render").queue(capacity: 1, policy: .dropNewest)
      .cost(model.render).on(executor: executor).executor(executor)
    return rendered.latest(with: repeat each found, id: "\(id)-latest")
      .stage(Overlay(), id: "\(id)-overlay").cost(model.overlay).on(executor: executor)
      .pool(pool).pool(pool, capacity: 2)
      .screen(id, hertz: model.hertz)
  }

  /// Copies each frame into memory of its own.
  public func copy(id: String? = nil) -> PipelineChain<Frame> { stage(CopyFrame(), id: id) }
}
