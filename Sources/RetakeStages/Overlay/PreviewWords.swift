import RetakeBuffers
import RetakeCore
import RetakeGraph

/// How a preview is modelled: what drawing takes, and how often its screen refreshes.
public struct PreviewModel: Hashable, Sendable {
  /// Drawing a picture and what was found over it.
  public var render = Cost.fixed(.milliseconds(4))
  /// Frames a second, and fewer while a rule matches: by default 30 from serious heat on.
  public var pace = DevicePolicy(fps: 60, rules: [DeviceRule(thermal: .serious, fps: 30)])
  /// Refreshes a second of the screen.
  public var hertz = 60.0
  /// One is seen, one is filled and waits for the next refresh, one is being filled. With two, drawing
  /// that takes longer than a refresh halves the rate.
  public var screenBuffers = 3

  public init() {}
}

extension PipelineChain where Output == Frame {
  /// Ends the chain with a preview: each frame with the newest of what was found in others, at the
  /// beat of a screen. It never waits for the others.
  ///
  /// One frame is drawn and one waits; the next is dropped, never queued. Whatever else reads this
  /// chain's frames holds the preview up unless it drops or replaces them, and starves it unless it
  /// works on copies, where the camera has few buffers.
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
    let pool = "\(id)-buffers"
    return throttle(fps: model.pace.fps, when: model.pace.rules, id: "\(id)-pace")
      .latest(with: repeat each found, id: "\(id)-latest")
      .stage(Overlay(), id: "\(id)-overlay").queue(capacity: 1, policy: .dropNewest)
      .cost(model.render).pool(pool).pool(pool, capacity: model.screenBuffers)
      .screen(id, hertz: model.hertz)
  }

  /// Copies each frame into memory of its own.
  public func copy(id: String? = nil) -> PipelineChain<Frame> { stage(CopyFrame(), id: id) }
}
